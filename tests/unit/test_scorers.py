"""Group metrics of predictions: counted by hand, compared with fairlearn, routed by scikit-learn."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from fairlearn.metrics import MetricFrame
from sklearn import config_context
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, get_scorer_names
from sklearn.model_selection import cross_validate

from rmix.errors import DataError
from rmix.estimator.scorers import (
    group_gap,
    group_gap_scorer,
    group_table,
    worst_group_accuracy,
    worst_group_scorer,
)
from rmix.streams import stream

TRUE = np.array([0, 0, 0, 0, 1, 1, 1, 1])
GUESS = np.array([0, 0, 0, 1, 1, 1, 1, 0])
SIDE = np.array(list("LLRRLLLR"))  # (L, 0): 2/2, (R, 0): 1/2, (L, 1): 3/3, (R, 1): 0/1


@pytest.fixture(autouse=True)
def _routing() -> Iterator[None]:
    with config_context(enable_metadata_routing=True):
        yield


def test_by_hand() -> None:
    table, grouped = group_table(TRUE, GUESS, sensitive_features=SIDE)
    assert dict(zip(grouped.names, zip(table.correct, table.total, strict=True), strict=True)) == {
        "attribute=L, y=0": (2, 2),
        "attribute=L, y=1": (3, 3),
        "attribute=R, y=0": (1, 2),
        "attribute=R, y=1": (0, 1),
    }
    assert worst_group_accuracy(TRUE, GUESS, sensitive_features=SIDE) == 0
    assert worst_group_accuracy(TRUE, GUESS, sensitive_features=SIDE, group_by_label=False) == pytest.approx(1 / 3)
    assert group_gap(TRUE, GUESS, sensitive_features=SIDE, group_by_label=False) == pytest.approx(6 / 8 - 1 / 3)


def test_as_fairlearn_counts() -> None:
    rng = stream(0, "scorers")
    y, guess, side = (rng.integers(k, size=500) for k in (3, 3, 4))
    frame = MetricFrame(metrics=accuracy_score, y_true=y, y_pred=guess, sensitive_features=side)
    mine = {"sensitive_features": side, "group_by_label": False}
    assert worst_group_accuracy(y, guess, **mine) == pytest.approx(frame.group_min())
    assert group_gap(y, guess, **mine) == pytest.approx(frame.overall - frame.group_min())


def test_each_fold_scores_its_own_rows() -> None:
    rng = stream(0, "folds")
    x = rng.normal(size=(90, 2))
    y, side = (x[:, 0] + rng.normal(size=90) > 0).astype(int), rng.integers(2, size=90)
    done = cross_validate(
        LogisticRegression(),
        x,
        y,
        cv=3,
        params={"sensitive_features": side},
        scoring={"worst": worst_group_scorer, "gap": group_gap_scorer},
        return_estimator=True,
        return_indices=True,
    )
    for fold, (model, rows) in enumerate(zip(done["estimator"], done["indices"]["test"], strict=True)):
        guess = model.predict(x[rows])
        assert done["test_worst"][fold] == worst_group_accuracy(y[rows], guess, sensitive_features=side[rows])
        assert done["test_gap"][fold] == -group_gap(y[rows], guess, sensitive_features=side[rows])


def test_what_is_missing_is_said() -> None:
    with pytest.raises(DataError, match=r"need sensitive_features, got None; pass them.*enable_metadata_routing=True"):
        worst_group_accuracy(TRUE, GUESS)
    with pytest.raises(DataError, match=r"vectors of one length, got shapes \(8,\), \(7,\)"):
        worst_group_accuracy(TRUE, GUESS[:7], sensitive_features=SIDE)
    assert "worst_group_accuracy" not in get_scorer_names()  # the names of scikit-learn are its own
