"""The worst case over a chi-square ball around the batch, solved exactly."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

import torch
from torch import Tensor

from rmix.errors import require
from rmix.reductions.cvar import check_alpha
from rmix.reductions.ratio import ratio
from rmix.reductions.worst_case import WorstCase


def radius_of(alpha: float) -> float:
    """The radius whose ball holds every mixture of groups of at least the share ``alpha`` (Hashimoto et al., 2018).

    Example:
        >>> radius_of(0.5)
        0.5
    """
    check_alpha(alpha)
    return (1 / alpha - 1) ** 2 / 2


@dataclass(frozen=True)
class ChiSquare(WorstCase):
    """Largest average under densities r with mean((r - 1)^2) / 2 <= ``radius``.

    Its dual is ``min over eta of C * sqrt(mean(relu(loss - eta)^2)) + eta`` with C^2 = 1 + 2 * radius,
    and the best density is relu(loss - eta), scaled to mean one. Which rows lie above eta follows from
    the sign of the dual's slope at every loss; given those, eta is the root of a quadratic.

    Args:
        radius: of the ball; 0 is the average. See :func:`radius_of`.

    Example:
        >>> ChiSquare(0.5).density(torch.tensor([0.0, 1.0]), torch.ones(2)).tolist()
        [0.0, 2.0]
    """

    radius: float

    def __post_init__(self) -> None:
        require(0 <= self.radius < inf, f"radius must be >= 0 and finite, got {self.radius}")

    def density(self, loss: Tensor, mass: Tensor) -> Tensor:
        depth = torch.where(mass > 0, loss, loss.min()).max() - loss  # below the largest loss that counts
        above = depth <= self._reach(depth, mass)
        inside = torch.where(above, mass, 0)
        share = ratio(inside.sum(), mass.sum())
        height = ratio((inside * depth).sum(), inside.sum()) - depth  # above the mean of those above eta
        variance = ratio((inside * height**2).sum(), inside.sum())
        steepness = ratio(((1 + 2 * self.radius) * share - 1).clamp(min=0), variance).sqrt()
        return torch.where(above, ratio((1 + height * steepness).clamp(min=0), share), 0)

    def _reach(self, depth: Tensor, mass: Tensor) -> Tensor:
        """Depth of the lowest loss at which the dual still rises: eta lies below it, and above the next."""
        order = depth.argsort(stable=True)
        at, weight = depth[order], mass[order]
        sums = weight.cumsum(0), (weight * at).cumsum(0), (weight * at**2).cumsum(0)
        first = at * sums[0] - sums[1]  # sum of relu(loss - eta) for eta at each loss
        second = at * (at * sums[0] - 2 * sums[1]) + sums[2]  # sum of its square
        rises = (1 + 2 * self.radius) * first**2 <= second * mass.sum()
        return torch.where(rises, at, 0).max()
