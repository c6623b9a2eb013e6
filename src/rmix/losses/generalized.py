"""Cross entropy that listens to rows it already gets right."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from rmix.errors import require
from rmix.recipe import cross_entropy


@dataclass(frozen=True)
class GeneralizedCrossEntropy:
    """``(1 - p ** q) / q`` of the probability p of a row's class (Zhang & Sabuncu, 2018).

    Its gradient is that of cross entropy times ``p ** q``: rows that seem unlikely hardly count. So it
    resists wrong labels, and follows a shortcut with all its might.

    Args:
        q: towards 0 it is cross entropy, at 1 it is 1 - p.

    Example:
        >>> GeneralizedCrossEntropy(q=0.5)(torch.zeros(1, 4), torch.tensor([2])).item()  # (1 - 1/2) / 0.5
        1.0
    """

    q: float = 0.7
    name: ClassVar[str] = "generalized_cross_entropy"

    def __post_init__(self) -> None:
        require(0 < self.q <= 1, f"q must be in (0, 1], got {self.q} ({self.name})")

    def __call__(self, logits: Tensor, y: Tensor) -> Tensor:
        """The loss of each row, (n,)."""
        return -torch.expm1(-self.q * cross_entropy(logits, y)) / self.q
