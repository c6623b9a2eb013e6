"""The only evaluation: a model, a split, a group table."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn

from rmix.datasets.base import Split
from rmix.datasets.inputs import read
from rmix.joined import join, share_of
from rmix.metrics import GroupTable

EVALUATED = 1024  # rows of a batch
READ = 128  # of inputs that are not in memory, which are larger


@torch.no_grad()
def predict(model: nn.Module, split: Split, size: int | None = None) -> Tensor:
    """Logits of every row in order, (n, n_classes), in evaluation mode."""
    model.eval()
    device = device_of(model)
    share = share_of(torch.arange(len(split)))  # of this process
    batches = torch.split(share, size or (EVALUATED if isinstance(split.x, Tensor) else READ))
    return join(torch.cat([model(x.to(device)).cpu() for x in read(split.x, batches)]))


def evaluate(model: nn.Module, split: Split, n_groups: int) -> GroupTable:
    """Correct and total per group of ``split``."""
    hit: np.ndarray = (predict(model, split).argmax(1) == split.y).numpy()
    return GroupTable.of(hit, split.member(n_groups))


def device_of(model: nn.Module) -> torch.device:
    """Where the parameters are."""
    return next((p.device for p in model.parameters()), torch.device("cpu"))
