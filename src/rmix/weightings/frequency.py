"""Classical importance weights: inverse to the size of the group."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import ClassVar

import numpy as np

from rmix.errors import require
from rmix.weightings.group_size import GroupRule


@dataclass(frozen=True)
class InverseFrequency(GroupRule):
    """``n_g ** -power``, scaled so that the mean over groups is one.

    Args:
        power: 1 counts every group alike; 0.5 is the square-root variant.

    Example:
        >>> InverseFrequency().by_size(np.array([30, 10])).tolist()
        [0.5, 1.5]
    """

    power: float = 1.0
    name: ClassVar[str] = "inverse_frequency"

    def __post_init__(self) -> None:
        super().__post_init__()
        require(0 <= self.power < inf, f"power must be >= 0 and finite, got {self.power} ({self.name})")

    def by_size(self, members: np.ndarray) -> np.ndarray:
        weight: np.ndarray = members.astype(float) ** -self.power
        return weight / float(weight.mean())
