"""Proposition 1 and the lemmas: hand arithmetic, the library's own mixing, identities and orders."""

from itertools import product

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from toys import make_batch, rng

from rmix.mixers.mixup import mixup
from rmix.theory.claims import Toy, identities, orders
from rmix.theory.covariance import second_moment
from rmix.theory.expansion import (
    Rows,
    first_order,
    mixed_loss,
    partnered_loss,
    printed_first_order,
    printed_regulariser,
    regulariser,
    sampled_loss,
    second_order,
)
from rmix.theory.glm import LINEAR, LOGISTIC, POISSON
from rmix.theory.masks import BoxMasks, CutMixMasks, MaskLaw, MixupMasks, draw_law
from rmix.theory.two_views import cross_entropy, one_target, two_targets

FAMILIES = (MixupMasks(), CutMixMasks(), BoxMasks(3, 4))
D = 12  # more than there are rows


def rows_of(seed, n=9, d=D, weighted=True):
    draw = rng(seed)
    x = draw.standard_normal((n, d)) @ draw.standard_normal((d, d)) / 4 + 1
    weight = draw.exponential(size=n) if weighted else np.ones(n)
    return Rows(x, draw.integers(2, size=n).astype(float), weight), 0.4 * draw.standard_normal(d)


def law_of(family, seed=0, draws=40):
    return draw_law(family, 0.7, D, draws=draws, rng=rng(seed))


# --- Proposition 1 ---


def test_both_views_by_hand():
    logits, y = np.zeros((1, 2)), (np.array([[1.0, 0.0]]), np.array([[0.0, 1.0]]))
    args = logits, y, (np.array([2.0]), np.array([1.0])), np.array([0.25])
    assert two_targets(*args) == pytest.approx([1.25 * np.log(2)])  # 2 · 1/4 + 1 · 3/4
    assert one_target(*args) == pytest.approx([1.25 * np.log(2)])


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 6))
def test_both_views_agree(seed, classes):
    draw = rng(seed)
    logits = draw.normal(scale=20, size=(8, classes))
    y = tuple(draw.dirichlet(np.ones(classes), size=8) for _ in range(2))
    weight, lam = (draw.exponential(size=8), draw.exponential(size=8)), draw.random(8)
    np.testing.assert_allclose(two_targets(logits, y, weight, lam), one_target(logits, y, weight, lam), rtol=1e-12)


def test_a_pair_without_weight_counts_nothing_in_either_view():
    y = (np.eye(2), np.eye(2)[::-1])
    none = (np.zeros(2), np.zeros(2))
    for view in (two_targets, one_target):
        assert view(np.array([[1.0, 2.0], [3.0, 4.0]]), y, none, np.array([0.3, 0.6])).tolist() == [0, 0]


def test_cross_entropy_is_that_of_torch_and_does_not_overflow():
    logits, target = 5 * rng().standard_normal((5, 3)), np.eye(3)[[0, 1, 2, 1, 0]]
    theirs = torch.nn.functional.cross_entropy(torch.tensor(logits), torch.tensor(target), reduction="none")
    np.testing.assert_allclose(cross_entropy(logits, target), theirs, rtol=1e-12)
    assert cross_entropy(np.array([[1000.0, 0.0]]), np.array([[0.0, 1.0]])) == pytest.approx([1000])


# --- the mixed loss ---


def test_the_mixed_loss_by_hand():
    """Pairs 11, 22, 12, 21 have scores −1, 1, −1/2, 1/2 and losses 1/2, −3/2, 9/16 and −13/16."""
    rows = Rows(np.array([[-1.0], [1.0]]), np.array([0.0, 1.0]), np.array([1.0, 3.0]))
    loss = mixed_loss(LINEAR, np.ones(1), rows, np.array([0.75]), np.array([[0.75]]))
    assert loss == pytest.approx((1 / 2 - 3 / 2 + 9 / 16 - 13 / 16) / 4)


def test_the_mixed_loss_is_what_the_library_trains_on():
    """Every row meets every partner once over the n cyclic shifts; logits (0, u) make the logistic loss."""
    rows, theta = rows_of(1)
    batch = make_batch(rows.y.astype(int).tolist(), x=rows.x, weight=rows.weight)
    n, lam, total = len(rows.y), 0.3, 0.0
    for shift in range(n):
        mixed = mixup(batch, (torch.arange(n) + shift) % n, lam)
        score = mixed.x @ torch.tensor(theta)
        logits = torch.stack([torch.zeros_like(score), score], 1)
        for part in mixed.parts:
            total += float((part.weight * torch.nn.functional.cross_entropy(logits, part.y, reduction="none")).mean())
    ours = mixed_loss(LOGISTIC, theta, rows, np.array([lam]), np.full((1, D), lam))
    assert ours == pytest.approx(total / n, rel=1e-6)  # weights are made in float32


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("glm", [LINEAR, LOGISTIC, POISSON], ids=lambda g: g.name)
def test_pairs_and_rows_are_the_same_loss_without_centring(family, glm):
    rows, theta = rows_of(2)
    lam, masks, law = law_of(family)
    assert partnered_loss(glm, theta, rows, law) == pytest.approx(mixed_loss(glm, theta, rows, lam, masks), rel=1e-12)


def test_sampled_pairs_agree_with_all_pairs():
    rows, theta = rows_of(3)
    lam, masks, law = law_of(CutMixMasks(), draws=50)
    drawn = rng(1).integers(50, size=40_000)
    mean, error = sampled_loss(LOGISTIC, theta, rows, lam[drawn], masks[drawn], rng(2))
    assert 0 < error < 0.02
    assert abs(mean - partnered_loss(LOGISTIC, theta, rows, law)) < 4 * error


@pytest.mark.parametrize("wrong", ["own", "partner"])
def test_neither_printed_reading_of_the_blend_is_the_loss(wrong):
    rows, theta = rows_of(4)
    law = law_of(MixupMasks())[2]
    reading = rows.weight if wrong == "own" else rows.weight / rows.weight.sum()
    right = partnered_loss(LOGISTIC, theta, rows, law)
    assert abs(partnered_loss(LOGISTIC, theta, rows, law, **{wrong: reading}) - right) > 0.005
    equal, theta = rows_of(4, weighted=False)
    reading = equal.weight if wrong == "own" else equal.weight / equal.weight.sum()
    right = partnered_loss(LOGISTIC, theta, equal, law)
    assert partnered_loss(LOGISTIC, theta, equal, law, **{wrong: reading}) == pytest.approx(right, rel=1e-12)


# --- the expansion: exact for the linear model ---


@pytest.mark.parametrize("family", FAMILIES)
def test_first_and_second_order_are_all_there_is_in_the_linear_model(family):
    rows, theta = rows_of(5)
    law = law_of(family)[2]
    parts = LINEAR.weighted_loss(theta, rows.x, rows.y, rows.weight)
    parts += first_order(LINEAR, theta, rows, law) + second_order(LINEAR, theta, rows, law)
    assert parts == pytest.approx(partnered_loss(LINEAR, theta, rows, law), rel=1e-12)


def linear_error(rows, theta, law, *, rescaled=True, formula=regulariser):
    """Loss + regulariser − mixed loss, of the linear model."""
    plain = LINEAR.weighted_loss(theta, rows.x, rows.y, rows.weight)
    mixed = partnered_loss(LINEAR, theta / law.kept if rescaled else theta, rows, law)
    return plain + formula(LINEAR, theta, rows, law) - mixed


@pytest.mark.parametrize("family", FAMILIES)
def test_the_regulariser_needs_centring_rescaling_and_the_plain_covariance(family):
    rows, theta = rows_of(6)
    law = law_of(family)[2]
    assert linear_error(rows.centred(), theta, law) == pytest.approx(0, abs=1e-12)
    assert abs(linear_error(rows, theta, law)) > 1e-3
    assert abs(linear_error(rows.centred(), theta, law, rescaled=False)) > 1e-3
    assert abs(linear_error(rows.centred(), theta, law, formula=printed_regulariser)) > 1e-3


def test_centring_by_weight_is_not_enough():
    rows, theta = rows_of(6)
    shifted = Rows(rows.x - rows.weight @ rows.x / rows.weight.sum(), rows.y, rows.weight)
    assert abs(linear_error(shifted, theta, law_of(MixupMasks())[2])) > 1e-3


def test_the_printed_constant_holds_for_mixup_with_unit_weights_and_not_for_boxes():
    rows, theta = rows_of(7, weighted=False)
    mixed, boxes = law_of(MixupMasks())[2], law_of(BoxMasks(3, 4))[2]
    assert linear_error(rows.centred(), theta, mixed, formula=printed_regulariser) == pytest.approx(0, abs=1e-12)
    assert abs(linear_error(rows.centred(), theta, boxes, formula=printed_regulariser)) > 1e-4


def test_the_stated_first_order_holds_for_centred_rows_of_unit_weight_only():
    law = law_of(MixupMasks())[2]
    rows, theta = rows_of(8, weighted=False)
    args = LOGISTIC, theta, rows.centred(), law
    assert printed_first_order(*args) == pytest.approx(first_order(*args), rel=1e-10)
    assert abs(printed_first_order(LOGISTIC, theta, rows, law) - first_order(LOGISTIC, theta, rows, law)) > 1e-3
    rows, theta = rows_of(8)
    args = LOGISTIC, theta, rows.centred(), law
    assert abs(printed_first_order(*args) - first_order(*args)) > 1e-3


def test_the_second_order_is_spelt_out_for_centred_rows_only():
    """G = Σ_jk a_jk θ_j θ_k (E[r_j r_k] + x_ij x_ik), the last line of the lemma about R₂, with w_i in front of it."""
    law, (rows, theta) = law_of(CutMixMasks())[2], rows_of(8)

    def spelt_out(rows):
        pairs = second_moment(rows.x) + np.einsum("ij,ik->ijk", rows.x, rows.x)
        g = np.einsum("jk,j,k,ijk->i", law.cut_second, theta, theta, pairs)
        return np.mean(rows.weight * LOGISTIC.curvature(rows.x @ theta) * g) / 2

    centred = rows.centred()
    assert spelt_out(centred) == pytest.approx(second_order(LOGISTIC, theta, centred, law), rel=1e-10)
    assert abs(spelt_out(rows) - second_order(LOGISTIC, theta, rows, law)) > 1e-3


# --- orders ---


def test_without_mixing_nothing_is_added():
    rows, theta = rows_of(9)
    law = MaskLaw(np.ones((1, D)), np.ones(1))
    plain = LOGISTIC.weighted_loss(theta, rows.x, rows.y, rows.weight)
    assert partnered_loss(LOGISTIC, theta, rows, law) == pytest.approx(plain, rel=1e-14)
    assert [f(LOGISTIC, theta, rows, law) for f in (first_order, second_order, regulariser)] == [0, 0, 0]


@pytest.mark.parametrize(("family", "glm"), list(product(FAMILIES, (LOGISTIC, POISSON))))
def test_the_expansion_misses_terms_of_third_order(family, glm):
    rows, theta = rows_of(10)
    errors = []
    for strength in (0.02, 0.01):
        law = law_of(family)[2].weakened(strength)
        parts = glm.weighted_loss(theta, rows.x, rows.y, rows.weight)
        parts += first_order(glm, theta, rows, law) + second_order(glm, theta, rows, law)
        errors.append(abs(partnered_loss(glm, theta, rows, law) - parts))
    assert np.log2(errors[0] / errors[1]) == pytest.approx(3, abs=0.1)


def test_orders_of_the_three_ways_to_weak_mixing():
    sheet = orders(Toy(draws=200))
    last = {row.way: row for row in sheet.rows}
    assert last["inputs mixed less"].order == pytest.approx(3, abs=0.1)
    assert last["smaller θ"].order == pytest.approx(4, abs=0.1)
    assert last["smaller alpha"].order == pytest.approx(1, abs=0.1)  # as the regulariser: it never becomes exact
    shares = [row.of_regulariser for row in sheet.rows if row.way == "smaller alpha"]
    assert min(shares) > 0.01
    assert shares == sorted(shares)


def test_the_identities_of_the_command_are_of_rounding():
    assert max(row.apart for row in identities(Toy(draws=20)).rows) < 1e-12
