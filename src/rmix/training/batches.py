"""From a split to batches; group labels are shown only where the method declared them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor

from rmix.batch import Batch, Groups
from rmix.datasets.base import Bundle, Split
from rmix.joined import share_of, world
from rmix.recipe import Sampler

GATHERED = 1 << 22  # values gathered at once: one gather for many small batches is faster than many


def training_order(bundle: Bundle, sampler: Sampler, size: int, rng: np.random.Generator, groups: Groups) -> Tensor:
    """Row numbers of one epoch of the training split."""
    return sampler(bundle.rows(groups), rng, size)


def training_batches(bundle: Bundle, order: Tensor, size: int, groups: Groups) -> Iterator[Batch]:
    """The rows of ``order`` in batches; with several processes, this one's share of each."""
    group = bundle.rows(groups).group
    if world()[1] == 1:
        return _cut(bundle.train, group, order, size)
    return (_gather(bundle.train, group, share_of(rows)) for rows in torch.split(order, size))


def _cut(split: Split, group: Tensor | None, order: Tensor, size: int) -> Iterator[Batch]:
    per_row = split.x[0].numel() if isinstance(split.x, Tensor) else GATHERED
    together = size * max(1, GATHERED // max(1, per_row * size))
    for chunk in torch.split(order, together):
        whole = _gather(split, group, chunk)
        fields = (whole.x, whole.y, whole.index, whole.weight)
        columns = [torch.split(field, size) for field in fields]
        groups = [None] * len(columns[0]) if whole.group is None else torch.split(whole.group, size)
        yield from (Batch(*row) for row in zip(*columns, groups, strict=True))


def _gather(split: Split, group: Tensor | None, rows: Tensor) -> Batch:
    x = split.x[rows]
    weight = torch.ones(len(rows)) if split.weight is None else split.weight[rows]
    weight = weight.to(x.dtype if x.is_floating_point() else torch.float32)
    return Batch(x, split.y[rows], rows, weight, None if group is None else group[rows])
