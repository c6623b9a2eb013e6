"""Weightings that look a row's weight up: by its group, or by the row itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor

from rmix.batch import Batch
from rmix.recipe import Weighting


class Table(Weighting):
    """Weights to look up; a copy in the type and on the device of the batches is kept ready."""

    def __init__(self, table: np.ndarray) -> None:
        self.table = torch.from_numpy(table)  # float64
        self._ready = self.table

    def ready(self, like: Tensor) -> Tensor:
        """The table in the type and on the device of ``like``."""
        if self._ready.dtype != like.dtype or self._ready.device != like.device:
            self._ready = self.table.to(like)
        return self._ready


class ByGroup(Table):
    """One weight a group (n_groups + 1,); the last entry is for rows in no group, whose group is -1."""

    def __call__(self, batch: Batch) -> Tensor:
        return batch.weight * self.ready(batch.weight)[batch.known_group]

    def describe(self, member: np.ndarray) -> dict[str, Any]:
        return {"weight_by_group": self.table[:-1].tolist()}


class ByRow(Table):
    """One weight a training row (n,), with the quantities it came from for the reports."""

    def __init__(self, table: np.ndarray, origin: Mapping[str, np.ndarray] | None = None) -> None:
        super().__init__(table)
        self.origin = dict(origin or {})  # name -> (n,)

    def __call__(self, batch: Batch) -> Tensor:
        return batch.weight * self.ready(batch.weight).index_select(0, batch.index)

    def describe(self, member: np.ndarray) -> dict[str, Any]:
        table = self.table.numpy()
        by_group = [float(table[m].mean()) if m.any() else None for m in member.T]
        tallies = {name: tally(value, member) for name, value in self.origin.items()}
        return {"weight_by_group": by_group, **tallies}


def tally(value: np.ndarray, member: np.ndarray) -> dict[str, Any]:
    """How often each distinct value (n,) occurs in each group of ``member`` (n, n_groups).

    Example:
        >>> tally(np.array([0.0, 0.5, 0.5]), np.array([[True], [True], [True]]))
        {'values': [0.0, 0.5], 'counts': [[1, 2]]}
    """
    values, code = np.unique(value, return_inverse=True)
    counts = [np.bincount(code[m], minlength=len(values)).tolist() for m in member.T]
    return {"values": values.tolist(), "counts": counts}
