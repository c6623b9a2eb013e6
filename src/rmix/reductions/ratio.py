"""Division that survives what is not there."""

from __future__ import annotations

import torch
from torch import Tensor


def ratio(part: Tensor, whole: Tensor) -> Tensor:
    """``part / whole``, and ``part`` where ``whole`` is 0: nothing of nothing is 0.

    Example:
        >>> ratio(torch.tensor([1.0, 0.0]), torch.tensor([2.0, 0.0])).tolist()
        [0.5, 0.0]
    """
    return part / torch.where(whole > 0, whole, torch.ones_like(whole))
