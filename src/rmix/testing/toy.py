"""The toy task of the contracts: four groups of unequal size, small enough to train on in milliseconds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import nn

from rmix.batch import Batch
from rmix.datasets.base import Bundle, Split
from rmix.models import MLP
from rmix.streams import stream

SIZES = (30, 6, 4, 32)  # training rows of each group: no two alike, two small
SIDE = 8  # pixels: inputs are images, so that every mixer can work on them


def toy_bundle(sizes: tuple[int, ...] = SIZES, held_out: int = 10, seed: int = 0) -> Bundle:
    """A task with a shortcut: group ``2 * y + a`` where the attribute ``a`` is louder than the class ``y``.

    Args:
        sizes: training rows of each of the four groups; a group of 0 is absent everywhere.
        held_out: rows of each group in validation and in test.
        seed: of the data.

    Example:
        >>> toy_bundle().train_counts
        (30, 6, 4, 32)
    """
    others = tuple(held_out if size else 0 for size in sizes)
    return Bundle(
        name="toy",
        train=_draw(sizes, seed, "train"),
        valid=_draw(others, seed, "valid"),
        test=_draw(others, seed, "test"),
        class_names=("zero", "one"),
        group_names=("0, left", "0, right", "1, left", "1, right"),
    )


def _draw(sizes: tuple[int, ...], seed: int, split: str) -> Split:
    rng = stream(seed, "toy", split)
    group = rng.permutation(np.repeat(np.arange(4), sizes))
    y, attribute = group // 2, group % 2
    x = rng.standard_normal((len(group), 1, SIDE, SIDE))
    x[:, 0, :4] += 0.5 * (2 * y - 1)[:, None, None]  # the class, in the upper half
    x[:, 0, 4:] += 1.0 * (2 * attribute - 1)[:, None, None]  # the shortcut, in the lower half
    return Split(torch.from_numpy(x.astype(np.float32)), torch.from_numpy(y), torch.from_numpy(group))


def toy_batch(n: int = 12, dtype: torch.dtype = torch.float32, groups: bool = True) -> Batch:
    """A batch with unequal weights; images are constant and show the class, groups follow from it.

    So what a mixed image shows can be compared with the targets it claims to stand for.
    """
    y = torch.arange(n) % 3
    x = y.to(dtype).view(n, 1, 1, 1).expand(n, 1, SIDE, SIDE).clone()
    weight = torch.from_numpy(stream(0, "toy", "weight").uniform(0.5, 2, n)).to(dtype)
    return Batch(x, y, torch.arange(n), weight, 2 - y if groups else None)


def toy_model(dropout: float = 0.0, dtype: torch.dtype = torch.float32) -> nn.Module:
    """A small network for the toy task; initial weights come from torch's generator."""
    return MLP(width=8, depth=2, dropout=dropout).build((1, SIDE, SIDE), 2).to(dtype)


def each_split(bundle: Bundle, change: Callable[[Split], Split], **names: Any) -> Bundle:
    """The bundle with every split changed."""
    train, valid, test = (change(split) for split in bundle.splits.values())
    return replace(bundle, train=train, valid=valid, test=test, **names)
