"""Who is mixed with whom."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from toys import make_batch, rng

from rmix.batch import Groups
from rmix.errors import HiddenGroupsError
from rmix.mixers import AnyPair, SameLabelAndGroup
from rmix.mixers.pairing import permute_within

quick = settings(max_examples=80, deadline=None, derandomize=True)


@quick
@given(cells=st.lists(st.integers(0, 4), min_size=1, max_size=30), seed=st.integers(0, 1000))
def test_within_cells_every_position_is_a_partner_once_and_of_the_same_cell(cells: list[int], seed: int) -> None:
    cell = torch.tensor(cells)
    partner = permute_within(cell, rng(seed))
    assert sorted(partner.tolist()) == list(range(len(cells)))
    assert torch.equal(cell[partner], cell)


def test_every_permutation_of_a_cell_is_equally_likely() -> None:
    """Two members swap half of the time: 2,000 draws, standard deviation 22."""
    source, cell = rng(), torch.tensor([5, 1, 5])
    swapped = sum(permute_within(cell, source).tolist() == [2, 1, 0] for _ in range(2000))
    assert abs(swapped - 1000) < 100


def test_any_pair_is_a_permutation_that_may_pair_a_row_with_itself() -> None:
    batch = make_batch([0, 1, 1])
    draws = {tuple(AnyPair()(batch, rng(seed)).tolist()) for seed in range(100)}
    assert len(draws) == 6  # all permutations of three, the identity included


@quick
@given(data=st.data(), n=st.integers(1, 20), seed=st.integers(0, 1000))
def test_same_label_and_group(data: st.DataObject, n: int, seed: int) -> None:
    """Groups that have rows of both classes, and rows in no group, are told apart as well."""
    y = data.draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
    group = data.draw(st.lists(st.integers(-1, 3), min_size=n, max_size=n))
    partner = SameLabelAndGroup()(make_batch(y, group=group), rng(seed)).tolist()
    assert sorted(partner) == list(range(n))
    assert [(y[j], group[j]) for j in partner] == list(zip(y, group, strict=True))


def test_a_row_alone_in_its_group_pairs_with_itself() -> None:
    batch = make_batch([0, 0, 1, 1], group=[0, 0, 0, 1])
    for seed in range(20):
        partner = SameLabelAndGroup()(batch, rng(seed)).tolist()
        assert partner[2:] == [2, 3]


def test_permissions() -> None:
    assert AnyPair().groups == Groups.NONE
    assert SameLabelAndGroup().groups == Groups.TRAIN
    with pytest.raises(HiddenGroupsError):
        SameLabelAndGroup()(make_batch([0, 1]), rng())
