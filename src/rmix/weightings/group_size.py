"""RMix's weights where groups are known: w = exp(C / sqrt(n_g)) (paper, section 4.3.1)."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import ClassVar

import numpy as np

from rmix.batch import Groups
from rmix.errors import InvalidValueError, require
from rmix.recipe import Facts, Needs, Weighting
from rmix.weightings.rule import WeightRule
from rmix.weightings.tables import ByGroup

LARGEST_EXPONENT = 80.0  # exp(88.7) overflows float32
LARGEST_RATIO = 20.0  # where none is asked for: a handful of rows should not become the training set


@dataclass(frozen=True)
class GroupRule(WeightRule):
    """A rule that gives every group one weight, and rows in no group weight 1 before scaling."""

    @property
    def groups(self) -> Groups:
        return Groups.TRAIN

    def prepare(self, facts: Facts) -> Needs[Weighting]:
        members, rows = facts.known_groups()
        present = members > 0  # a group without training rows is never looked up
        weight = np.ones(len(members) + 1)
        weight[:-1][present] = self.by_size(members[present])
        in_no_group = facts.n - rows.sum()
        return ByGroup(self.scaled(weight, np.append(rows, in_no_group)))
        yield  # no stage is needed

    def by_size(self, members: np.ndarray) -> np.ndarray:
        """Weights from group sizes, all > 0."""
        raise NotImplementedError


@dataclass(frozen=True)
class GroupSize(GroupRule):
    """``exp(C / sqrt(n_g))``, with C given or solved.

    Args:
        capacity: the paper's C, "model capacity constant"; it depends strongly on the group sizes.
        ratio: largest over smallest weight, from which C is solved where ``capacity`` is None; None = that of the
            largest over the smallest group, at most 20.

    Example:
        >>> GroupSize(capacity=10.0).by_size(np.array([3498, 184, 56, 1057])).round(2).tolist()
        [1.18, 2.09, 3.8, 1.36]
        >>> w = GroupSize(ratio=20.0).by_size(np.array([3498, 184, 56, 1057]))
        >>> round(float(w.max() / w.min()), 6)
        20.0
    """

    capacity: float | None = None
    ratio: float | None = None
    name: ClassVar[str] = "group_size"

    def __post_init__(self) -> None:
        super().__post_init__()
        require(
            self.capacity is None or 0 <= self.capacity < inf,
            f"capacity (C) must be >= 0 and finite, got {self.capacity} ({self.name})",
        )
        require(
            self.ratio is None or 1 <= self.ratio < inf,
            f"ratio must be >= 1 and finite, got {self.ratio} ({self.name})",
        )

    def by_size(self, members: np.ndarray) -> np.ndarray:
        root = 1 / np.sqrt(members)
        capacity = self._solved(root, members) if self.capacity is None else self.capacity
        exponent = capacity * root
        if exponent.max() > LARGEST_EXPONENT:
            raise InvalidValueError(
                f"exp(C / sqrt(n_g)) overflows: C = {capacity:.4g} and n_g = {members.min()} give "
                f"exp({exponent.max():.1f}); use a smaller capacity or ratio."
            )
        weight: np.ndarray = np.exp(exponent)
        return weight

    def _solved(self, root: np.ndarray, members: np.ndarray) -> float:
        unequal = float(members.max() / members.min())
        ratio = min(unequal, LARGEST_RATIO) if self.ratio is None else self.ratio
        if ratio == 1:
            return 0.0
        spread = root.max() - root.min()
        if spread == 0:
            raise InvalidValueError(
                f"A weight ratio of {ratio} cannot be reached: every group has {members[0]} rows; "
                "use ratio=1 or give capacity."
            )
        return float(np.log(ratio) / spread)
