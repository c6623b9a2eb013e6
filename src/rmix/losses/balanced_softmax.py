"""The balanced softmax: logits learn what is left after the sizes of the classes."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

import torch
from torch import Tensor

from rmix.errors import require
from rmix.recipe import cross_entropy


class BalancedSoftmax:
    """Cross entropy of ``logits + tau * log(count)``; the logits alone then predict as if classes were equal.

    A class without rows has probability 0.

    Args:
        counts: training rows of each class.
        tau: 1 is the balanced softmax, 0 cross entropy; between them, logit adjustment.

    Example:
        >>> loss = BalancedSoftmax([3, 1], tau=1.0)
        >>> loss(torch.zeros(1, 2), torch.tensor([1])).exp().item()  # one row in four
        4.0
    """

    def __init__(self, counts: Sequence[int], tau: float = 1.0) -> None:
        require(0 <= tau < inf, f"tau must be >= 0 and finite, got {tau}")
        size = torch.tensor(counts, dtype=torch.float64)
        self.offset = tau * size.log() if tau else torch.zeros_like(size)  # (n_classes,); 0 * log(0) is no number

    def __call__(self, logits: Tensor, y: Tensor) -> Tensor:
        return cross_entropy(logits + self.offset.to(logits), y)
