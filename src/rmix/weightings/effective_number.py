"""Weights from the effective number of a group's rows (Cui et al., 2019)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rmix.errors import require
from rmix.weightings.group_size import GroupRule


@dataclass(frozen=True)
class EffectiveNumber(GroupRule):
    """``(1 - beta) / (1 - beta ** n_g)``, scaled so that the mean over groups is one.

    Rows overlap in what they show, so the n-th row of a group adds ``beta`` times what the one before
    it added; weights are inverse to the sum.

    Args:
        beta: 0 counts every group alike whatever its size; towards 1 the weights become inverse sizes.

    Example:
        >>> EffectiveNumber(beta=0.5).by_size(np.array([1, 2])).round(3).tolist()  # 1 and 1 + 1/2 rows
        [1.2, 0.8]
    """

    beta: float = 0.9999
    name: ClassVar[str] = "effective_number"

    def __post_init__(self) -> None:
        super().__post_init__()
        require(0 <= self.beta < 1, f"beta must be in [0, 1), got {self.beta} ({self.name})")

    def by_size(self, members: np.ndarray) -> np.ndarray:
        weight: np.ndarray = (1 - self.beta) / (1 - self.beta ** members.astype(float))
        return weight / float(weight.mean())
