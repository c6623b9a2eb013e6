"""Notes of how sure a trained model is of each row's class."""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor

from rmix.batch import Batch
from rmix.recipe import Weighting


class Confidence(Weighting):
    """Weights of one that notes the latest probability each row's own class was given.

    Example:
        >>> notes = Confidence(n=2)
        >>> batch = Batch(torch.zeros(2, 1), torch.tensor([0, 1]), torch.arange(2), torch.ones(2))
        >>> notes.observe(batch, torch.zeros(2, 4))
        >>> notes.chance.tolist(), notes.y.tolist()
        ([0.25, 0.25], [0, 1])
    """

    memory: ClassVar[tuple[str, ...]] = ("chance", "y")

    def __init__(self, n: int) -> None:
        self.chance = torch.zeros(n, dtype=torch.float64)  # of the row's class; 0 where it was not shown
        self.y = torch.full((n,), -1)  # -1 where it was not shown

    def observe(self, batch: Batch, logits: Tensor) -> None:
        index, y = batch.index.cpu(), batch.y.cpu()
        chance = logits.detach().cpu().double().softmax(1)
        self.chance[index] = chance.gather(1, y[:, None])[:, 0]
        self.y[index] = y
