"""Mixup, the same pairs unmixed, and mixing sometimes."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from toys import make_batch, rng

from rmix.batch import Batch, Groups
from rmix.errors import InvalidValueError
from rmix.mixers import AnyPair, Mixup, SameLabelAndGroup, Sometimes, mixup

SWAP = torch.tensor([1, 0])
quick = settings(max_examples=60, deadline=None, derandomize=True)


def test_two_rows_by_hand() -> None:
    """0.8 * (0, 10) + 0.2 * (10, 0); weights 0.8 * (1, 5), and 0.2 * (5, 1) of the partners."""
    batch = make_batch([0, 1], x=[[0.0], [10.0]], weight=[1.0, 5.0], group=[3, 2])
    mixed = mixup(batch, SWAP, 0.8)
    own, other = mixed.parts
    assert mixed.x.flatten().tolist() == pytest.approx([2.0, 8.0])
    assert (own.y.tolist(), other.y.tolist()) == ([0, 1], [1, 0])
    assert own.weight.tolist() == pytest.approx([0.8, 4.0])
    assert other.weight.tolist() == pytest.approx([1.0, 0.2])
    assert (own.group.tolist(), other.group.tolist()) == ([3, 2], [2, 3])
    assert not mixed.clean


def test_one_lambda_a_row() -> None:
    batch = make_batch([0, 1], x=[[[0.0, 4.0]], [[10.0, 8.0]]])  # (2, 1, 2): lambda goes along the rows
    mixed = mixup(batch, SWAP, torch.tensor([1.0, 0.25]))
    assert mixed.x.tolist() == [[[0.0, 4.0]], [[2.5, 5.0]]]
    assert mixed.parts[0].weight.tolist() == [1.0, 0.25]
    assert mixed.parts[1].weight.tolist() == [0.0, 0.75]


@pytest.mark.parametrize(("lam", "rows"), [(1.0, [0.0, 1.0]), (0.0, [1.0, 0.0]), (1, [0.0, 1.0])])
def test_the_ends_are_the_row_and_its_partner(lam: float, rows: list[float]) -> None:
    """A lambda of 1 may be written as the integer."""
    assert mixup(make_batch([0, 1]), SWAP, lam).x.flatten().tolist() == rows


def test_inputs_that_are_not_numbers_are_refused() -> None:
    batch = Batch(torch.tensor([[1], [2]]), torch.tensor([0, 1]), torch.arange(2), torch.ones(2))
    with pytest.raises(InvalidValueError, match=r"floating-point inputs, got torch.int64; mix hidden layers"):
        mixup(batch, SWAP, 0.5)


def test_the_batch_is_not_changed() -> None:
    batch = make_batch([0, 1], weight=[1.0, 5.0])
    before = [value.clone() for value in (batch.x, batch.y, batch.weight)]
    mixup(batch, SWAP, 0.3)
    assert all(torch.equal(a, b) for a, b in zip(before, (batch.x, batch.y, batch.weight), strict=True))


@quick
@given(n=st.integers(1, 9), seed=st.integers(0, 10**6), alpha=st.floats(0.01, 10), per_sample=st.booleans())
def test_weight_is_conserved_and_blends_stay_between(n: int, seed: int, alpha: float, per_sample: bool) -> None:
    source = rng(seed)
    x, weight = source.standard_normal((n, 3)), source.uniform(0, 80, n)
    batch = Batch(torch.from_numpy(x), torch.zeros(n).long(), torch.arange(n), torch.from_numpy(weight))
    mixed = Mixup(alpha, AnyPair(), per_sample)(batch, source)
    own, other = mixed.parts
    assert (own.weight >= 0).all()
    assert (other.weight >= 0).all()
    if not per_sample:  # over a permutation every row gives lambda once and 1 - lambda once
        assert (own.weight.sum() + other.weight.sum()).item() == pytest.approx(weight.sum(), rel=1e-9)
    low, high = batch.x.amin(0), batch.x.amax(0)
    assert ((mixed.x >= low - 1e-12) & (mixed.x <= high + 1e-12)).all()


@quick
@given(n=st.integers(2, 9), seed=st.integers(0, 10**6))
def test_unit_weights_add_up_to_one_in_every_row(n: int, seed: int) -> None:
    mixed = Mixup(0.5, AnyPair(), per_sample=True)(make_batch([0] * n), rng(seed))
    np.testing.assert_allclose(mixed.parts[0].weight + mixed.parts[1].weight, np.ones(n), rtol=1e-12)


def test_lambda_is_drawn_from_beta() -> None:
    """Beta(a, a) has mean 1/2 and variance 1 / (4 (2a + 1)): 1/8 at a = 0.5."""
    batch = make_batch([0] * 20_000)
    lam = Mixup(0.5, per_sample=True)(batch, rng()).parts[0].weight
    assert lam.mean().item() == pytest.approx(0.5, abs=0.01)
    assert lam.var().item() == pytest.approx(0.125, abs=0.003)
    one = Mixup(0.5)(batch, rng()).parts[0].weight
    assert one.unique().numel() == 1  # one a batch, as published


def test_swapping_rows_and_lambda_is_the_same_mix() -> None:
    """lambda of i with 1 - lambda of j, seen from j: the partner map is an involution here."""
    batch = make_batch([0, 1], x=[[1.0], [7.0]], weight=[2.0, 3.0])
    a, b = mixup(batch, SWAP, 0.3), mixup(batch, SWAP, 0.7)
    assert a.x.flip(0).flatten().tolist() == pytest.approx(b.x.flatten().tolist())
    assert a.parts[0].weight.flip(0).tolist() == pytest.approx(b.parts[1].weight.tolist())


def test_a_mixer_of_pairs_sees_what_its_pairing_sees() -> None:
    assert Mixup(0.5).groups == Groups.NONE
    assert Mixup(0.5, SameLabelAndGroup()).groups == Groups.TRAIN
    assert Sometimes(Mixup(0.5, SameLabelAndGroup()), 0.5).groups == Groups.TRAIN
