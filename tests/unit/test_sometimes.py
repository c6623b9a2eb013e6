"""Mixing a batch with probability sigma."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from toys import make_batch, rng

from rmix.batch import Batch, Mixed
from rmix.mixers import Sometimes, mixup
from rmix.recipe import Mixer, Recipe

SWAP = torch.tensor([1, 0])


class Marks(Mixer):
    """Leaves a mark."""

    def __call__(self, batch: Batch, rng: np.random.Generator) -> Mixed:
        return Mixed(batch.x + 100, ())


def test_never_and_always() -> None:
    batch = make_batch([0, 1])
    assert all(Sometimes(Marks(), 0.0)(batch, rng(s)).clean for s in range(50))
    assert all(Sometimes(Marks(), 1.0)(batch, rng(s)).x[0, 0] == 100 for s in range(50))


def test_as_often_as_it_says() -> None:
    """4,000 batches at 0.3: 1,200 with standard deviation 29, so within 120."""
    batch, source = make_batch([0, 1]), rng()
    mixed = sum(not Sometimes(Marks(), 0.3)(batch, source).clean for _ in range(4000))
    assert abs(mixed - 1200) < 120


def test_not_mixing_is_lambda_zero_of_algorithm_1() -> None:
    """With lambda = 0 every row is its partner, with the partner's weight: over a permutation the same loss."""
    batch = make_batch([0, 1, 1], x=[[1.0], [2.0], [4.0]], weight=[1.0, 5.0, 3.0])
    loss = lambda logits, y: logits[:, 0] * (y + 1)  # noqa: E731
    clean = Recipe(mixer=Sometimes(Marks(), 0.0), loss=loss).step(lambda x: x, batch, rng()).loss

    class LambdaZero(Mixer):
        def __call__(self, batch: Batch, rng: np.random.Generator) -> Mixed:
            return mixup(batch, torch.tensor([2, 0, 1]), 0.0)

    assert Recipe(mixer=LambdaZero(), loss=loss).step(lambda x: x, batch, rng()).loss.item() == pytest.approx(
        clean.item()
    )
