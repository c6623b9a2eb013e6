"""Sampling every group alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor

from rmix.batch import Groups
from rmix.errors import HiddenGroupsError
from rmix.recipe import Rows, Sampler


@dataclass(frozen=True)
class Balanced(Sampler):
    """Draw n rows an epoch with replacement, each group equally likely.

    Rows in no group count as one more group.
    """

    name: ClassVar[str] = "balanced"

    @property
    def groups(self) -> Groups:
        return Groups.TRAIN

    def __call__(self, rows: Rows, rng: np.random.Generator, size: int) -> Tensor:
        if rows.group is None:
            raise HiddenGroupsError("Balanced sampling reads group labels, which are hidden.")
        _, code, count = np.unique(rows.group.cpu().numpy(), return_inverse=True, return_counts=True)
        chance = (1 / count)[code] / len(count)
        return torch.from_numpy(rng.choice(len(rows), size=len(rows), p=chance))
