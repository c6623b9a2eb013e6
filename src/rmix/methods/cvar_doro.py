"""CVaR-DORO: learn from large losses, but not from the largest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from rmix.methods.base import Method
from rmix.methods.space import Space, log_uniform
from rmix.recipe import Facts, Recipe
from rmix.reductions import CVaRDORO as LargeLosses


@dataclass(frozen=True)
class CVaRDORO(Method):
    """Minimise the mean of large losses, without the very largest.

    Paper: Zhai et al., DORO: Distributional and outlier robust optimization, ICML 2021.
    Idea: The largest losses of CVaR are where outliers and wrong labels gather, and they make it unstable; so
        a small share of them is taken out before the worst case is.
    Sees: No group labels.
    Cost: One forward and one backward pass a step. Measured: 1.1 of an ERM update.
    Deviations: Shares of a batch are exact; `whole_rows` rounds them down to rows, as published. The
        defaults are the published evaluation's; none are published for training.
    Reference numbers: The paper's worst group: Waterbirds 77.0 ± 2.8, CelebA 75.6 ± 4.2, CivilComments 64.1 ± 1.4.

    Args:
        alpha: the share that counts, of what is left.
        eps: the share taken for outliers; with alpha = 1 and eps = 0 it is ERM.
        whole_rows: count whole rows, as published; small batches may then have none that counts.
    """

    name: ClassVar[str] = "cvar_doro"
    erm_limit: ClassVar[Mapping[str, Any]] = {"alpha": 1.0, "eps": 0.0, "whole_rows": False}
    space: ClassVar[Space] = {"alpha": log_uniform(0.01, 1), "eps": log_uniform(0.001, 0.2)}
    alpha: float = 0.2
    eps: float = 0.005
    whole_rows: bool = False

    def __post_init__(self) -> None:
        self._reduction()  # a bad setting is refused where it is written down

    def recipe(self, facts: Facts) -> Recipe:
        return Recipe(reduction=self._reduction())

    def _reduction(self) -> LargeLosses:
        return LargeLosses(self.alpha, self.eps, self.whole_rows)
