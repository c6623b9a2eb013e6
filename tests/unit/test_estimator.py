"""The classifiers of scikit-learn: settings, containers, groups, the split, weights."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from scipy.sparse import coo_array, csr_array
from shortcut_table import Table, make_table
from sklearn.base import clone

from rmix.batch import Groups
from rmix.datasets import Bundle, Split
from rmix.errors import DataError, HiddenGroupsError, InvalidValueError, UnknownNameError
from rmix.estimator import GroupRobustClassifier, RMixClassifier
from rmix.estimator.splits import held_out, rows_and_classes
from rmix.methods import METHODS, Compose, GroupDRO, RMix, RMixAware
from rmix.mixers import Mixup
from rmix.models import MLP
from rmix.streams import stream
from rmix.training.selection import SELECTIONS
from rmix.training.settings import Training
from rmix.training.trainer import Trainer


def erm(**settings: Any) -> GroupRobustClassifier:
    return GroupRobustClassifier("erm", **{"epochs": 3, "random_state": 0, **settings})


@pytest.fixture(scope="module")
def table() -> Table:
    return make_table(240)


def test_it_is_the_trainer_and_nothing_else(table: Table) -> None:
    """The same bits as the library's own trainer on the same bundle, scaling and split by hand."""
    x, y, side = table
    fitted = GroupRobustClassifier("group_dro", epochs=2, batch_size=32, random_state=5).fit(
        x, y, sensitive_features=side
    )
    code, group = (y == "yes").astype(int), 2 * (side == "R") + (y == "yes")
    held = held_out(code, group, 0.1, seed=5)
    mean, scale = x[~held].mean(0), x[~held].std(0)
    train, valid = (
        Split(
            torch.tensor(((x[rows] - mean) / scale).astype(np.float32)),
            torch.tensor(code[rows]),
            torch.tensor(group[rows]),
        )
        for rows in (~held, held)
    )
    bundle = Bundle("by hand", train, valid, valid, ("no", "yes"), ("0", "1", "2", "3"))
    training = Training(epochs=2, batch_size=32, optimizer="adamw", lr=0.001, weight_decay=0.01, schedule="cosine")
    trainer = Trainer(training, seed=5, selection=SELECTIONS["last"])  # better than the first
    by_hand = trainer.fit(lambda: MLP().build((3,), 2), GroupDRO(), bundle)
    for name, weight in by_hand.model.state_dict().items():
        assert torch.equal(weight, fitted.network_.state_dict()[name])
    assert fitted.selected_["epoch"] == 1


@pytest.mark.parametrize(
    ("classifier", "method"),
    [
        (RMixClassifier(), RMix(eta=3.0)),
        (RMixClassifier(eta=9.0, mix_prob=1.0, alpha=2.0, mix="none"), RMix(9.0, mix_prob=1.0, alpha=2.0, mix="none")),
        (RMixClassifier(use_groups=True, ratio=7.0), RMixAware(ratio=7.0)),
        (GroupRobustClassifier(), GroupDRO()),
        (GroupRobustClassifier({"name": "group_dro", "eta": 0.5}), GroupDRO(eta=0.5)),
        (GroupRobustClassifier(Compose(mixer=Mixup(1.0))), Compose(mixer=Mixup(1.0))),
    ],
    ids=repr,
)
def test_settings_are_those_of_the_method(classifier: Any, method: Any) -> None:
    assert classifier._make_method() == method
    assert clone(classifier)._make_method() == method


def test_the_ratio_of_weights_is_that_of_sizes() -> None:
    """240 and 8 rows: 30; more than 100 is never asked for; one that is given is taken."""
    clf = RMixClassifier(use_groups=True)
    assert clf._make_method((240, 8, 0)) == RMixAware(ratio=30.0)  # a group may have no row left to train on
    assert clf._make_method((240, 1)) == RMixAware(ratio=100.0)
    assert clf.set_params(ratio=2.0)._make_method((240, 8)) == RMixAware(ratio=2.0)


def test_groups_that_are_alike_once_rows_are_held_out_weigh_alike() -> None:
    """Of 114 and of 115 rows 103 train."""
    sizes, x = (114, 115, 114, 115), stream(0, "x").normal(size=(458, 2))
    y, side = np.repeat([0, 0, 1, 1], sizes), np.repeat(["A", "B", "A", "B"], sizes)
    fitted = RMixClassifier(use_groups=True, epochs=1, random_state=0).fit(x, y, sensitive_features=side)
    assert set(fitted.group_counts_) == {103}


def test_every_container_is_the_same_table(table: Table) -> None:
    """Dense or sparse, array or frame, and one told on the other."""
    x, y, side = table
    sparse = np.where(np.abs(x) < 0.7, 0, x)
    frame = pd.DataFrame(sparse, columns=["a", "b", "c"])
    first = erm().fit(sparse, y, sensitive_features=side)
    expected = first.predict_proba(sparse)
    for given in (frame, csr_array(sparse), coo_array(sparse), sparse.tolist()):
        fitted = erm().fit(given, pd.Series(y), sensitive_features=pd.Series(side))
        told = fitted.predict_proba(given if isinstance(given, pd.DataFrame) else csr_array(sparse))
        np.testing.assert_allclose(told, expected, atol=1e-5)
    assert erm().fit(frame, y).feature_names_in_.tolist() == ["a", "b", "c"]
    assert not hasattr(first, "feature_names_in_")


@pytest.mark.parametrize("labels", [[0, 1, 2], ["a", "b", "c"], [True, False], [-1.0, 1.0], [7, 3, 5]], ids=str)
def test_labels_of_any_kind_come_back(labels: list[Any]) -> None:
    rng = stream(0, "labels")
    code = rng.integers(len(labels), size=150)
    x = np.eye(3)[code] * 4 + rng.normal(size=(150, 3))
    y = np.array(labels)[code]
    fitted = erm(epochs=30).fit(x, y)
    assert fitted.classes_.tolist() == sorted(labels)
    assert fitted.predict(x).dtype == y.dtype
    assert fitted.score(x, y) > 0.9
    proba, decision = fitted.predict_proba(x), fitted.decision_function(x)
    np.testing.assert_allclose(proba.sum(1), 1)
    assert (fitted.classes_[proba.argmax(1)] == fitted.predict(x)).all()
    if len(labels) == 2:
        assert ((decision > 0) == (fitted.predict(x) == fitted.classes_[1])).all()
        np.testing.assert_allclose(1 / (1 + np.exp(-decision)), proba[:, 1], rtol=1e-6)
    assert fitted.predict(x[:1]).shape == (1,)


def test_raw_numbers_are_scaled_by_the_training_rows(table: Table) -> None:
    """Like Adult's: one column of hundreds of thousands, one constant; without scaling nothing is learned."""
    x, y, _ = table
    raw = np.column_stack([x[:, 2] * 1e5 + 2e5, np.full(len(x), 1e6), x[:, 0] / 1e3])
    assert erm(epochs=20).fit(raw, y).score(raw, y) > 0.85
    assert erm(epochs=20, standardize=False).fit(raw, y).score(raw, y) < 0.8


def test_groups_that_are_not_declared_change_no_weight(table: Table) -> None:
    """Without use_groups sensitive features choose the epoch; the course of training stays as it is."""
    x, y, side = table
    kwargs: dict[str, Any] = {"epochs": 2, "random_state": 0, "validation_fraction": None}
    told, shuffled = (
        RMixClassifier(**kwargs).fit(x, y, sensitive_features=s) for s in (side, stream(0, "s").permutation(side))
    )
    untold = RMixClassifier(**kwargs).fit(x, y)
    for name, weight in untold.network_.state_dict().items():
        assert torch.equal(weight, told.network_.state_dict()[name])
        assert torch.equal(weight, shuffled.network_.state_dict()[name])
    aware = RMixClassifier(**kwargs, use_groups=True).fit(x, y, sensitive_features=side)
    assert not torch.equal(aware.network_.head.weight, untold.network_.head.weight)


def test_groups_used_for_nothing_change_nothing_at_all(table: Table) -> None:
    """Not even which rows are held out; a group may then have none left to train on."""
    x, y, side = table
    alone = np.where(np.arange(len(y)) == held_out(y == "yes", None, 0.1, seed=0).argmax(), "one", side)
    told = erm(selection="average").fit(x, y, sensitive_features=alone)
    assert (told.predict_proba(x) == erm().fit(x, y).predict_proba(x)).all()
    assert told.groups_used_ == {"fit": False, "select": False}
    assert 0 in told.group_counts_


@pytest.mark.parametrize("name", METHODS)
def test_every_method_is_a_classifier(table: Table, name: str) -> None:
    x, y, side = table
    fitted = GroupRobustClassifier(name, epochs=1, random_state=0).fit(x, y, sensitive_features=side)
    assert np.isfinite(fitted.predict_proba(x)).all()
    assert fitted.groups_used_["fit"] == (METHODS[name]().groups != Groups.NONE)


def test_what_groups_were_used_for(table: Table) -> None:
    x, y, side = table
    used = {
        (name, given): fitted.groups_used_
        for name, clf in (("blind", erm(epochs=1)), ("aware", GroupRobustClassifier("iw", epochs=1)))
        for given in (True, False)
        if (
            fitted := clone(clf).fit(x, y, sensitive_features=side if given else None)
            if given or name == "blind"
            else None
        )
    }
    assert used == {
        ("blind", True): {"fit": False, "select": True},
        ("blind", False): {"fit": False, "select": False},
        ("aware", True): {"fit": True, "select": True},
    }
    fitted = erm(epochs=1).fit(x, y, sensitive_features=side)
    assert sum(fitted.group_counts_) == len(y) - round(0.1 * len(y))
    assert fitted.group_names_ == tuple(f"attribute={s}, y={c}" for s in "LR" for c in ("no", "yes"))
    alone = erm(epochs=1, group_by_label=False).fit(x, y, sensitive_features=side)
    assert alone.group_names_ == ("attribute=L", "attribute=R")


def test_the_kept_epoch_is_the_best_of_its_rule(table: Table) -> None:
    x, y, side = table
    for selection, rule in (("auto", "worst_group"), ("average", "average"), ("last", "last")):
        fitted = erm(selection=selection).fit(x, y, sensitive_features=side)
        assert fitted.selected_["rule"] == rule
    records = erm(epochs=6).fit(x, y, sensitive_features=side)
    worst = [
        min(c / t for c, t in zip(r["valid"]["correct"], r["valid"]["total"], strict=True))
        for r in records.history_["main"]
    ]
    assert records.selected_["value"] == pytest.approx(max(worst), abs=1e-6)
    assert records.selected_["epoch"] == max(epoch for epoch, value in enumerate(worst) if value == max(worst))


def test_training_stops_where_nothing_is_gained_any_more(table: Table) -> None:
    """Until then it is the same training; what is kept is the last of the best epochs that were seen."""
    x, y, side = table
    long, short = (
        RMixClassifier(epochs=40, first_epochs=2, schedule="constant", patience=patience, random_state=0).fit(
            x, y, sensitive_features=side
        )
        for patience in (None, 3)
    )
    seen = short.history_["main"]
    assert seen == long.history_["main"][: len(seen)]
    assert len(short.history_["notes"]) == 2  # a first stage has an epoch for every note
    worst = [min(c / t for c, t in zip(r["valid"]["correct"], r["valid"]["total"], strict=True)) for r in seen]
    assert len(worst) - 1 - worst.index(max(worst)) == 3
    assert len(worst) < 40
    assert short.selected_["epoch"] == max(epoch for epoch, value in enumerate(worst) if value == max(worst))


@pytest.mark.parametrize("wrong", [{"patience": 0}, {"validation_fraction": None}, {"selection": "last"}])
def test_patience_needs_something_to_wait_for(table: Table, wrong: dict[str, Any]) -> None:
    x, y, _ = table
    with pytest.raises(InvalidValueError, match=r"patience must be >= 1, with held-out rows .* got [03] with"):
        erm(**{"patience": 3, **wrong}).fit(x, y)


def test_without_validation_all_rows_train_to_the_last_epoch(table: Table) -> None:
    x, y, side = table
    fitted = erm(validation_fraction=None).fit(x, y, sensitive_features=side)
    assert sum(fitted.group_counts_) == len(y)
    assert fitted.selected_ == {"rule": "last", "epoch": 2, "value": 2.0}
    assert [sorted(record) for record in fitted.history_["main"]] == [["epoch", "loss"]] * 3
    with pytest.raises(InvalidValueError, match=r"must be 'auto' or 'last', got 'average'"):
        erm(validation_fraction=None, selection="average").fit(x, y)


def test_rows_are_held_out_of_every_class_and_group() -> None:
    y = np.array([0] * 20 + [1] * 20 + [1] * 2 + [0])
    group = np.array([0] * 40 + [1] * 2 + [-1])
    held = held_out(y, group, 0.2, seed=0)
    assert [held[:20].sum(), held[20:40].sum(), held[40:42].sum(), held[42]] == [4, 4, 1, 0]  # the lone row trains
    assert held_out(y, None, 0.2, seed=0).sum() == 4 + 4
    assert (held_out(y, group, 0.2, seed=0) == held).all()
    assert (held_out(y, group, 0.2, seed=1) != held).any()
    with pytest.raises(DataError, match=r"None of the 3 rows can be held out .* say validation_fraction=None"):
        held_out(np.arange(3), None, 0.5, seed=0)


def test_a_row_of_weight_zero_is_as_good_as_absent(table: Table) -> None:
    x, y, side = table
    weight = np.where(np.arange(len(y)) % 3 == 0, 0.0, 1.0)
    kept = weight > 0
    weighted = erm().fit(x, y, sensitive_features=side, sample_weight=weight)
    without = erm().fit(x[kept], y[kept], sensitive_features=side[kept])
    assert (weighted.predict_proba(x) == without.predict_proba(x)).all()
    twins = (
        RMixClassifier(use_groups=True, epochs=1, random_state=0).fit(*rows, **told).predict_proba(x)
        for rows, told in (
            ((x, y), {"sensitive_features": side, "sample_weight": weight}),
            ((x[kept], y[kept]), {"sensitive_features": side[kept]}),
        )
    )
    assert (next(twins) == next(twins)).all()  # the ratio of weights is that of the rows that are left
    doubled = erm().fit(x, y, sensitive_features=side, sample_weight=8 * weight)  # only ratios matter
    assert (doubled.predict_proba(x) == without.predict_proba(x)).all()


def test_weights_move_predictions_towards_heavy_rows(table: Table) -> None:
    x, y, _ = table
    noise = stream(0, "noise").permutation(y)
    heavy = erm().fit(x, noise, sample_weight=np.where(noise == "yes", 10.0, 1.0))
    plain = erm().fit(x, noise)
    assert heavy.predict_proba(x)[:, 1].mean() > plain.predict_proba(x)[:, 1].mean() + 0.1


def test_random_states(table: Table) -> None:
    x, y, _ = table
    one, same, other = (erm(random_state=seed).fit(x, y).predict_proba(x) for seed in (0, 0, 1))
    assert (one == same).all()
    assert (one != other).any()
    state = np.random.RandomState(3)
    first, second = (erm(random_state=state).fit(x, y).predict_proba(x) for _ in range(2))
    assert (first != second).any()  # a generator goes on
    assert (erm(random_state=np.random.RandomState(3)).fit(x, y).predict_proba(x) == first).all()


def test_models(table: Table) -> None:
    x, y, _ = table
    for model in ({"name": "mlp", "width": 8, "depth": 1}, MLP(width=8, depth=1)):
        assert erm(model=model, epochs=1).fit(x, y).network_.head.weight.shape == (2, 8)
    with pytest.raises(UnknownNameError, match=r"No model named 'mlpp'. Did you mean 'mlp'\?"):
        erm(model="mlpp").fit(x, y)
    with pytest.raises(InvalidValueError, match=r"A model needs a name, got 3"):
        erm(model=3).fit(x, y)


def test_verbose_writes_a_line_an_epoch(table: Table, capsys: pytest.CaptureFixture[str]) -> None:
    x, y, side = table
    erm(verbose=1, epochs=2).fit(x, y, sensitive_features=side)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in lines] == ["main epoch 1/2", "main epoch 2/2"]
    assert all(", validation average 0." in line and ", worst group 0." in line for line in lines)
    erm(verbose=1, epochs=1, validation_fraction=None).fit(x, y)
    assert "validation" not in capsys.readouterr().out
    erm(epochs=1).fit(x, y)
    assert capsys.readouterr().out == ""


def test_what_is_wrong_is_said_with_the_value(table: Table) -> None:
    x, y, side = table
    with pytest.raises(HiddenGroupsError, match=r"'group_dro' reads group labels: pass sensitive_features to fit"):
        GroupRobustClassifier().fit(x, y)
    with pytest.raises(InvalidValueError, match=r"selection='worst_group' needs sensitive_features, and fit got none"):
        erm(selection="worst_group").fit(x, y)
    with pytest.raises(UnknownNameError, match=r"No selection named 'wurst_group'. Did you mean 'worst_group'\?"):
        erm(selection="wurst_group").fit(x, y)
    with pytest.raises(DataError, match=r"y has one class only \('no'\) in 240 rows; two classes or more are needed"):
        erm().fit(x, np.full(len(y), "no"))
    with pytest.raises(DataError, match=r"one class only \(1\) in 2 rows besides 1 rows of weight 0"):
        rows_and_classes(np.array([0, 1, 1]), np.array([0.0, 1, 1]))
    with pytest.raises(DataError, match=r"sensitive_features has 239 rows \(attribute\), but there are 240 labels"):
        erm().fit(x, y, sensitive_features=side[1:])
    with pytest.raises(InvalidValueError, match=r"held-out share must lie between 0 and 1, got 1.5"):
        erm(validation_fraction=1.5).fit(x, y)
    with pytest.raises(ValueError, match="Negative values in data passed to `sample_weight`"):
        erm().fit(x, y, sample_weight=-np.ones(len(y)))
    for bad in (np.nan, np.inf):
        with pytest.raises(ValueError, match=r"Input X contains (NaN|infinity)"):
            erm().fit(np.where(x == x[3, 1], bad, x), y)
    fitted = erm(epochs=1).fit(x, y)
    with pytest.raises(ValueError, match=r"X has 2 features, but GroupRobustClassifier is expecting 3 features"):
        fitted.predict(x[:, :2])
    with pytest.raises(InvalidValueError, match=r"batch_size must be >= 1, got 0"):
        erm(batch_size=0).fit(x, y)
    with pytest.raises(InvalidValueError, match=r"lr must be > 0 and finite, got -1"):
        erm(lr=-1).fit(x, y)
