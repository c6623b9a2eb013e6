"""Rows more often than once, and parts of the training split."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from toys import rng

from rmix.batch import Groups
from rmix.errors import DataError, HiddenGroupsError, InvalidValueError
from rmix.recipe import Rows, Sampler
from rmix.samplers import Balanced, HeldOut, Rest, Upsampled


def rows(y: list[int], group: list[int] | None = None) -> Rows:
    return Rows(torch.tensor(y), None if group is None else torch.tensor(group))


def test_every_row_as_often_as_asked() -> None:
    order = Upsampled((2, 0, 1, 5))(rows([0] * 4), rng(), 3)
    assert np.bincount(order.numpy(), minlength=4).tolist() == [2, 0, 1, 5]


def test_one_copy_each_is_the_shuffle_draw_for_draw() -> None:
    plain, once, generators = rows([0] * 50), Upsampled((1,) * 50), (rng(3), rng(3))
    assert torch.equal(Sampler()(plain, generators[0], 8), once(plain, generators[1], 8))
    assert generators[0].random() == generators[1].random()  # and leaves the generator where it was


def test_copies_are_spread_over_the_epoch() -> None:
    """500 copies of row 0 among 500 others: about 250 lie in the first half, standard deviation 11."""
    order = Upsampled((500,) + (1,) * 500)(rows([0] * 501), rng(), 8)
    assert abs(int((order[:500] == 0).sum()) - 250) < 60


@pytest.mark.parametrize(("copies", "message"), [
    ((1, -2, 1), "copies must be >= 0, got -2"), ((0, 0, 0), "All 3 rows have 0 copies"),
])  # fmt: skip
def test_bad_copies(copies: tuple[int, ...], message: str) -> None:
    with pytest.raises(InvalidValueError, match=message):
        Upsampled(copies)


def test_copies_are_one_number_a_row() -> None:
    with pytest.raises(InvalidValueError, match="got 2 for 3 rows"):
        Upsampled((1, 1))(rows([0, 0, 0]), rng(), 8)


def test_a_share_of_each_class_is_held_out_and_the_rest_is_left() -> None:
    y = [0] * 20 + [1] * 5 + [2] * 2
    held, rest = (kind(0.2)(rows(y), rng(), 8) for kind in (HeldOut, Rest))
    assert sorted(torch.cat([held, rest]).tolist()) == list(range(27))
    assert np.bincount(torch.tensor(y)[held]).tolist() == [4, 1, 1]
    nearly_all = HeldOut(0.9)(rows(y), rng(), 8)
    assert np.bincount(torch.tensor(y)[nearly_all]).tolist() == [18, 4, 1]  # a row of each class is left


def test_a_share_of_each_group_where_groups_are_asked_for() -> None:
    """Every group has a row on either side, but for a group of one, which is held out."""
    y, group = [0] * 12 + [1] * 13, [0] * 10 + [1] * 2 + [3] * 10 + [-1] * 2 + [2]
    held = HeldOut(0.5, by_group=True)(rows(y, group), rng(), 8)
    assert np.bincount(torch.tensor(group)[held] + 1).tolist() == [1, 5, 1, 1, 5]


def test_the_part_depends_on_its_seed_alone() -> None:
    some = rows([0] * 30 + [1] * 10)
    first, again, other = (set(HeldOut(0.3, seed)(some, rng(at), 8).tolist()) for seed, at in ((0, 1), (0, 2), (1, 1)))
    assert first == again
    assert first != other
    assert HeldOut(0.3)(some, rng(1), 8).tolist() != HeldOut(0.3)(some, rng(2), 8).tolist()  # in another order


def test_a_sampler_draws_from_the_part() -> None:
    """Half of 400 and 8 rows: 200 draws, half of them of the four rows of group 1 that are held out."""
    group = [0] * 400 + [1] * 8
    part = HeldOut(0.5, by_group=True, sampler=Balanced())(rows([0] * 408, group), rng(), 8)
    assert len(part) == 204
    small = part[part >= 400]
    assert abs(len(small) - 102) < 35  # standard deviation 7
    assert len(small.unique()) == 4


def test_groups_are_declared_and_asked_for() -> None:
    assert HeldOut().groups == Groups.NONE
    assert HeldOut(by_group=True).groups == HeldOut(sampler=Balanced()).groups == Groups.TRAIN
    with pytest.raises(HiddenGroupsError, match="Holding out a share of each group"):
        Rest(by_group=True)(rows([0, 1]), rng(), 8)


def test_too_small_a_split_is_refused() -> None:
    with pytest.raises(DataError, match=r"Holding out 0\.2 of 2 rows leaves none to train on"):
        Rest()(rows([0, 1]), rng(), 8)
    with pytest.raises(InvalidValueError, match=r"must lie between 0 and 1, got 1\.0"):
        HeldOut(1.0)
