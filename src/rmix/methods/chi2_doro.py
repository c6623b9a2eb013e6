"""Chi-square DORO: the worst mixture within a ball around the data without its outliers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from rmix.methods.base import Method
from rmix.methods.space import Space, log_uniform
from rmix.recipe import Facts, Recipe
from rmix.reductions import ChiSquareDORO, radius_of


@dataclass(frozen=True)
class Chi2DORO(Method):
    """Minimise the worst case over a chi-square ball, without the very largest losses.

    Paper: Zhai et al., DORO: Distributional and outlier robust optimization, ICML 2021.
    Idea: As `chi2_dro`, after a small share of the largest losses, taken for outliers, has been left out.
    Sees: No group labels.
    Cost: One forward and one backward pass a step. Measured: 1.1 of an ERM update.
    Deviations: The threshold is solved exactly, and the share of outliers is exact; `whole_rows` rounds it down
        to rows, as published. No default of alpha is published; eps is that of the published evaluation.
    Reference numbers: The paper's worst group: Waterbirds 76.0 ± 3.1, CelebA 75.6 ± 3.4, CivilComments 63.8 ± 0.8.

    Args:
        alpha: the smallest share of the data that a group may have.
        eps: the share taken for outliers; with alpha = 1 and eps = 0 it is ERM.
        radius: of the ball, instead of the (1 / alpha - 1)^2 / 2 that follows from alpha.
        whole_rows: leave out whole rows, as published.
    """

    name: ClassVar[str] = "chi2_doro"
    erm_limit: ClassVar[Mapping[str, Any]] = {"alpha": 1.0, "eps": 0.0, "radius": None}
    space: ClassVar[Space] = {"alpha": log_uniform(0.1, 1), "eps": log_uniform(0.001, 0.2)}
    alpha: float = 0.5
    eps: float = 0.005
    radius: float | None = None
    whole_rows: bool = False

    def __post_init__(self) -> None:
        self._reduction()  # a bad setting is refused where it is written down

    def recipe(self, facts: Facts) -> Recipe:
        return Recipe(reduction=self._reduction())

    def _reduction(self) -> ChiSquareDORO:
        radius = radius_of(self.alpha) if self.radius is None else self.radius
        return ChiSquareDORO(radius, self.eps, self.whole_rows)
