"""Inside scikit-learn and fairlearn: pipelines, searches, cross-validation, metric frames."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest
from fairlearn.metrics import MetricFrame
from shortcut_table import make_table
from sklearn import config_context
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.metrics import accuracy_score
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from rmix.errors import HiddenGroupsError
from rmix.estimator import GroupRobustClassifier, RMixClassifier
from rmix.estimator.scorers import worst_group_accuracy, worst_group_scorer

X, Y, SIDE = make_table(150)


@pytest.fixture
def _routing() -> Iterator[None]:
    with config_context(enable_metadata_routing=True):
        yield


def group_dro(**settings: Any) -> GroupRobustClassifier:
    return GroupRobustClassifier("group_dro", **{"epochs": 2, "random_state": 0, **settings})


@pytest.mark.usefixtures("_routing")
def test_a_pipeline_hands_sensitive_features_on() -> None:
    piped = make_pipeline(StandardScaler(), group_dro(standardize=False)).fit(X, Y, sensitive_features=SIDE)
    assert piped[-1].groups_used_ == {"fit": True, "select": True}
    assert piped.score(X, Y) == accuracy_score(Y, piped.predict(X))
    with pytest.raises(HiddenGroupsError, match="reads group labels"):
        clone(piped).fit(X, Y)


def test_a_pipeline_without_routing_takes_the_name_of_the_step() -> None:
    piped = make_pipeline(StandardScaler(), group_dro()).fit(X, Y, grouprobustclassifier__sensitive_features=SIDE)
    assert piped[-1].groups_used_["fit"]


@pytest.mark.usefixtures("_routing")
def test_a_search_fits_and_scores_each_fold_with_its_own_groups() -> None:
    search = GridSearchCV(group_dro(), {"lr": [1e-5, 0.01]}, scoring=worst_group_scorer, cv=3)
    search.fit(X, Y, sensitive_features=SIDE)
    assert search.best_params_ == {"lr": 0.01}
    assert search.best_estimator_.group_names_ == (
        "attribute=L, y=no",
        "attribute=L, y=yes",
        "attribute=R, y=no",
        "attribute=R, y=yes",
    )


@pytest.mark.usefixtures("_routing")
def test_a_splitter_of_groups_does_not_take_ours() -> None:
    """`groups` of a GroupKFold and our sensitive features have different names, so both arrive."""
    households = np.arange(len(Y)) // 3
    done = cross_validate(
        group_dro(),
        X,
        Y,
        cv=GroupKFold(3),
        params={"sensitive_features": SIDE, "groups": households},
        scoring=worst_group_scorer,
        return_estimator=True,
        return_indices=True,
    )
    for fold, (fitted, rows) in enumerate(zip(done["estimator"], done["indices"]["test"], strict=True)):
        assert not set(households[rows]) & set(households[np.setdiff1d(np.arange(len(Y)), rows)])
        assert fitted.groups_used_["fit"]
        assert done["test_score"][fold] == worst_group_accuracy(
            Y[rows], fitted.predict(X[rows]), sensitive_features=SIDE[rows]
        )


@pytest.mark.usefixtures("_routing")
def test_a_request_can_be_turned_off() -> None:
    """Then the classifier does not see them, while the scorer does."""
    blind = RMixClassifier(epochs=1, random_state=0).set_fit_request(sensitive_features=False)
    done = cross_validate(
        blind, X, Y, cv=3, params={"sensitive_features": SIDE}, scoring=worst_group_scorer, return_estimator=True
    )
    assert [fitted.groups_used_["select"] for fitted in done["estimator"]] == [False] * 3
    assert np.isfinite(done["test_score"]).all()


def test_a_frame_with_words_goes_through_a_column_transformer() -> None:
    frame = pd.DataFrame({"age": X[:, 0] * 10 + 40, "job": np.where(X[:, 1] > 2, "clerk", "smith"), "sex": SIDE})
    encode = make_column_transformer((OneHotEncoder(), ["job", "sex"]), remainder="passthrough")
    fitted = make_pipeline(encode, RMixClassifier(epochs=3, random_state=0)).fit(frame, Y)
    assert fitted[-1].n_features_in_ == 5
    with pytest.raises(ValueError, match="could not convert string to float"):
        RMixClassifier(epochs=1).fit(frame, Y)


def test_inside_a_metric_frame() -> None:
    """fairlearn's frame of accuracy by attribute holds the numbers of the report without the label."""
    fitted = group_dro(group_by_label=False).fit(X, Y, sensitive_features=SIDE)
    frame = MetricFrame(metrics=accuracy_score, y_true=Y, y_pred=fitted.predict(X), sensitive_features=SIDE)
    report = fitted.report(X, Y, SIDE)
    assert report.frame()["accuracy"] == frame.by_group.tolist()
    assert report.worst == frame.group_min()


def test_copies_of_a_fitted_classifier() -> None:
    fitted = RMixClassifier(epochs=1, random_state=0).fit(X, Y)
    assert (pickle.loads(pickle.dumps(fitted)).predict_proba(X) == fitted.predict_proba(X)).all()
    assert not hasattr(clone(fitted), "network_")
