"""Conditional value at risk: the mean of the largest losses."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from rmix.errors import require
from rmix.reductions.ratio import ratio
from rmix.reductions.worst_case import WorstCase, band


@dataclass(frozen=True)
class CVaR(WorstCase):
    """Mean of the share ``alpha`` of the batch that has the largest losses.

    Args:
        alpha: the share; 1 is the average.
        whole_rows: round the share down to whole rows, but at least one; otherwise the last row
            counts with the fraction of it that lies in the share.

    Example:
        >>> import torch
        >>> CVaR(0.5).density(torch.tensor([1.0, 4.0, 2.0]), torch.ones(3)).tolist()  # 1.5 rows of 3
        [0.0, 2.0, 1.0]
    """

    alpha: float
    whole_rows: bool = False

    def __post_init__(self) -> None:
        check_alpha(self.alpha)

    def density(self, loss: Tensor, mass: Tensor) -> Tensor:
        total = mass.sum()
        stop = self.alpha * total
        if self.whole_rows:
            stop = stop.floor().clamp(min=1)
        taken = band(loss, mass, total.new_zeros(()), stop)
        return ratio(taken, mass) * ratio(total, taken.sum())


def check_alpha(alpha: float) -> None:
    """A share of the batch is above 0 and at most 1."""
    require(0 < alpha <= 1, f"alpha must be > 0 and <= 1, got {alpha}")
