"""Second moments, complexities and the bound: hand arithmetic, brute force and inequalities."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from toys import rng

from rmix.errors import InvalidValueError
from rmix.theory.bound import (
    Constants,
    bound,
    derived_radius,
    level,
    printed_radius,
    retention,
    worst_retention,
)
from rmix.theory.covariance import (
    group_moments,
    inverse_root,
    masked,
    rank,
    second_moment,
    trace_of_quotient,
    weighted_sum,
)
from rmix.theory.glm import LINEAR, LOGISTIC
from rmix.theory.masks import CutMixMasks, MaskLaw, MixupMasks, draw_law
from rmix.theory.rademacher import Terms, complexity_terms, draw_signs, over_ellipsoid, over_product


def law_of(family, d, seed=0):
    return draw_law(family, 0.5, d, draws=100, rng=rng(seed))[2]


def low_rank(n, d, r, seed=0):
    draw = rng(seed)
    return draw.standard_normal((n, r)) @ draw.standard_normal((r, d))


# --- second moments ---


def test_groups_add_up_to_the_weighted_second_moment():
    x, group, weights = low_rank(20, 5, 5), np.repeat([0, 1, 2], [12, 5, 3]), np.array([0.5, 2.0, 7.0])
    shares, moments = group_moments(x, group, 3)
    assert shares.tolist() == [0.6, 0.25, 0.15]
    np.testing.assert_allclose(weighted_sum(shares, weights, moments), second_moment(x, weights[group]))


def test_a_group_without_rows_is_an_error():
    with pytest.raises(InvalidValueError, match=r"Every group needs a row, got counts \[2, 0\]"):
        group_moments(np.ones((2, 1)), np.zeros(2, dtype=int), 2)


def test_masking_by_hand():
    law = MaskLaw(np.array([[1.0, 0.0], [0.0, 0.0]]), np.array([0.5, 0.5]))
    assert masked(np.array([[2.0, 1.0], [1.0, 3.0]]), law).tolist() == [[1.0, 0.5], [0.5, 3.0]]


def test_mixup_scales_and_cutmix_fills_the_space():
    sigma = second_moment(low_rank(50, 8, 3))
    mixed, cut = masked(sigma, law_of(MixupMasks(), 8)), masked(sigma, law_of(CutMixMasks(), 8))
    np.testing.assert_allclose(mixed, sigma * mixed[0, 0] / sigma[0, 0], atol=1e-12)
    assert [rank(m) for m in (sigma, mixed, cut)] == [3, 3, 8]


@pytest.mark.parametrize(("n", "d", "r"), [(5, 40, 5), (200, 40, 7), (40, 40, 40), (300, 2, 1)])
@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e8])
def test_rank_of_wide_and_of_low_dimensional_data_under_weights(n, d, r, scale):
    x = low_rank(n, d, r) * scale
    weight = np.where(np.arange(n) % 3 == 0, 50.0, 0.5)
    assert rank(second_moment(x, weight)) == r
    assert trace_of_quotient(second_moment(x, weight), second_moment(x, weight)) == pytest.approx(r)


def test_the_tolerance_of_the_rank_is_what_it_says():
    sigma = np.diag([1.0, 1e-3, 1e-6])
    assert [rank(sigma, rtol) for rtol in (None, 1e-5, 1e-2)] == [3, 2, 1]
    assert rank(np.zeros((3, 3))) == 0


def test_the_inverse_root_is_that_of_numpy():
    sigma = second_moment(low_rank(30, 6, 4))
    root = inverse_root(sigma)
    np.testing.assert_allclose(root @ root.T, np.linalg.pinv(sigma, rcond=1e-10, hermitian=True), atol=1e-10)


def test_the_trace_does_not_see_the_weights_under_mixup():
    """tr(Σ^(M)† Σ) = rank / E(1−λ)², whatever the groups weigh: tuning weights moves no term of the printed bound."""
    x, law = low_rank(60, 10, 4), law_of(MixupMasks(), 10)
    cut = law.cut_second[0, 0]
    for heavy in (1.0, 10.0, 1000.0):
        sigma = second_moment(x, np.where(np.arange(60) < 6, heavy, 1.0))
        assert trace_of_quotient(masked(sigma, law), sigma) == pytest.approx(4 / cut)


# --- suprema ---


def test_the_supremum_over_an_ellipsoid_by_hand():
    """Sums of rows (4, 0) and (0, 6); θ with 4 θ₁² + 9 θ₂² ≤ 1 reaches 4/2 and 6/3, over two rows."""
    x, sigma = np.array([[2.0, 3.0], [2.0, -3.0]]), np.diag([4.0, 9.0])
    assert over_ellipsoid(x, sigma, np.array([[1.0, 1.0], [1.0, -1.0]])) == pytest.approx([1.0, 1.0])


def test_the_supremum_is_infinite_outside_the_range():
    assert over_ellipsoid(np.eye(2), np.diag([1.0, 0.0]), np.array([[1.0, 1.0]])).tolist() == [np.inf]


def random_thetas(d, seed):
    return rng(seed).standard_normal((20_000, d))


@pytest.mark.parametrize("family", [MixupMasks(), CutMixMasks()])
def test_the_supremum_over_the_product_set_is_reached_and_not_passed(family):
    x = low_rank(12, 3, 3)
    sigma = second_moment(x)
    other = masked(sigma, law_of(family, 3))
    signs = draw_signs(4, 12, rng(1))
    theta = random_thetas(3, 2)
    product = np.einsum("ti,ij,tj->t", theta, sigma, theta) * np.einsum("ti,ij,tj->t", theta, other, theta)
    theta = theta / product[:, None] ** 0.25  # onto the edge
    tried = (signs @ x @ theta.T / 12).max(1)
    found = over_product(x, sigma, other, signs)
    assert (tried <= found * (1 + 1e-6)).all()
    assert tried == pytest.approx(found, rel=0.01)


def test_for_mixup_the_product_set_is_an_ellipsoid():
    x = low_rank(30, 9, 4)
    sigma = second_moment(x)
    signs = draw_signs(20, 30, rng())
    found = over_product(x, sigma, sigma / 16, signs)
    np.testing.assert_allclose(found, 2 * over_ellipsoid(x, sigma, signs), rtol=1e-9)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 1000), st.sampled_from([MixupMasks(), CutMixMasks()]))
def test_two_ellipsoids_enclose_the_product_set_and_the_proof_bounds_their_mean(seed, family):
    x = low_rank(25, 10, 5, seed)
    sigma = second_moment(x)
    other = masked(sigma, law_of(family, 10, seed))
    signs = draw_signs(200, 25, rng(seed))
    alone, mixing = over_ellipsoid(x, sigma, signs), over_ellipsoid(x, other, signs)
    assert (over_product(x, sigma, other, signs) <= np.maximum(alone, mixing) * (1 + 1e-9)).all()
    terms = complexity_terms(sigma, other, sigma)
    spread = (alone + mixing).std() / np.sqrt(200) * 5
    assert 5 * (alone + mixing).mean() <= terms.proof + 4 * spread  # 5 = √n
    assert terms.proof <= terms.printed
    assert terms.weighted == pytest.approx(terms.proof)  # no weights


def test_weights_break_the_bound_of_the_proof():
    """Rows on two axes, nine on the first: where the tenth weighs 81 times as much, the first axis is short."""
    x, weight = np.eye(2)[[0] * 90 + [1] * 10], np.repeat([1.0, 81.0], [90, 10])
    weight /= weight.mean()
    sigma, signs = second_moment(x, weight), draw_signs(400, 100, rng())
    terms = complexity_terms(sigma, sigma / 8, second_moment(x))
    measured = 10 * (over_ellipsoid(x, sigma, signs) + over_ellipsoid(x, sigma / 8, signs)).mean()
    assert terms.proof == pytest.approx(np.sqrt(2) + 4)
    assert terms.weighted == pytest.approx(np.sqrt(1 / weight[0] + 1 / weight[-1]) * (1 + np.sqrt(8)))
    assert terms.printed == pytest.approx(6)
    assert 1.2 * terms.printed < measured < terms.weighted


def test_terms_by_hand():
    sigma = np.diag([4.0, 1.0, 0.0])
    assert complexity_terms(sigma, sigma / 2, np.diag([1.0, 4.0, 0.0])) == Terms(
        printed=pytest.approx(4.0),
        proof=pytest.approx(2 + np.sqrt(2)),
        weighted=pytest.approx(np.sqrt(8.5) + np.sqrt(4.25)),
        derived=pytest.approx(np.sqrt(8.5) + np.sqrt(2)),
        erm=pytest.approx(np.sqrt(3)),
    )


# --- the set, the constant and the bound ---


def test_level_by_hand():
    """Linear model, mixup of one number: A″ = 1, and (E(1−λ)² + Var λ) Σ θ²."""
    law = MaskLaw(np.array([[1.0], [0.5]]), np.array([0.5, 0.5]))
    assert level(LINEAR, np.array([2.0]), np.zeros((3, 1)), np.array([[3.0]]), law) == pytest.approx(
        (0.125 + 0.0625) * 3 * 4
    )


def test_level_of_the_logistic_model_at_zero_is_zero_and_its_curvature_a_quarter():
    law, x = law_of(MixupMasks(), 2), low_rank(30, 2, 2)
    sigma = second_moment(x)
    assert level(LOGISTIC, np.zeros(2), x, sigma, law) == 0
    tiny = 1e-4 * np.ones(2)
    ratio = level(LINEAR, tiny, x, sigma, law) / level(LOGISTIC, tiny, x, sigma, law)
    assert ratio == pytest.approx(4, rel=1e-4)


def test_on_finitely_many_rows_the_set_has_no_end():
    """Where no row has score zero, A″ falls exponentially and the form grows only as a square."""
    x, law = low_rank(30, 3, 3), law_of(MixupMasks(), 3)
    theta, sigma = np.ones(3) / np.abs(x @ np.ones(3)).min(), second_moment(x)  # scores of at least one
    levels = [level(LOGISTIC, size * theta, x, sigma, law) for size in (1, 10, 100)]
    assert levels[2] < 1e-30 < levels[0]


def test_both_sides_of_the_definition_of_rho():
    linear = retention(LINEAR, np.array([2.0]), np.array([[1.0], [3.0]]))
    assert (linear.curvature, linear.size, linear.rho) == (1, 20, 1 / 20)
    logistic = retention(LOGISTIC, np.array([1e-9]), np.array([[1.0]]))
    assert (logistic.curvature, logistic.rho) == (pytest.approx(1 / 16), 0.5)  # at most one half


def test_no_rho_serves_every_direction():
    """As printed, "for any non-zero v": of the logistic model the ratio falls without end."""
    x, v = low_rank(100, 3, 3), [np.ones(3)]
    found = [worst_retention(LOGISTIC, v, x, radius).rho for radius in (0.5, 1, 2, 4, 8, 100, 1000)]
    assert found == sorted(found, reverse=True)
    assert found[-1] < 1e-9


def test_the_worst_direction_is_found_at_the_radius():
    x = np.array([[1.0, 0.0], [1.0, 0.0], [1.0, 0.0], [0.0, 8.0]])
    thrifty, heavy_tailed = np.array([1.0, 0.0]), np.array([0.0, 1.0])
    worst = worst_retention(LOGISTIC, [heavy_tailed, np.zeros(2), thrifty], x, 3.0)
    one = retention(LOGISTIC, thrifty * 3 / np.sqrt(3 / 4), x)
    assert worst == one
    assert worst.size == pytest.approx(9)
    with pytest.raises(InvalidValueError, match="radius must be > 0, got 0"):
        worst_retention(LOGISTIC, [thrifty], x, 0)


@settings(max_examples=60, deadline=None)
@given(st.floats(1e-4, 1e4), st.floats(1e-4, 1e4), st.floats(1e-4, 0.5))
def test_the_derived_radius_follows_from_the_assumption_as_printed(s, m, rho):
    """Any γ ≥ √(ρ s)·m leaves s or m within the squared radius."""
    gamma = np.sqrt(rho * s) * m
    assert min(s, m) <= derived_radius(gamma, rho) ** 2 * (1 + 1e-9)


def test_the_printed_radius_does_not_follow_unless_gamma_rho_is_below_one():
    rho, s = 0.25, 400.0  # s = m, and γ = √(ρ s)·m
    gamma = np.sqrt(rho * s) * s
    assert derived_radius(gamma, rho) ** 2 == pytest.approx(s)
    assert printed_radius(gamma, rho) ** 2 < s / 3
    rho, s = 0.001, 10.0
    assert printed_radius(np.sqrt(rho * s) * s, rho) ** 2 > s  # safe, and loose


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 1000), st.floats(0.05, 20), st.floats(0, 3))
def test_for_the_logistic_model_and_mixup_gamma_rho_is_below_one_in_64_of_the_largest_weight(seed, size, uneven):
    """γρ ≤ (E A″)³ m/s, E A″ ≤ 1/4: with equal weights the printed radius is the larger, by 64^(1/12) or more."""
    x, weight = low_rank(20, 3, 3, seed), rng(seed).exponential(size=20) ** uneven
    law, theta = law_of(MixupMasks(), 3), rng(seed).standard_normal(3)
    gamma = level(LOGISTIC, size * theta, x, second_moment(x, weight), law)
    assert gamma * retention(LOGISTIC, size * theta, x).rho <= weight.max() / 64


def test_with_weights_gamma_rho_may_pass_one_in_64():
    """One row of ten is not zero and has all the weight: θᵀΣθ is ten times E(θᵀx)²."""
    x, weight, law = np.array([[0.0]] * 9 + [[1.0]]), np.array([0.0] * 9 + [10.0]), law_of(MixupMasks(), 1)
    theta = np.array([1.1])
    gamma = level(LOGISTIC, theta, x, second_moment(x, weight), law)
    assert gamma * retention(LOGISTIC, theta, x).rho > 1.5 / 64


def test_the_bound_by_hand():
    constants = Constants(lipschitz=3.0, loss_range=2.0, delta=2 / np.e**2)
    assert bound(100, 0.5, 4.0, constants) == pytest.approx(2 * 3 * 0.5 * 4 / 10 + 2 * np.sqrt(2 / 200))
