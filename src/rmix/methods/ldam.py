"""Label-distribution-aware margins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from rmix.losses import ClassMargins
from rmix.methods.base import Method
from rmix.methods.space import Choice, Space, log_uniform
from rmix.recipe import Facts, Recipe


@dataclass(frozen=True)
class LDAM(Method):
    """Small classes must be right by a larger margin.

    Paper: Cao et al., Learning imbalanced datasets with label-distribution-aware margin loss, NeurIPS 2019.
    Idea: The best trade-off between the margins of two classes gives the smaller one more, in proportion to
        the fourth root of its size; groups within a class are not told apart.
    Sees: No group labels.
    Cost: One forward and one backward pass a step. Measured: 1.0 of an ERM update.
    Deviations: The last layer is an ordinary one rather than a cosine, and no reweighting follows later, as in
        the published comparisons on subpopulations. An ordinary layer sets its own scale, so `scale` is 1;
        the published 30 is for cosines, and here it would make every step as much larger.
    Reference numbers: None in the paper.

    Args:
        max_margin: of the smallest class.
        scale: how sharp the softmax is; it multiplies the gradients too.
    """

    name: ClassVar[str] = "ldam"
    erm_limit: ClassVar[Mapping[str, Any]] = {"max_margin": 0.0, "scale": 1.0}
    space: ClassVar[Space] = {"max_margin": log_uniform(0.1, 0.8), "scale": Choice((1.0, 10.0, 30.0))}
    max_margin: float = 0.5
    scale: float = 1.0

    def __post_init__(self) -> None:
        self._loss((1,))  # a bad setting is refused where it is written down

    def recipe(self, facts: Facts) -> Recipe:
        return Recipe(loss=self._loss(facts.class_counts))

    def _loss(self, counts: tuple[int, ...]) -> ClassMargins:
        return ClassMargins(counts, self.max_margin, self.scale)
