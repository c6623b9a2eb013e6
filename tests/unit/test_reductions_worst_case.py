"""CVaR, DORO and the chi-square ball, by hand and by identities."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from toys import make_batch

from rmix.batch import Mixed, Part, unmixed
from rmix.errors import InvalidValueError
from rmix.methods import Chi2DORO, Chi2DRO, CVaRDORO, CVaRDRO
from rmix.recipe import average
from rmix.reductions import ChiSquare, ChiSquareDORO, CVaR, WorstCase, radius_of
from rmix.reductions import CVaRDORO as Doro

EIGHT = [8.0, 1.0, 7.0, 2.0, 6.0, 3.0, 5.0, 4.0]
ALL = [
    CVaR(0.3),
    CVaR(0.3, True),
    ChiSquare(0.5),
    Doro(0.3, 0.1),
    ChiSquareDORO(0.5, 0.1),
    ChiSquareDORO(0.5, 0.1, True),
]
NEUTRAL = [CVaR(1.0), CVaR(1.0, True), ChiSquare(0.0), Doro(1.0, 0.0), Doro(1.0, 0.0, True), ChiSquareDORO(0.0, 0.0)]


def reduce(reduction: WorstCase, losses: Sequence[float], weight: Any = None) -> tuple[float, list[float]]:
    """The reduction, and its gradient with respect to the losses."""
    at = torch.tensor(losses, dtype=torch.float64, requires_grad=True)
    value = reduction([at], unmixed(make_batch([0] * len(losses), weight=weight)))
    value.backward()
    return value.item(), at.grad.tolist()


def test_cvar_by_hand() -> None:
    """3/8 of 8 rows are 3; 5/16 of them are two and a half, or two whole ones."""
    assert reduce(CVaR(3 / 8), EIGHT)[0] == pytest.approx((8 + 7 + 6) / 3)
    assert reduce(CVaR(5 / 16), EIGHT) == (
        pytest.approx((8 + 7 + 6 / 2) / 2.5),
        pytest.approx([0.4, 0, 0.4, 0, 0.2, 0, 0, 0]),
    )
    assert reduce(CVaR(5 / 16, whole_rows=True), EIGHT)[0] == pytest.approx((8 + 7) / 2)
    assert reduce(CVaR(0.01, whole_rows=True), EIGHT)[0] == 8  # at least one row


def test_cvar_doro_by_hand() -> None:
    """Of 8 rows a quarter is dropped, and half of the six left counts; then shares that cut rows."""
    assert reduce(Doro(0.5, 0.25), EIGHT)[0] == pytest.approx((6 + 5 + 4) / 3)
    assert reduce(Doro(0.5, 0.2), EIGHT)[0] == pytest.approx((0.4 * 7 + 6 + 5 + 0.8 * 4) / 3.2)  # ranks 1.6 to 4.8
    assert reduce(Doro(0.5, 0.2, True), EIGHT)[0] == pytest.approx((7 + 6 + 5) / 3.5)  # ranks 1 to 4, half of 7
    assert reduce(Doro(0.2, 0.0, True), [1.0, 2.0]) == (0, [0, 0])  # no whole row counts


def test_chi_square_by_hand() -> None:
    """Mean 2.5 and variance 5/4: a density of slope 0.4 has variance 0.2, twice the radius."""
    value, gradient = reduce(ChiSquare(0.1), [1.0, 2.0, 3.0, 4.0])
    assert value == pytest.approx(2.5 + 0.4 * 1.25)
    assert gradient == pytest.approx([0.4 / 4, 0.8 / 4, 1.2 / 4, 1.6 / 4])


def test_a_large_ball_holds_the_largest_loss_alone() -> None:
    """One row of n has density n and variance n - 1, so from radius (n - 1) / 2 on it counts alone."""
    assert reduce(ChiSquare(1.5), [1.0, 4.0, 2.0, 3.0]) == (4, [0, 1, 0, 0])
    assert reduce(ChiSquare(1.49), [1.0, 4.0, 2.0, 3.0])[0] < 4 - 1e-4
    assert reduce(ChiSquare(100.0), [4.0, 1.0, 4.0])[1] == pytest.approx([0.5, 0, 0.5])  # of equals, all


def dual(losses: np.ndarray, mass: np.ndarray, radius: float) -> float:
    """min over eta of C * sqrt(mean(relu(loss - eta)^2)) + eta, which is convex, by ternary search."""
    low, high = losses.min() - 100 * (1 + np.ptp(losses)), losses.max()

    def at(eta: float) -> float:
        square = np.average(np.maximum(losses - eta, 0) ** 2, weights=mass)
        return math.sqrt((1 + 2 * radius) * square) + eta

    for _ in range(200):
        left, right = low + (high - low) / 3, high - (high - low) / 3
        low, high = (low, right) if at(left) < at(right) else (left, high)
    return at(low)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    rows=st.lists(st.tuples(st.integers(0, 50), st.integers(1, 4)), min_size=1, max_size=12),
    radius=st.floats(0.01, 8),
)
def test_chi_square_is_the_minimum_of_its_dual(rows: list[tuple[int, int]], radius: float) -> None:
    loss, mass = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
    density = ChiSquare(radius).density(torch.from_numpy(loss / 10), torch.from_numpy(mass)).numpy()
    assert density.min() >= 0
    assert np.average(density, weights=mass) == pytest.approx(1, rel=1e-12)
    assert np.average((density - 1) ** 2, weights=mass) / 2 <= radius * (1 + 1e-9)
    value = np.average(density * loss / 10, weights=mass)
    assert value == pytest.approx(dual(loss / 10, mass, radius), rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("reduction", NEUTRAL, ids=repr)
def test_the_neutral_setting_is_the_average_of_any_batch(reduction: WorstCase) -> None:
    losses, weight = torch.tensor([3.0, 1.0, 2.0], dtype=torch.float64), [0.5, 2.0, 0.0]
    batch = unmixed(make_batch([0, 0, 0], weight=weight))
    if not getattr(reduction, "whole_rows", False):
        assert reduction([losses], batch).item() == pytest.approx(average([losses], batch).item(), rel=1e-12)
    ones = unmixed(make_batch([0, 0, 0]))
    assert reduction([losses], ones).item() == average([losses], ones).item() == 2


@pytest.mark.parametrize("reduction", ALL, ids=repr)
def test_properties_that_all_share(reduction: WorstCase) -> None:
    """A lone row and equal losses are what they are; nothing weighs nothing; weights are repeated rows."""
    assert reduce(reduction, [2.0]) == (pytest.approx(2), pytest.approx([1]))
    value, gradient = reduce(reduction, [2.0] * 5)
    assert (value, sum(gradient)) == (pytest.approx(2), pytest.approx(1))
    assert reduce(reduction, [2.0, 1.0], weight=[0.0, 0.0]) == (0, [0, 0])
    weighted, _ = reduce(reduction, [4.0, 1.0, 2.0, 9.0], weight=[2.0, 1.0, 1.0, 0.0])
    assert weighted == pytest.approx(reduce(reduction, [4.0, 4.0, 1.0, 2.0])[0], rel=1e-12)


@pytest.mark.parametrize("reduction", [CVaR(0.3), ChiSquare(0.5), Doro(0.3, 0.1), ChiSquareDORO(0.5, 0.1)], ids=repr)
def test_weights_of_mean_two_double_the_step(reduction: WorstCase) -> None:
    once, gradient = reduce(reduction, EIGHT)
    twice, doubled = reduce(reduction, EIGHT, weight=[2.0] * 8)
    assert twice == pytest.approx(2 * once)
    assert doubled == pytest.approx([2 * g for g in gradient])


def test_a_blend_is_one_row() -> None:
    """Two blends with losses (1/4 * 8 + 3/4 * 4) = 5 and (1/4 * 0 + 3/4 * 8) = 6: the worse half is the second."""
    shares = [torch.full((2,), share, dtype=torch.float64) for share in (0.25, 0.75)]
    mixed = Mixed(torch.zeros(2, 1), tuple(Part(torch.zeros(2).long(), share) for share in shares))
    ours, theirs = (torch.tensor(v, dtype=torch.float64, requires_grad=True) for v in ([8.0, 0.0], [4.0, 8.0]))
    value = CVaR(0.5)([ours, theirs], mixed)
    value.backward()
    assert value.item() == pytest.approx(6)
    assert (ours.grad.tolist(), theirs.grad.tolist()) == ([0, 0.25], [0, 0.75])


@pytest.mark.parametrize("reduction", [Doro(0.5, 1 / 8), ChiSquareDORO(0.5, 1 / 8)], ids=repr)
def test_an_outlier_does_not_matter(reduction: WorstCase) -> None:
    """The largest of eight losses is dropped, however large, and the others keep their accuracy in float32."""
    usual, huge = reduce(reduction, EIGHT), reduce(reduction, [1e6, *EIGHT[1:]])
    assert huge[0] == pytest.approx(usual[0], rel=1e-12)
    assert usual[1][0] == huge[1][0] == 0
    loss = torch.tensor([1e6, *EIGHT[1:]], dtype=torch.float32)
    single = (reduction.density(loss, torch.ones(8)) / 8).tolist()
    assert single == pytest.approx(usual[1], abs=1e-5)


def test_without_outliers_doro_is_dro() -> None:
    assert reduce(Doro(0.3, 0.0), EIGHT) == (
        pytest.approx(reduce(CVaR(0.3), EIGHT)[0]),
        pytest.approx(reduce(CVaR(0.3), EIGHT)[1]),
    )
    assert reduce(ChiSquareDORO(0.5, 0.0), EIGHT) == reduce(ChiSquare(0.5), EIGHT)


def test_chi_square_keeps_its_accuracy_in_float32() -> None:
    """Losses of 10,000 and a little more: their differences count, not their size."""
    small = torch.tensor(EIGHT) / 1024
    near = ChiSquare(0.5).density(small.double(), torch.ones(8, dtype=torch.float64))
    far = ChiSquare(0.5).density(small + 8192, torch.ones(8))
    assert far.tolist() == pytest.approx(near.tolist(), abs=1e-4)


def test_radius_and_alpha_say_the_same() -> None:
    """The ball of alpha = 1/3 has radius (3 - 1)^2 / 2."""
    assert radius_of(1 / 3) == pytest.approx(2)
    facts: Any = None
    assert Chi2DRO(alpha=0.5).recipe(facts).reduction == Chi2DRO(alpha=0.1, radius=0.5).recipe(facts).reduction
    assert Chi2DORO(0.5, 0.1).recipe(facts).reduction == Chi2DORO(0.1, 0.1, radius=0.5).recipe(facts).reduction


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: CVaRDRO(alpha=0.0), "alpha must be > 0 and <= 1, got 0.0"),
        (lambda: CVaRDRO(alpha=1.5), "alpha must be > 0 and <= 1, got 1.5"),
        (lambda: CVaRDORO(alpha=-1.0), "alpha must be > 0 and <= 1, got -1.0"),
        (lambda: CVaRDORO(eps=1.0), "eps must be >= 0 and < 1, got 1.0"),
        (lambda: Chi2DRO(alpha=0.0), "alpha must be > 0 and <= 1, got 0.0"),
        (lambda: Chi2DRO(radius=-0.5), "radius must be >= 0 and finite, got -0.5"),
        (lambda: Chi2DORO(eps=-0.1), "eps must be >= 0 and < 1, got -0.1"),
        (lambda: Chi2DORO(radius=float("nan")), "radius must be >= 0 and finite, got nan"),
    ],
)
def test_bad_settings_are_refused_where_they_are_written_down(make: Any, message: str) -> None:
    with pytest.raises(InvalidValueError) as error:
        make()
    assert str(error.value) == message
