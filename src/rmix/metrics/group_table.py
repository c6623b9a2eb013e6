"""Correct and total per group: the only way a number of merit is counted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class GroupTable:
    """Correct and total, by group and over all rows.

    Always as long as there are groups, so groups keep their number; a group without a row has
    accuracy nan, never 0. Groups may overlap, or miss rows, so the rows are counted beside them.
    Tables of parts of the data add up to the table of the whole.

    Example:
        >>> hit = np.array([True, False, True])
        >>> table = GroupTable.of(hit, np.array([[True, False], [True, False], [False, True]]))
        >>> table.accuracy.tolist(), table.worst, round(table.average, 3)
        ([0.5, 1.0], 0.5, 0.667)
    """

    correct: tuple[int, ...]
    total: tuple[int, ...]
    rows_correct: int
    rows: int

    @classmethod
    def of(cls, hit: np.ndarray, member: np.ndarray | None) -> GroupTable:
        """From which rows were right (n,) bool, and membership (n, n_groups) bool or None."""
        if member is None:
            member = np.zeros((len(hit), 0), dtype=bool)
        columns = np.ascontiguousarray(member.T)  # booleans that lie together are counted many at a time
        correct = tuple(int(np.count_nonzero(column & hit)) for column in columns)
        total = tuple(int(np.count_nonzero(column)) for column in columns)
        return cls(correct, total, int(np.count_nonzero(hit)), len(hit))

    def __add__(self, other: GroupTable) -> GroupTable:
        def add(a: Sequence[int], b: Sequence[int]) -> tuple[int, ...]:
            return tuple(x + y for x, y in zip(a, b, strict=True))

        return GroupTable(
            add(self.correct, other.correct),
            add(self.total, other.total),
            self.rows_correct + other.rows_correct,
            self.rows + other.rows,
        )

    @property
    def n_groups(self) -> int:
        """Number of groups, empty ones included."""
        return len(self.total)

    @property
    def accuracy(self) -> np.ndarray:
        """Accuracy of each group, nan where it has no row."""
        total = np.array(self.total, dtype=float)
        accuracy: np.ndarray = np.divide(self.correct, total, out=np.full(len(total), np.nan), where=total > 0)
        return accuracy

    @property
    def average(self) -> float:
        """Accuracy over all rows."""
        return self.rows_correct / self.rows if self.rows else float("nan")

    def adjusted_average(self, train_counts: Sequence[int]) -> float:
        """Group accuracies weighted by the groups' shares of training.

        The two averages differ where a test set is balanced over groups and training is not; tables
        that mix them compare unlike things. nan where a group of the training split has no row here.

        Example:
            >>> GroupTable((1, 4), (2, 4), 5, 6).adjusted_average([10, 30])  # 1/4 * 0.5 + 3/4 * 1
            0.875
        """
        if not self.n_groups:
            return float("nan")
        share = np.array(train_counts, dtype=float)
        present = share > 0
        return float((share[present] * self.accuracy[present]).sum() / share.sum())

    @property
    def worst_group(self) -> int | None:
        """The group of lowest accuracy (the first of equals), None where no group has a row."""
        accuracy = self.accuracy
        return None if np.isnan(accuracy).all() else int(np.nanargmin(accuracy))

    @property
    def worst(self) -> float:
        """The lowest accuracy of a group that has rows."""
        return float("nan") if self.worst_group is None else float(self.accuracy[self.worst_group])

    @property
    def gap(self) -> float:
        """Average minus worst group."""
        return self.average - self.worst

    def to_json(self) -> dict[str, Any]:
        """Plain numbers."""
        return {name: list(v) if isinstance(v, tuple) else v for name, v in asdict(self).items()}

    @classmethod
    def from_json(cls, plain: dict[str, Any]) -> GroupTable:
        """Back from :meth:`to_json`."""
        return cls(tuple(plain["correct"]), tuple(plain["total"]), plain["rows_correct"], plain["rows"])
