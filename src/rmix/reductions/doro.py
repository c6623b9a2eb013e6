"""Distributionally and outlier robust: the worst case without the very largest losses."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from rmix.errors import require
from rmix.reductions.chi_square import ChiSquare
from rmix.reductions.cvar import check_alpha
from rmix.reductions.ratio import ratio
from rmix.reductions.worst_case import WorstCase, band


@dataclass(frozen=True)
class CVaRDORO(WorstCase):
    """CVaR of what is left without the share ``eps`` of largest losses.

    Args:
        alpha: the share of what is left that counts.
        eps: the share taken for outliers.
        whole_rows: round both ends of the counted ranks down to whole rows but divide by the exact
            number of rows, as published; a batch may then have none that counts, and a loss of 0.
    """

    alpha: float
    eps: float
    whole_rows: bool = False

    def __post_init__(self) -> None:
        check_alpha(self.alpha)
        check_eps(self.eps)

    def density(self, loss: Tensor, mass: Tensor) -> Tensor:
        total = mass.sum()
        start = self.eps * total
        stop = (self.eps + self.alpha * (1 - self.eps)) * total
        if self.whole_rows:
            start, stop = start.floor(), stop.floor()
        taken = band(loss, mass, start, stop)
        return ratio(taken, mass) * ratio(total, self.alpha * (total - start))


@dataclass(frozen=True)
class ChiSquareDORO(WorstCase):
    """The chi-square worst case of what is left without the share ``eps`` of largest losses.

    Args:
        radius: of the ball around what is left.
        eps: the share taken for outliers.
        whole_rows: round that share down to whole rows, as published.
    """

    radius: float
    eps: float
    whole_rows: bool = False

    def __post_init__(self) -> None:
        ChiSquare(self.radius)  # refuses a bad radius
        check_eps(self.eps)

    def density(self, loss: Tensor, mass: Tensor) -> Tensor:
        total = mass.sum()
        dropped = self.eps * total
        if self.whole_rows:
            dropped = dropped.floor()
        left = mass - band(loss, mass, total.new_zeros(()), dropped)
        return ChiSquare(self.radius).density(loss, left) * ratio(left, mass) * ratio(total, left.sum())


def check_eps(eps: float) -> None:
    """A share of outliers is at least 0 and leaves something."""
    require(0 <= eps < 1, f"eps must be >= 0 and < 1, got {eps}")
