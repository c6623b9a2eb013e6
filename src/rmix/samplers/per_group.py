"""Batches that hold equally many rows of each of their groups."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor

from rmix.batch import Groups
from rmix.errors import HiddenGroupsError, require
from rmix.recipe import Rows, Sampler


@dataclass(frozen=True)
class PerGroup(Sampler):
    """As many batches as a shuffle has, all of them full, each with equally many rows of every group.

    Groups alternate within a batch, so any stretch of it is balanced too; where the batch size is no
    multiple of the number of groups, some groups have one row more. The rows of a group come in random
    order, all of them before one comes again. Rows in no group are left out.

    Args:
        groups_per_batch: draw that many groups, without replacement, for each batch; None = all.

    Example:
        >>> group = torch.tensor([0, 0, 0, 0, 0, 1])
        >>> order = PerGroup()(Rows(torch.zeros(6).long(), group), np.random.default_rng(0), 2)
        >>> group[order].view(3, 2).sum(1).tolist()
        [1, 1, 1]
    """

    groups_per_batch: int | None = None
    name: ClassVar[str] = "per_group"

    def __post_init__(self) -> None:
        k = self.groups_per_batch
        require(k is None or k >= 1, f"groups_per_batch must be >= 1, got {k} ({self.name})")

    @property
    def groups(self) -> Groups:
        return Groups.TRAIN

    def __call__(self, rows: Rows, rng: np.random.Generator, size: int) -> Tensor:
        if rows.group is None:
            raise HiddenGroupsError("Sampling batches per group reads group labels, which are hidden.")
        group = rows.group.cpu().numpy()
        present = np.unique(group[group >= 0])
        require(len(present) > 0, f"none of the {len(group)} training rows is in a group ({self.name})")
        slots = self._slots(len(present), -(-len(group) // size), size, rng)
        order = np.empty(len(slots), dtype=np.int64)
        for number, g in enumerate(present):
            places = np.flatnonzero(slots == number)
            order[places] = _again_and_again(np.flatnonzero(group == g), len(places), rng)
        return torch.from_numpy(order)

    def _slots(self, n_groups: int, batches: int, size: int, rng: np.random.Generator) -> np.ndarray:
        """Which group each place of an epoch belongs to, (batches * size,)."""
        drawn = rng.permuted(np.tile(np.arange(n_groups), (batches, 1)), axis=1)[:, : self.groups_per_batch]
        return drawn[:, np.arange(size) % drawn.shape[1]].ravel()


def _again_and_again(rows: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    """``n`` of the rows: all in random order, then all in another."""
    return rng.permuted(np.tile(rows, (-(-n // len(rows)), 1)), axis=1).ravel()[:n]
