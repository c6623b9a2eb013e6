"""A method of your own: a frozen dataclass of numbers that gives a recipe.

This one bounds the loss of a row, as robust statistics would, and so gives the small groups up: look
at its worst group.
"""

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

import rmix
from rmix.recipe import Facts, Recipe, cross_entropy


@dataclass(frozen=True)
class ClippedLoss(rmix.Method):
    """Bound how much a single row can cost.

    Paper: none, an example.
    Idea: A row that cannot be learned, such as one with a wrong label, should not lead the rest.
    Sees: No group labels.
    Cost: One forward and one backward pass a step.
    Deviations: None.
    Reference numbers: None.
    """

    name: ClassVar[str] = "clipped_loss"
    largest: float = 3.0

    def recipe(self, facts: Facts) -> Recipe:
        def clipped(logits: Tensor, y: Tensor) -> Tensor:
            return self.largest * torch.tanh(cross_entropy(logits, y) / self.largest)

        return Recipe(loss=clipped)


result = rmix.train("moons", ClippedLoss(largest=2.0), training={"epochs": 10}).result
print(f"average {result.test.average:.3f}, worst group {result.test.worst:.3f}")
