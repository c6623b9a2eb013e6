"""Training on a part of the training split, the same part in every epoch, stage and run."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor

from rmix.batch import Groups
from rmix.errors import DataError, HiddenGroupsError, require
from rmix.recipe import Rows, Sampler
from rmix.streams import stream


@dataclass(frozen=True)
class HeldOut(Sampler):
    """Draw from the rows that are held out; :class:`Rest` draws from the others.

    Args:
        share: of each class (or group) that is held out: at least one row of it, and never all
            unless there is only one.
        seed: of the split; it does not change with the seed of the run.
        by_group: share out by group instead of by class; reads group labels.
        sampler: how rows are drawn from the part.

    Example:
        >>> rows = Rows(torch.tensor([0] * 8 + [1] * 2))
        >>> part = HeldOut(share=0.25)(rows, np.random.default_rng(0), 4)
        >>> rows.y[part].sort().values.tolist()
        [0, 0, 1]
    """

    share: float = 0.2
    seed: int = 0
    by_group: bool = False
    sampler: Sampler = field(default_factory=Sampler)
    name: ClassVar[str] = "held_out"

    def __post_init__(self) -> None:
        require(0 < self.share < 1, f"The held-out share must lie between 0 and 1, got {self.share} ({self.name})")

    @property
    def groups(self) -> Groups:
        """Where it reads group labels, for the split or for drawing."""
        return self.sampler.groups | (Groups.TRAIN if self.by_group else Groups.NONE)

    def __call__(self, rows: Rows, rng: np.random.Generator, size: int) -> Tensor:
        part = torch.from_numpy(np.flatnonzero(self.mine(self.mask(rows))))
        if not len(part):
            raise DataError(f"Holding out {self.share} of {len(rows)} rows leaves none to train on ({self.name}).")
        shown = Rows(rows.y[part], None if rows.group is None else rows.group[part])
        return part[self.sampler(shown, rng, size)]

    def mine(self, held: np.ndarray) -> np.ndarray:
        """The rows to draw from, of all rows and which of them are held out, (n,) bool."""
        return held

    def mask(self, rows: Rows) -> np.ndarray:
        """Which rows are held out, (n,) bool."""
        kind = rows.group if self.by_group else rows.y
        if kind is None:
            raise HiddenGroupsError("Holding out a share of each group reads group labels, which are hidden.")
        shuffle = stream(self.seed, "held out").permutation(len(rows))
        shuffled = kind.cpu().numpy()[shuffle]
        held = np.zeros(len(rows), dtype=bool)
        for one in np.unique(shuffled):
            members = shuffle[shuffled == one]
            held[members[: min(max(1, round(self.share * len(members))), max(1, len(members) - 1))]] = True
        return held


@dataclass(frozen=True)
class Rest(HeldOut):
    """Draw from the rows that :class:`HeldOut` with the same settings leaves."""

    name: ClassVar[str] = "rest"

    def mine(self, held: np.ndarray) -> np.ndarray:
        return ~held
