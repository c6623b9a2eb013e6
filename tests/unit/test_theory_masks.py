"""The mixture of λ and the law of masks."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from toys import rng

from rmix.errors import InvalidValueError
from rmix.theory.lambda_mixture import LambdaMixture
from rmix.theory.masks import BoxMasks, CutMixMasks, MaskLaw, MixupMasks, draw_law

SHAPES = st.floats(0.2, 5)


@settings(max_examples=30, deadline=None)
@given(SHAPES, SHAPES)
def test_the_mixture_has_the_density_of_its_definition(alpha, beta):
    """E[λ g(λ) + (1−λ) g(1−λ)] = ∫ g(λ) λ (p(λ) + p(1−λ)) dλ for every g, so that is its density."""
    lam = np.linspace(0.01, 0.99, 23)
    p = stats.beta(alpha, beta).pdf
    np.testing.assert_allclose(LambdaMixture(alpha, beta).density(lam), lam * (p(lam) + p(1 - lam)), rtol=1e-9)


@settings(max_examples=30, deadline=None)
@given(SHAPES, SHAPES)
def test_either_row_of_a_pair_may_be_called_the_first(alpha, beta):
    a, b = LambdaMixture(alpha, beta), LambdaMixture(beta, alpha)
    assert a.cut_moment(3) == pytest.approx(b.cut_moment(3))


def test_moments_by_hand():
    assert LambdaMixture(1, 1).cut_moment(1) == pytest.approx(1 / 3)  # density 2λ
    assert LambdaMixture(1, 1).cut_moment(2) == pytest.approx(1 / 6)
    assert LambdaMixture(0.5, 0.5).cut_moment(2) == pytest.approx(1 / 8)


def test_the_mixture_is_uniform_only_for_equal_parameters():
    assert LambdaMixture(2, 2).density(np.array([0.3])) == pytest.approx(stats.beta(3, 2).pdf(0.3))
    halves = (stats.beta(3, 1).pdf(0.3) + stats.beta(2, 2).pdf(0.3)) / 2
    assert LambdaMixture(2, 1).density(np.array([0.3])) != pytest.approx(halves, rel=0.05)


@pytest.mark.parametrize(("alpha", "beta"), [(0.5, 0.5), (0.3, 2.0), (4.0, 1.0)])
def test_draws_have_the_law(alpha, beta):
    law = LambdaMixture(alpha, beta)
    drawn = law.sample(20_000, rng())
    for order in (1, 2, 3):
        error = np.std((1 - drawn) ** order) / np.sqrt(len(drawn))
        assert abs(np.mean((1 - drawn) ** order) - law.cut_moment(order)) < 4 * error
    grid = (np.arange(2000) + 0.5) / 2000
    below = np.mean(law.density(grid) * (grid < 0.5))
    assert np.mean(drawn < 0.5) == pytest.approx(below, abs=0.02)


def test_weak_mixing_does_not_make_higher_moments_small():
    """All moments of 1−λ fall in step with alpha: a blend is rare, not slight."""
    weak = LambdaMixture(1e-4, 1e-4)
    assert [weak.cut_moment(k) / 1e-4 for k in (1, 2, 3)] == pytest.approx([1, 1 / 2, 1 / 3], rel=1e-3)


def test_a_bad_parameter_is_named():
    with pytest.raises(InvalidValueError, match=r"alpha and beta must be > 0, got 0 and 1"):
        LambdaMixture(0, 1)


@pytest.mark.parametrize("family", [MixupMasks(), CutMixMasks(), BoxMasks(3, 4)])
def test_the_law_is_the_definition_for_any_function_of_the_mask(family):
    lam, masks, law = draw_law(family, 0.7, 12, draws=30, rng=rng())
    v = rng(1).standard_normal(12)
    defined = np.mean(lam * np.exp(masks @ v) + (1 - lam) * np.exp((1 - masks) @ v))
    assert law.shares @ np.exp(law.masks @ v) == pytest.approx(defined)
    assert law.shares.sum() == pytest.approx(1)
    assert ((law.masks >= 0) & (law.masks <= 1)).all()


def test_moments_of_a_law_by_hand():
    law = MaskLaw(np.array([[1.0, 0.0], [1.0, 1.0]]), np.array([0.25, 0.75]))
    assert law.kept.tolist() == [1, 0.75]
    assert law.cut_second.tolist() == [[0, 0], [0, 0.25]]
    assert law.spread.tolist() == [[0, 0], [0, 0.1875]]
    assert law.weakened(0.5).masks.tolist() == [[1, 0.5], [1, 1]]


def test_mixup_has_the_moments_of_the_mixture():
    law = draw_law(MixupMasks(), 0.5, 3, draws=40_000, rng=rng())[2]
    assert law.kept == pytest.approx(np.full(3, 0.75), abs=0.01)
    assert law.cut_second == pytest.approx(np.full((3, 3), 0.125), abs=0.01)


def test_cutmix_keeps_a_random_choice_of_so_many():
    lam, masks = CutMixMasks().draw(np.full(20_000, 0.6), 5, rng())
    assert (lam == 0.6).all()
    assert (masks.sum(1) == 3).all()
    assert masks.mean(0) == pytest.approx(np.full(5, 0.6), abs=0.02)
    cut = 1 - masks
    assert np.mean(cut[:, 0] * cut[:, 1]) == pytest.approx(2 / 5 * 1 / 4, abs=0.01)


def test_a_box_keeps_the_share_it_says_and_the_middle_less():
    lam, masks = BoxMasks(6, 8).draw(rng().beta(1, 1, 4000), 48, rng(1))
    np.testing.assert_allclose(lam, masks.mean(1))
    kept = masks.mean(0).reshape(6, 8)
    assert kept[3, 4] < kept[0, 0] - 0.1  # so M̄ is not a constant, as the lemma takes it to be


def test_the_complement_of_a_box_is_no_box():
    """Two neighbours around a box are cut together less often than in a box of the same size."""
    lam = np.full(4000, 0.5)
    masks = BoxMasks(8, 8).draw(lam, 64, rng())[1]
    again = BoxMasks(8, 8).draw(masks.mean(1), 64, rng(1))[1]
    corner = np.mean(masks[:, 0] * masks[:, 7]), np.mean((1 - again[:, 0]) * (1 - again[:, 7]))
    assert corner[0] > 0.2
    assert corner[1] == 0


def test_a_box_needs_its_image():
    with pytest.raises(InvalidValueError, match="A box of 2 x 3 is no mask of 7 coordinates"):
        BoxMasks(2, 3).draw(np.array([0.5]), 7, rng())
