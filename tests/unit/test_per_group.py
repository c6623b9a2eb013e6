"""Batches with equally many rows of each group."""

from __future__ import annotations

import pytest
import torch
from toys import rng

from rmix.errors import HiddenGroupsError, InvalidValueError
from rmix.recipe import Rows
from rmix.samplers import PerGroup


def rows_of(sizes: dict[int, int]) -> Rows:
    """So many rows of each group id."""
    group = torch.tensor([g for g, n in sizes.items() for _ in range(n)])
    return Rows(torch.zeros_like(group), group)


def batches(sampler: PerGroup, rows: Rows, size: int, seed: int = 0) -> list[list[int]]:
    assert rows.group is not None
    order = sampler(rows, rng(seed), size)
    return [rows.group[batch].tolist() for batch in torch.split(order, size)]


def test_every_batch_has_equally_many_of_each_group() -> None:
    """103 rows in batches of 12: nine of them, all full, with 4 rows of each of three groups."""
    found = batches(PerGroup(), rows_of({0: 90, 2: 3, 5: 10}), 12)
    assert [sorted(batch) for batch in found] == [[0] * 4 + [2] * 4 + [5] * 4] * 9


def test_groups_alternate_so_that_every_half_of_a_batch_is_balanced() -> None:
    for batch in batches(PerGroup(), rows_of({0: 20, 1: 4}), 8):
        assert sorted(batch[:4]) == sorted(batch[4:]) == [0, 0, 1, 1]


def test_what_is_left_over_goes_to_groups_at_random() -> None:
    """Batches of 5 rows of two groups: 3 and 2, or 2 and 3."""
    extra = [sum(batch) for batch in batches(PerGroup(), rows_of({0: 400, 1: 100}), 5)]
    assert set(extra) == {2, 3}
    assert 30 < extra.count(3) < 70


def test_all_rows_of_a_group_come_before_one_comes_again() -> None:
    """Group 1 has 3 rows and 12 places: each row four times, in four orders."""
    rows = rows_of({0: 21, 1: 3})
    for seed in range(5):
        order = PerGroup()(rows, rng(seed), 4)
        places = order[order >= 21].view(4, 3)
        assert places.sort(1).values.tolist() == [[21, 22, 23]] * 4
        assert len({tuple(turn) for turn in places.tolist()}) > 1


def test_groups_are_drawn_for_each_batch() -> None:
    drawn = [set(batch) for batch in batches(PerGroup(2), rows_of({0: 50, 1: 50, 2: 50, 3: 50}), 4)]
    assert {len(groups) for groups in drawn} == {2}
    assert len({tuple(sorted(groups)) for groups in drawn}) == 6  # every pair


def test_one_group_a_batch_and_one_group_in_all() -> None:
    assert all(len(set(batch)) == 1 for batch in batches(PerGroup(1), rows_of({0: 9, 1: 9}), 3))
    assert batches(PerGroup(), rows_of({3: 4}), 2) == [[3, 3], [3, 3]]


def test_more_groups_than_there_are_or_than_rows_in_a_batch() -> None:
    assert [sorted(b) for b in batches(PerGroup(9), rows_of({0: 2, 1: 2}), 2)] == [[0, 1], [0, 1]]
    assert {len(b) for b in batches(PerGroup(), rows_of({0: 2, 1: 2, 2: 2}), 1)} == {1}


def test_rows_in_no_group_are_left_out() -> None:
    """They count for the length of the epoch: 6 rows in batches of 2."""
    found = batches(PerGroup(), rows_of({-1: 3, 0: 2, 1: 1}), 2)
    assert [sorted(batch) for batch in found] == [[0, 1]] * 3


def test_what_it_refuses() -> None:
    with pytest.raises(InvalidValueError, match="groups_per_batch must be >= 1, got 0"):
        PerGroup(0)
    with pytest.raises(InvalidValueError, match="none of the 2 training rows is in a group"):
        PerGroup()(rows_of({-1: 2}), rng(), 2)
    with pytest.raises(HiddenGroupsError):
        PerGroup()(Rows(torch.zeros(3)), rng(), 2)
