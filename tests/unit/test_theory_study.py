"""Gaussian groups, the models trained on them, features of networks, and the command."""

import csv
from dataclasses import dataclass

import numpy as np
import pytest
import torch
from pages import ROOT
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits
from toys import rng

from rmix.cli import main
from rmix.cli.theory import tables_of
from rmix.datasets import Split
from rmix.errors import InvalidValueError
from rmix.models import MLP
from rmix.theory.buys import complexity
from rmix.theory.claims import Toy, mixture, readings
from rmix.theory.covariance import rank, second_moment
from rmix.theory.expansion import Rows, mixed_loss
from rmix.theory.features import SETTINGS, along, features_of, last_layer
from rmix.theory.gaussian_groups import GaussianGroups
from rmix.theory.glm import LOGISTIC
from rmix.theory.glm_fit import blended, fit_logistic, generalization_gap, group_weights
from rmix.theory.masks import CutMixMasks, MixupMasks
from rmix.theory.sheet import Sheet
from rmix.theory.trained import Case


def test_groups_have_the_covariance_they_say():
    groups = GaussianGroups(d=6, intrinsic=4)
    x, y, group = groups.draw((20_000, 20_000), "test")
    assert set(y) == {0.0, 1.0}
    for g in (0, 1):
        found = second_moment(x[group == g])
        np.testing.assert_allclose(found, groups.moments[g], atol=0.04)
        np.testing.assert_allclose(np.linalg.eigvalsh(found), [0, 0, 0.04, 0.04, 1, 1], rtol=0.05, atol=1e-12)
        assert rank(groups.moments[g]) == 4
        assert np.trace(groups.moments[g]) == pytest.approx(2 * 1 + 2 * 0.04)


def test_uses_draw_apart_and_again_the_same():
    groups = GaussianGroups(d=6, intrinsic=2)
    a, b, c = (groups.draw((3, 2), use)[0] for use in ("train", "train", "test"))
    assert (a == b).all()
    assert not (a == c).any()
    with pytest.raises(InvalidValueError, match="intrinsic must be from 1 to d=4, got 5"):
        GaussianGroups(d=4, intrinsic=5)


def toy_rows(n=300, d=4):
    draw = rng()
    x = draw.standard_normal((n, d))
    return Rows(x, (draw.random(n) < 1 / (1 + np.exp(-2 * x[:, 0]))).astype(float), draw.exponential(size=n))


def test_the_fit_is_that_of_scikit_learn():
    rows, ridge = toy_rows(), 0.01
    theirs = LogisticRegression(C=1 / (ridge * len(rows.y)), fit_intercept=False, tol=1e-10, max_iter=1000)
    theirs.fit(rows.x, rows.y, rows.weight)
    np.testing.assert_allclose(fit_logistic(rows, ridge), theirs.coef_[0], atol=1e-5)


def test_the_fit_survives_separable_rows():
    theta = fit_logistic(Rows(np.array([[-1.0], [1.0]]), np.array([0.0, 1.0]), np.ones(2)))
    assert np.isfinite(theta).all()
    assert theta[0] > 3


@pytest.mark.parametrize("family", [MixupMasks(), CutMixMasks()])
def test_blends_have_the_mixed_loss(family):
    rows, theta = toy_rows(40), np.array([1.0, -0.5, 0.3, 0.0])
    blends = blended(rows, family, alpha=0.7, copies=1500, rng=rng())
    lam, masks = family.draw(rng(1).beta(0.7, 0.7, 1500), 4, rng(2))
    ours = LOGISTIC.weighted_loss(theta, blends.x, blends.y, blends.weight)
    assert ours == pytest.approx(mixed_loss(LOGISTIC, theta, rows, lam, masks), rel=0.02)


def test_the_gap_puts_held_out_groups_in_their_shares():
    """Losses at θ = 0 are ln 2; the large group weighs 1 and the small one 3."""
    train = Rows(np.zeros((4, 1)), np.zeros(4), np.array([1.0, 1.0, 1.0, 3.0]))
    held = Rows(np.zeros((2, 1)), np.zeros(2), np.array([1.0, 3.0]))
    args = np.zeros(1), train, held, np.array([0, 1])
    assert generalization_gap(*args, shares=np.array([0.75, 0.25])) == pytest.approx(0)
    assert generalization_gap(*args, shares=np.array([0.25, 0.75])) == pytest.approx(np.log(2) * (2.5 - 1.5))
    with pytest.raises(InvalidValueError, match=r"Every group needs a held-out row, got counts \[2, 0, 0\]"):
        generalization_gap(np.zeros(1), train, held, np.zeros(2, dtype=int), np.ones(3) / 3)


@pytest.mark.parametrize("shares", [np.array([0.9, 0.1]), np.array([0.45, 0.45, 0.06, 0.04])])
def test_small_groups_weigh_more_and_the_mean_is_one(shares):
    weights = group_weights(shares, 9.0)
    assert weights @ shares == pytest.approx(1)
    np.testing.assert_allclose(weights[shares < 0.2] / weights[0], 9)
    assert (weights[shares > 0.2] == weights[0]).all()


def test_features_along_principal_axes_keep_most_of_the_rows():
    """Ten rows on the first axis, four shorter ones on the second: one dimension is the first."""
    rows = Rows(np.array([[3.0, 0.0]] * 10 + [[0.0, 1.0]] * 4), np.arange(14) % 2.0, np.ones(14))
    case = along(Case.of_sample(rows, rows, np.arange(14) % 2, np.array([0.5, 0.5])), 1)
    np.testing.assert_allclose(case.train.x, rows.x * [1, 0], atol=1e-12)
    np.testing.assert_allclose(case.held.x, case.train.x)
    assert (rank(case.sigma), rank(case.plain)) == (1, 1)


def test_the_last_layer_on_features_is_the_network():
    model = MLP(width=5, depth=2).build((3,), 2)
    split = Split(
        torch.randn(7, 3, generator=torch.Generator().manual_seed(0)), torch.arange(7) % 2, torch.zeros(7).long()
    )
    logits = model(split.x).detach().numpy()
    rows = features_of(model, split, np.array([2.0]))
    assert rows.x.shape == (7, 6)
    assert rows.weight.tolist() == [2.0] * 7
    np.testing.assert_allclose(rows.x @ last_layer(model), logits[:, 1] - logits[:, 0], atol=1e-5)


def test_complexity_grows_with_the_dimension_and_its_bounds_hold():
    with threadpool_limits(1):
        low, high = (complexity("mixup", r, 9.0, seeds=2) for r in (2, 16))
    for row in (low, high):
        assert row.plain < row.product < row.two < row.proof * 1.02 < row.printed * 1.03
    assert low.product < high.product / 2
    assert low.gap_erm < high.gap_erm < high.bound_derived < high.bound_printed
    assert low.bound_printed < high.bound_printed
    assert low.erm == high.erm == 8  # √64


def test_the_table_of_readings_shows_what_fails():
    error = {row.formula: row for row in readings(Toy(draws=150)).rows}
    assert error["mask drawn at 1−λ (printed)"].mixup == pytest.approx(0, abs=1e-12)
    assert abs(error["mask drawn at 1−λ (printed)"].box) > 1e-5
    assert abs(error["L + regulariser, divided by M̄"].mixup) < abs(error["… Σ weighted, C = 1/λ̄² (printed)"].mixup)
    assert abs(error["L + R₁ + R₂, all with w_i"].mixup) < abs(error["… R₁ with the other sign"].mixup) / 10


def test_the_mixture_agrees_three_ways():
    for row in mixture(0, draws=50_000).rows:
        assert [row.by_definition, row.by_sampling] == pytest.approx([row.exact] * 2, abs=0.01)


@pytest.mark.slow
def test_the_command_prints_tables_and_writes_figures(tmp_path, capsys):
    assert main(["theory", "--data", "moons", "--seeds", "2", "--out", str(tmp_path / "there")]) == 0
    out = capsys.readouterr().out
    assert "Identities, to rounding" in out
    written = sorted(path.name for path in (tmp_path / "there").iterdir())
    names = ("bounds", "dimension", "features", "identities", "mixture", "orders", "readings", "weight")
    drawn = ("dimension", "features", "order", "weight")
    figures = [f"theory_{name}.{kind}" for name in drawn for kind in ("png", "svg")]
    assert written == sorted([f"{name}.csv" for name in names] + figures)
    with (tmp_path / "there" / "bounds.csv").open(encoding="utf-8") as file:
        bounds = list(csv.DictReader(file))
    assert [row["method"] for row in bounds] == ["iw", "rmix_aware"] * 3 + ["erm", "iw", "rmix_aware"]
    assert all(float(row["gap"]) < float(row["derived"]) < float(row["printed"]) for row in bounds)
    with (tmp_path / "there" / "features.csv").open(encoding="utf-8") as file:
        swept = list(csv.DictReader(file))
    assert [(row["intrinsic"], row["ratio"]) for row in swept] == [(str(r), str(ratio)) for r, ratio in SETTINGS]
    wide = [row for row in swept if int(row["intrinsic"]) > 1]
    assert all(float(row["gap_rmix"]) < float(row["gap_erm"]) < float(row["bound_derived"]) for row in wide)


def shown(table: list[list[str]]) -> list[list[tuple[float, float]]]:
    """The numbers of a table, each with half a unit of its last place."""
    texts = [[cell.replace("−", "-").strip("* ") for cell in row] for row in table]
    return [[(float(t), 0.5000001 * 10.0 ** -len(t.partition(".")[2])) for t in row] for row in texts]


def table_after(line: str) -> list[list[str]]:
    """The rows of the page's table whose head begins with ``line``, without their first cell."""
    text = (ROOT / "docs" / "theory.md").read_text()
    rows = text[text.index(f"\n| {line}") + 1 :].partition("\n\n")[0].splitlines()[2:]
    return [row.strip("| ").split("|")[1:] for row in rows]


@pytest.mark.slow
def test_the_tables_of_the_page_are_those_of_the_command():
    found = [(row.mixup, row.cutmix, row.box) for row in readings(Toy()).rows if row.shown == "error"]
    pages = [(table_after("formula"), found)]
    with threadpool_limits(1):
        sizes = [complexity("mixup", r, 9.0, seeds=10) for r in (1, 4, 16, 64)]
        weights = [complexity("mixup", 8, float(text), seeds=10) for text in ("1", "9", "30", "100", "300")]
    pages.append((table_after("r | the set"), [(s.product, s.proof, s.printed, s.erm, s.plain) for s in sizes]))
    columns = ("product", "weighted_rows", "two", "proof", "printed", "under_weights")
    pages.append((table_after("weight | the set"), [[getattr(w, name) for name in columns] for w in weights]))
    for table, numbers in pages:
        for written, computed in zip(shown(table), numbers, strict=True):
            for (value, half), number in zip(written, computed, strict=True):
                assert abs(value - number) <= half, (value, number)


@dataclass(frozen=True)
class Line:
    what: str
    first: float
    second: int


def test_a_wide_table_goes_on_below_with_its_rows_named_again():
    sheet = Sheet("name", "Title", "", 1, [Line("a row", 0.12345, 7), Line("b", float("nan"), 8)])
    (whole,) = tables_of(sheet, width=40)
    assert [column.header for column in whole.columns] == ["what", "first", "second"]
    halves = list(tables_of(sheet, width=20))
    assert [[column.header for column in half.columns] for half in halves] == [["what", "first"], ["what", "second"]]
    assert [half.title for half in halves] == ["Title", "Title, continued"]
    assert [list(column.cells) for column in halves[0].columns] == [["a row", "b"], ["0.123", "–"]]


def test_the_command_says_what_it_cannot_speak_of(capsys):
    assert main(["theory", "--data", "moon"]) == 2
    assert "No data set named 'moon'. Did you mean 'moons'?" in capsys.readouterr().err
