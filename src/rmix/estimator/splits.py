"""From checked rows to the bundle that the trainer takes: classes, the validation split, weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from rmix.datasets.base import Bundle, Split
from rmix.errors import DataError
from rmix.estimator.inputs import Scaling
from rmix.estimator.sensitive import Grouped
from rmix.metrics import GroupTable
from rmix.recipe import Rows
from rmix.samplers import HeldOut
from rmix.training.selection import Rule

TIE = 1e-9  # an epoch; no two accuracies are that close


@dataclass(frozen=True)
class Latest(Rule):
    """A rule that keeps the last of equal epochs, where the library keeps the first, and may stop early.

    A few held-out rows are soon all right, long before the training is over.

    Args:
        patience: epochs without a larger value after which training ends; None = never.
    """

    patience: int | None = None

    def value(self, table: GroupTable, epoch: int) -> float:
        return super().value(table, epoch) + TIE * epoch

    def enough(self, history: Sequence[dict[str, Any]]) -> bool:
        if self.patience is None or not history:
            return False
        values = [Rule.value(self, GroupTable.from_json(record["valid"]), record["epoch"]) for record in history]
        return len(values) - 1 - int(np.argmax(values)) >= self.patience


def rows_and_classes(y: np.ndarray, weight: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """The rows to train on, and their classes; rows of weight 0 are as good as absent."""
    rows = np.arange(len(y)) if weight is None else np.flatnonzero(weight)
    classes = np.unique(y[rows])
    if len(classes) < 2:
        of_them = f"one class only ({classes[0].item()!r})" if len(classes) else "no class"
        aside = "" if len(rows) == len(y) else f" besides {len(y) - len(rows)} rows of weight 0"
        raise DataError(f"y has {of_them} in {len(rows)} rows{aside}; two classes or more are needed to learn.")
    return rows, classes


def held_out(y: np.ndarray, group: np.ndarray | None, fraction: float, seed: int) -> np.ndarray:
    """Which rows validate, (n,) bool: that share of each class within each group, one at least where there are two.

    Example:
        >>> held_out(np.array([0] * 8 + [1] * 2 + [2]), None, 0.25, seed=0).nonzero()[0].size  # 2 + 1 + 0
        3
    """
    kind = y if group is None else (group + 1) * (y.max() + 1) + y
    _, kind, count = np.unique(kind, return_inverse=True, return_counts=True)
    held: np.ndarray = HeldOut(fraction, seed).mask(Rows(torch.from_numpy(kind))) & (count[kind] > 1)
    if not held.any():
        raise DataError(
            f"None of the {len(y)} rows can be held out for validation: each is alone in its class and group; "
            "say validation_fraction=None to train on all of them."
        )
    return held


def bundle_of(
    x: Any,
    y: np.ndarray,
    classes: np.ndarray,
    grouped: Grouped | None,
    weight: np.ndarray | None,
    held: np.ndarray | None,
    scaling: Scaling,
) -> Bundle:
    """The splits; where nothing is held out, one training row stands in for those that validate."""

    def split(rows: np.ndarray, weight: np.ndarray | None) -> Split:
        return Split(
            scaling(x[rows]),
            torch.from_numpy(y[rows]),
            None if grouped is None else torch.from_numpy(grouped.code[rows]),
            None if weight is None else torch.from_numpy((weight[rows] / weight[rows].mean()).astype(np.float32)),
        )

    train, valid = np.arange(len(y)), np.arange(1)
    if held is not None:
        train, valid = np.flatnonzero(~held), np.flatnonzero(held)
    validating = split(valid, None)
    names = () if grouped is None else grouped.names
    class_names = tuple(map(str, classes.tolist()))
    # where groups are not used, all rows of one may happen to be held out
    return Bundle("fit", split(train, weight), validating, validating, class_names, names, unseen_groups=True)
