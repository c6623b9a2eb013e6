"""CVaR-DRO: learn from the largest losses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from rmix.methods.base import Method
from rmix.methods.space import Space, log_uniform
from rmix.recipe import Facts, Recipe
from rmix.reductions import CVaR


@dataclass(frozen=True)
class CVaRDRO(Method):
    """Minimise the mean of the largest losses of a batch.

    Paper: Levy et al., Large-scale methods for distributionally robust optimization, NeurIPS 2020; the risk
        is that of Rockafellar & Uryasev, Journal of Risk, 2000.
    Idea: Whatever the groups are, one that makes up the share alpha of the data has at most the mean of the
        share alpha of largest losses; so that mean is what is minimised. Outliers and noise lie there too.
    Sees: No group labels.
    Cost: One forward and one backward pass a step. Measured: 1.1 of an ERM update.
    Deviations: None; `whole_rows` is the form of DORO's code, which takes the largest int(alpha n) losses. The default
        of alpha is that of SubpopBench (Yang et al., ICML 2023).
    Reference numbers: The paper's worst group: Waterbirds 77.2 ± 2.2, CelebA 76.9 ± 3.1, CivilComments 62.3 ± 0.7.

    Args:
        alpha: the share of a batch that counts; 1 is ERM.
        whole_rows: round it down to whole rows, but at least one.
    """

    name: ClassVar[str] = "cvar_dro"
    erm_limit: ClassVar[Mapping[str, Any]] = {"alpha": 1.0}
    space: ClassVar[Space] = {"alpha": log_uniform(0.01, 1)}
    alpha: float = 0.1
    whole_rows: bool = False

    def __post_init__(self) -> None:
        self._reduction()  # a bad setting is refused where it is written down

    def recipe(self, facts: Facts) -> Recipe:
        return Recipe(reduction=self._reduction())

    def _reduction(self) -> CVaR:
        return CVaR(self.alpha, self.whole_rows)
