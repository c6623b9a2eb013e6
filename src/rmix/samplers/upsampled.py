"""Some rows more often than others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor

from rmix.errors import require
from rmix.recipe import Rows, Sampler


@dataclass(frozen=True)
class Upsampled(Sampler):
    """Every row of the training split ``copies`` times an epoch, in random order; 0 leaves it out.

    With one copy of each row it is the shuffle, draw for draw.

    Example:
        >>> order = Upsampled((1, 0, 3))(Rows(torch.zeros(3)), np.random.default_rng(0), 2)
        >>> sorted(order.tolist())
        [0, 2, 2, 2]
    """

    copies: tuple[int, ...] = ()
    name: ClassVar[str] = "upsampled"

    def __post_init__(self) -> None:
        require(min(self.copies, default=0) >= 0, f"copies must be >= 0, got {min(self.copies, default=0)} (upsampled)")
        require(max(self.copies, default=1) >= 1, f"All {len(self.copies)} rows have 0 copies, so no row is left.")

    def __call__(self, rows: Rows, rng: np.random.Generator, size: int) -> Tensor:
        require(
            len(self.copies) == len(rows),
            f"Copies must be one number a training row: got {len(self.copies)} for {len(rows)} rows.",
        )
        repeated = np.repeat(np.arange(len(rows)), self.copies)
        return torch.from_numpy(repeated[rng.permutation(len(repeated))])
