"""Online group DRO: weights of groups that follow their losses."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor

from rmix.batch import Mixed
from rmix.errors import require
from rmix.recipe import Remembers
from rmix.reductions.group_means import group_means
from rmix.reductions.ratio import ratio


class GroupDRO(Remembers):
    """Sum over groups of weight times mean loss; every step moves weight to groups of high loss.

    A group that a batch lacks has loss 0 there: its weight does not grow, and shrinks as all weights
    are scaled to sum to one. A group without a training row weighs nothing. The adjustment moves the
    weights only, so it does not appear in the loss.

    Args:
        rows: training rows of each group (n_groups,).
        eta: step size of the weights.
        adjustment: C of the bonus C / sqrt(rows) that a group's loss gets, so that small groups,
            which generalise worse, weigh more.
        normalise: divide the adjusted losses by their sum before they move the weights.
    """

    memory: ClassVar[tuple[str, ...]] = ("weight",)

    def __init__(self, rows: np.ndarray, eta: float, adjustment: float = 0.0, normalise: bool = False) -> None:
        require(0 <= eta < inf, f"eta must be >= 0 and finite, got {eta}")
        require(0 <= adjustment < inf, f"adjustment must be >= 0 and finite, got {adjustment}")
        self.eta, self.normalise = eta, normalise
        self.bonus = torch.from_numpy(adjustment / np.sqrt(np.maximum(rows, 1)))
        self.weight = torch.from_numpy((rows > 0) / np.count_nonzero(rows))  # (n_groups,), sums to one

    def __call__(self, losses: Sequence[Tensor], mixed: Mixed) -> Tensor:
        means, _ = group_means(losses, mixed, len(self.weight))
        self.weight = self._moved(means.detach())
        return (self.weight * means).sum()

    def _moved(self, means: Tensor) -> Tensor:
        pull = means + self.bonus.to(means)
        if self.normalise:
            pull = ratio(pull, pull.sum())
        weight = self.weight.to(means) * torch.exp(self.eta * (pull - pull.max()))  # the largest is 1: no overflow
        return weight / weight.sum()
