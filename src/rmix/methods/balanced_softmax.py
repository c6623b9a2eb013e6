"""The balanced softmax."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from rmix.losses import BalancedSoftmax as BalancedLoss
from rmix.methods.base import Method
from rmix.methods.space import Space, Uniform
from rmix.recipe import Facts, Recipe


@dataclass(frozen=True)
class BalancedSoftmax(Method):
    """Take the sizes of the classes out of what the logits learn.

    Paper: Ren et al., Balanced meta-softmax for long-tailed visual recognition, NeurIPS 2020.
    Idea: In training the log of its size is added to the logit of every class; what the logits learn is
        then right for classes of equal size. Groups within a class are not told apart.
    Sees: No group labels.
    Cost: One forward and one backward pass a step. Measured: 1.0 of an ERM update.
    Deviations: No meta-sampler, as in the published comparisons on subpopulations.
    Reference numbers: None in the paper.

    Args:
        tau: 1 is the balanced softmax, 0 is ERM; other values are the adjusted loss of Menon et al., ICLR 2021.
    """

    name: ClassVar[str] = "balanced_softmax"
    erm_limit: ClassVar[Mapping[str, Any]] = {"tau": 0.0}
    space: ClassVar[Space] = {"tau": Uniform(0.5, 2.0)}
    tau: float = 1.0

    def __post_init__(self) -> None:
        BalancedLoss((1,), self.tau)  # a bad setting is refused where it is written down

    def recipe(self, facts: Facts) -> Recipe:
        return Recipe(loss=BalancedLoss(facts.class_counts, self.tau))
