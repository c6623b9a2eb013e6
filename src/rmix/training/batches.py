"""From a split to batches; group labels are shown only where the method declared them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import torch
from torch import Tensor

from rmix.batch import Batch, Groups
from rmix.datasets.base import Bundle, Split
from rmix.datasets.inputs import read
from rmix.joined import share_of, world
from rmix.recipe import Sampler

GATHERED = 1 << 18  # values gathered at once: fewer gathers than batches, and what is gathered stays in the cache


def training_order(bundle: Bundle, sampler: Sampler, size: int, rng: np.random.Generator, groups: Groups) -> Tensor:
    """Row numbers of one epoch of the training split."""
    return sampler(bundle.rows(groups), rng, size)


def training_batches(
    bundle: Bundle,
    order: Tensor,
    size: int,
    groups: Groups,
    augment: Callable[[int], np.random.Generator] | None = None,
) -> Iterator[Batch]:
    """The rows of ``order`` in batches; with several processes, this one's share of each.

    ``augment`` gives the random stream of the row at a place of the epoch, whichever process shows it.
    """
    split, group = bundle.train, bundle.rows(groups).group
    if isinstance(split.x, Tensor) and world()[1] == 1:
        return _cut(split, group, order, size)
    places = [share_of(some) for some in torch.split(torch.arange(len(order)), size)]
    batches = [order[some] for some in places]
    draws = None if augment is None else lambda batch, place: augment(int(places[batch][place]))
    inputs = zip(batches, read(split.x, batches, draws), strict=True)
    return (_batch(split, group, rows, x) for rows, x in inputs)


def _cut(split: Split, group: Tensor | None, order: Tensor, size: int) -> Iterator[Batch]:
    together = size * max(1, GATHERED // max(1, split.x[0].numel() * size))
    for chunk in torch.split(order, together):
        whole = _batch(split, group, chunk, split.x.index_select(0, chunk))
        fields = (whole.x, whole.y, whole.index, whole.weight)
        columns = [torch.split(field, size) for field in fields]
        groups = [None] * len(columns[0]) if whole.group is None else torch.split(whole.group, size)
        yield from (Batch(*row) for row in zip(*columns, groups, strict=True))


def _batch(split: Split, group: Tensor | None, rows: Tensor, x: Tensor) -> Batch:
    weight = torch.ones(len(rows)) if split.weight is None else split.weight[rows]
    weight = weight.to(x.dtype if x.is_floating_point() else torch.float32)
    return Batch(x, split.y[rows], rows, weight, None if group is None else group[rows])
