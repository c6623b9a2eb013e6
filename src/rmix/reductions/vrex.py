"""V-REx: the mean of the groups' losses, and a penalty on their variance."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import ClassVar

import torch
from torch import Tensor

from rmix.batch import Mixed
from rmix.errors import require
from rmix.recipe import Remembers
from rmix.reductions.group_means import group_means
from rmix.reductions.ratio import ratio


class VREx(Remembers):
    """Mean of the losses of the groups in the batch, plus their variance times a penalty.

    Args:
        n_groups: how many groups there are.
        penalty: what the variance is multiplied with after the first ``anneal`` steps; 1 before.
        anneal: steps before the penalty counts in full.
    """

    memory: ClassVar[tuple[str, ...]] = ("steps",)

    def __init__(self, n_groups: int, penalty: float, anneal: int) -> None:
        require(0 <= penalty < inf, f"penalty must be >= 0 and finite, got {penalty}")
        require(anneal >= 0, f"anneal must be >= 0, got {anneal}")
        self.n_groups, self.penalty, self.anneal = n_groups, penalty, anneal
        self.steps = torch.tensor(0)

    def __call__(self, losses: Sequence[Tensor], mixed: Mixed) -> Tensor:
        means, mass = group_means(losses, mixed, self.n_groups)
        present = (mass > 0).to(means)
        count = present.sum()
        mean = ratio(means.sum(), count)
        variance = ratio((present * (means - mean) ** 2).sum(), count)
        penalty = self.penalty if self.steps >= self.anneal else 1.0
        self.steps = self.steps + 1
        return mean + penalty * variance
