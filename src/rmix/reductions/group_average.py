"""The mean of the groups' mean losses: every group of a batch counts alike, however many rows it has there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor

from rmix.batch import Mixed
from rmix.reductions.group_means import group_means
from rmix.reductions.ratio import ratio


@dataclass(frozen=True)
class GroupAverage:
    """Mean over the groups that the batch holds of their mean losses.

    Args:
        n_groups: how many groups there are.

    Example:
        >>> import torch
        >>> from rmix.batch import Batch, unmixed
        >>> y, group = torch.zeros(3).long(), torch.tensor([0, 0, 2])
        >>> batch = Batch(torch.zeros(3, 1), y, torch.arange(3), torch.ones(3), group)
        >>> GroupAverage(3)([torch.tensor([1.0, 3.0, 8.0])], unmixed(batch)).item()  # (2 + 8) / 2
        5.0
    """

    n_groups: int

    def __call__(self, losses: Sequence[Tensor], mixed: Mixed) -> Tensor:
        means, mass = group_means(losses, mixed, self.n_groups)
        return ratio(means.sum(), (mass > 0).sum().to(means))
