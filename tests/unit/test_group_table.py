"""Correct and total per group."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from rmix.datasets import Split
from rmix.metrics import GroupTable
from rmix.training.evaluate import evaluate, predict

quick = settings(max_examples=60, deadline=None, derandomize=True)
TABLES = st.integers(1, 4).flatmap(
    lambda k: st.lists(
        st.tuples(st.booleans(), st.lists(st.booleans(), min_size=k, max_size=k)), min_size=1, max_size=25
    )
)


def table_of(rows: list[tuple[bool, list[bool]]]) -> GroupTable:
    return GroupTable.of(np.array([hit for hit, _ in rows]), np.array([member for _, member in rows]))


def test_by_hand() -> None:
    """Group 0: one of two; group 1: two of two."""
    hit = np.array([True, False, True, True])
    table = GroupTable.of(hit, np.array([0, 0, 1, 1])[:, None] == np.arange(2))
    assert table == GroupTable((1, 2), (2, 2), 3, 4)
    assert (table.accuracy.tolist(), table.average, table.worst, table.gap) == ([0.5, 1.0], 0.75, 0.5, 0.25)


def test_overlapping_groups_count_a_row_in_each_and_once_in_the_average() -> None:
    hit = np.array([True, False, False])
    table = GroupTable.of(hit, np.array([[True, True], [True, False], [False, False]]))
    assert table == GroupTable((1, 1), (2, 1), 1, 3)
    assert table.average == pytest.approx(1 / 3)


def test_a_long_table() -> None:
    """Every third row is in group 0, every row in group 1, even rows are right: 131,075 = 6 * 21,845 + 5."""
    row = np.arange(131_075)
    table = GroupTable.of(row % 2 == 0, np.stack([row % 3 == 0, row >= 0], axis=1))
    assert table == GroupTable((21846, 65538), (43692, 131075), 65538, 131075)


def test_an_empty_group_is_nan_keeps_its_number_and_is_not_the_worst() -> None:
    table = GroupTable((3, 0, 2), (4, 0, 4), 5, 8)
    assert math.isnan(table.accuracy[1])
    assert table.accuracy[[0, 2]].tolist() == [0.75, 0.5]
    assert (table.n_groups, table.worst_group, table.worst) == (3, 2, 0.5)


def test_no_group_at_all() -> None:
    table = GroupTable.of(np.array([True, False]), None)
    assert (table.n_groups, table.worst_group, table.average) == (0, None, 0.5)
    assert math.isnan(table.worst)
    assert math.isnan(table.gap)


def test_the_worst_of_equals_is_the_first() -> None:
    assert GroupTable((1, 2, 1), (2, 2, 2), 4, 6).worst_group == 0


def test_the_two_averages_differ_where_training_is_unbalanced() -> None:
    """Test: 100 rows a group, 95 % and 55 % right, average 75 %. Training is 9 to 1: 0.9 * 95 + 0.1 * 55 = 91 %."""
    table = GroupTable((95, 55), (100, 100), 150, 200)
    assert table.average == 0.75
    assert table.adjusted_average([900, 100]) == pytest.approx(0.91)
    assert table.adjusted_average([1, 1]) == pytest.approx(0.75)


def test_adjusted_average_and_empty_groups() -> None:
    """A group that training has and the table lacks is unknown; one that neither has does not matter."""
    table = GroupTable((1, 0), (2, 0), 1, 2)
    assert math.isnan(table.adjusted_average([9, 1]))
    assert table.adjusted_average([9, 0]) == 0.5


def test_groups_known_in_training_only_have_no_adjusted_average() -> None:
    """A split without group labels gives a table of unknown accuracies, as long as there are groups."""
    with torch.random.fork_rng():
        model = nn.Linear(2, 2)
    table = evaluate(model, Split(torch.zeros(3, 2), torch.tensor([0, 1, 0])), 2)
    assert table.rows == 3
    assert math.isnan(table.adjusted_average([5, 5]))


@quick
@given(rows=TABLES, cut=st.integers(0, 25))
def test_tables_of_parts_add_up_to_the_table_of_the_whole(rows: list[tuple[bool, list[bool]]], cut: int) -> None:
    cut = min(cut, len(rows) - 1)
    empty = GroupTable.of(np.zeros(0, dtype=bool), np.zeros((0, len(rows[0][1])), dtype=bool))
    first = table_of(rows[:cut]) if cut else empty
    assert first + table_of(rows[cut:]) == table_of(rows)


@quick
@given(rows=TABLES)
def test_accuracies_are_shares_and_the_worst_is_the_least(rows: list[tuple[bool, list[bool]]]) -> None:
    table = table_of(rows)
    known = table.accuracy[~np.isnan(table.accuracy)]
    assert (np.isnan(table.accuracy) == (np.array(table.total) == 0)).all()
    assert ((known >= 0) & (known <= 1)).all()
    if len(known):
        assert table.worst == known.min()
        assert table.accuracy[table.worst_group] == table.worst


@quick
@given(rows=TABLES)
def test_json_round_trip(rows: list[tuple[bool, list[bool]]]) -> None:
    table = table_of(rows)
    assert GroupTable.from_json(json.loads(json.dumps(table.to_json()))) == table


def test_tables_of_different_groups_do_not_add() -> None:
    with pytest.raises(ValueError, match="zip"):
        _ = GroupTable((1,), (1,), 1, 1) + GroupTable((1, 1), (1, 1), 2, 2)


def test_evaluation_is_in_order_in_evaluation_mode_and_in_pieces() -> None:
    """The model says class 1 where x > 0, and dropout would change that."""
    x = torch.tensor([[1.0], [-1.0], [2.0], [-2.0], [3.0]])
    split = Split(x, torch.tensor([1, 1, 1, 0, 0]), torch.tensor([0, 0, 1, 1, -1]))

    class Sign(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            noise = 100.0 if self.training else 0.0
            return torch.cat([torch.zeros_like(x), x + noise], dim=1)

    model = Sign().train()
    assert evaluate(model, split, 2) == GroupTable((1, 2), (2, 2), 3, 5)
    assert predict(model, split, size=2)[:, 1].tolist() == x.flatten().tolist()
