"""Partners that are drawn among the rows that qualify; the contract has the cells."""

from __future__ import annotations

import pytest
import torch
from toys import make_batch, rng

from rmix.errors import HiddenGroupsError, InvalidValueError
from rmix.mixers import AnyPair, Either, OtherGroup, SameAttributeOtherLabel, SameLabelOtherGroup
from rmix.mixers.selective import place_in_class


def test_a_row_may_be_the_partner_of_many() -> None:
    """One row of group 1 among three of group 0: all three get it."""
    batch = make_batch([0, 0, 0, 0], group=[0, 0, 1, 0])
    partner = OtherGroup()(batch, rng()).tolist()
    assert [partner[i] for i in (0, 1, 3)] == [2, 2, 2]
    assert partner[2] in (0, 1, 3)


def test_intra_label_and_intra_domain_by_hand() -> None:
    """Groups 2 * y + a, one row of each: the partner is known."""
    batch = make_batch([0, 0, 1, 1], group=[0, 1, 2, 3])
    assert SameLabelOtherGroup()(batch, rng()).tolist() == [1, 0, 3, 2]
    assert SameAttributeOtherLabel()(batch, rng()).tolist() == [2, 3, 0, 1]


def test_attributes_are_numbered_within_the_class_either_way() -> None:
    """Groups 2 * a + y, with a group of three rows, in any order of rows."""
    batch = make_batch([1, 0, 0, 1, 0, 0], group=[3, 0, 0, 1, 2, 0])
    partner = SameAttributeOtherLabel()(batch, rng()).tolist()
    assert [partner[0], partner[4]] == [4, 0]
    assert [partner[i] for i in (1, 2, 5)] == [3, 3, 3]
    assert partner[3] in (1, 2, 5)
    assert place_in_class(batch.y, torch.tensor([3, 0, 0, 1, 2, 0])).tolist() == [1, 0, 0, 0, 1, 0]


def test_groups_that_hold_two_classes_are_domains() -> None:
    """Group 0 holds both classes, so rows pair within groups; group 1 has one class, so its row is alone."""
    batch = make_batch([0, 1, 0, 1], group=[0, 0, 1, 2])
    assert SameAttributeOtherLabel()(batch, rng()).tolist() == [1, 0, 2, 3]


def test_given_attributes_decide() -> None:
    batch = make_batch([0, 1, 0, 1], group=[0, 1, 2, 3])
    assert SameAttributeOtherLabel((7, 5, 5, 7))(batch, rng()).tolist() == [3, 2, 1, 0]


def test_rows_in_no_group_pair_with_themselves() -> None:
    batch = make_batch([0, 1, 0], group=[-1, -1, -1])
    for pairing in (OtherGroup(), SameLabelOtherGroup(), SameAttributeOtherLabel(), SameAttributeOtherLabel((1, 2))):
        assert pairing(batch, rng()).tolist() == [0, 1, 2]


def test_either_draws_once_a_batch() -> None:
    batch = make_batch([0, 0, 1, 1], group=[0, 1, 2, 3])
    pairing, source = Either(prob=0.3), rng()
    found = [tuple(pairing(batch, source).tolist()) for _ in range(1000)]
    assert set(found) == {(1, 0, 3, 2), (2, 3, 0, 1)}
    assert abs(found.count((1, 0, 3, 2)) - 300) < 75  # five standard deviations


def test_permissions_and_settings() -> None:
    assert Either(AnyPair(), AnyPair()).groups == AnyPair().groups
    assert Either(AnyPair(), OtherGroup()).groups == OtherGroup().groups
    with pytest.raises(InvalidValueError, match=r"prob must be in \[0, 1\], got 1.5"):
        Either(prob=1.5)
    with pytest.raises(HiddenGroupsError):
        OtherGroup()(make_batch([0, 1]), rng())
