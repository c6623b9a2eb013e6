"""The focal loss: rows that are already right count less."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

import torch
from torch import Tensor

from rmix.errors import require
from rmix.recipe import cross_entropy


@dataclass(frozen=True)
class Focal:
    """Cross entropy times ``(1 - p)^gamma``, with p the probability of the true class.

    Args:
        gamma: 0 is cross entropy.

    Example:
        >>> Focal(2.0)(torch.zeros(1, 2), torch.tensor([0])).item()  # log(2) / 4
        0.1732867956161499
    """

    gamma: float

    def __post_init__(self) -> None:
        require(0 <= self.gamma < inf, f"gamma must be >= 0 and finite, got {self.gamma}")

    def __call__(self, logits: Tensor, y: Tensor) -> Tensor:
        loss = cross_entropy(logits, y)
        doubt = -torch.expm1(-loss)  # 1 - p
        # a power below 1 has an infinite slope at 0, where rows that are certain lie
        doubt = doubt.clamp(min=torch.finfo(loss.dtype).tiny)
        return doubt**self.gamma * loss
