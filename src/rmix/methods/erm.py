"""Empirical risk minimisation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from rmix.methods.base import Method
from rmix.recipe import Facts, Recipe


@dataclass(frozen=True)
class ERM(Method):
    """Minimise the average loss, whoever it is made of.

    Paper: Vapnik, Principles of risk minimization for learning theory, NeurIPS 1991.
    Idea: Every row counts alike, so a small group counts little: the baseline of every table.
    Sees: No group labels.
    Cost: One forward and one backward pass a step.
    Deviations: None.
    Reference numbers: The paper's worst group: Waterbirds 63.7 ± 1.9, CelebA 47.8 ± 3.7, CivilComments 56.0 ± 3.6.
    """

    name: ClassVar[str] = "erm"
    erm_limit: ClassVar[Mapping[str, Any]] = {}

    def recipe(self, facts: Facts) -> Recipe:
        return Recipe()
