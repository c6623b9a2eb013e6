"""Label-distribution-aware margins: small classes must be right by more."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

import numpy as np
import torch
from torch import Tensor

from rmix.errors import require
from rmix.recipe import cross_entropy


class ClassMargins:
    """Cross entropy after the true logit lost a margin and all logits were multiplied by ``scale``.

    The margin is proportional to ``count^(-1/4)``; a class without rows has none.

    Args:
        counts: training rows of each class.
        max_margin: of the smallest class.
        scale: how sharp the softmax is.

    Example:
        >>> ClassMargins([16, 1], max_margin=0.5, scale=30.0).margin.tolist()  # 16^(-1/4) = 1/2
        [0.25, 0.5]
    """

    def __init__(self, counts: Sequence[int], max_margin: float, scale: float) -> None:
        require(0 <= max_margin < inf, f"max_margin must be >= 0 and finite, got {max_margin}")
        require(0 < scale < inf, f"scale must be > 0 and finite, got {scale}")
        rows = np.array(counts, dtype=np.float64)
        root = np.where(rows > 0, np.maximum(rows, 1) ** -0.25, 0.0)
        self.margin = torch.from_numpy(max_margin * root / root.max())  # (n_classes,)
        self.scale = scale

    def __call__(self, logits: Tensor, y: Tensor) -> Tensor:
        true = y[:, None]
        margin = self.margin.to(logits)[true]
        return cross_entropy(self.scale * (logits - torch.zeros_like(logits).scatter(1, true, margin)), y)
