"""Which epoch is kept."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from rmix.errors import DataError
from rmix.metrics import GroupTable
from rmix.training.selection import SELECTIONS
from rmix.training.trainer import Trainer

UNEVEN = GroupTable((9, 1), (10, 4), 10, 14)
BLIND = GroupTable((), (), 3, 4)


def test_values_by_hand() -> None:
    assert SELECTIONS["worst_group"].value(UNEVEN, 3) == 0.25
    assert SELECTIONS["average"].value(UNEVEN, 3) == pytest.approx(10 / 14)
    assert SELECTIONS["last"].value(UNEVEN, 3) == 3.0


def test_only_the_worst_group_rule_reads_groups() -> None:
    assert {name for name, rule in SELECTIONS.items() if rule.reads_groups} == {"worst_group"}
    assert SELECTIONS["average"].value(BLIND, 0) == 0.75
    assert SELECTIONS["last"].value(BLIND, 0) == 0.0


def test_the_worst_group_needs_groups() -> None:
    with pytest.raises(DataError, match=r"'worst_group' needs group labels in the validation split.*'average' or 'la"):
        SELECTIONS["worst_group"].value(BLIND, 0)


def test_an_empty_group_does_not_decide() -> None:
    assert SELECTIONS["worst_group"].value(GroupTable((1, 0), (2, 0), 1, 2), 0) == 0.5


@pytest.mark.parametrize(("values", "kept"), [
    ([0.2, 0.5, 0.4], 1), ([0.5, 0.5, 0.5], 0), ([0.1, 0.5, 0.5], 1), ([0.0], 0), ([0.0, 1.0, 2.0], 2),
])  # fmt: skip
def test_the_first_of_the_largest_is_kept(values: list[float], kept: int) -> None:
    """Strictly larger wins; among equals the first stays, with its own copy of the weights."""
    weights = {"w": -1}
    model = SimpleNamespace(state_dict=lambda: weights)
    progress: Any = SimpleNamespace(best={}, best_model={}, model=model, epoch=0)
    for epoch, value in enumerate(values):
        progress.epoch, weights["w"] = epoch, epoch
        Trainer._select(progress, value)
    assert progress.best == {"epoch": kept, "value": values[kept]}
    assert progress.best_model == {"w": kept}
