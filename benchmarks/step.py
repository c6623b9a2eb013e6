"""A step of RMix over a step of ERM: forward, backward and optimizer, always mixing."""

from __future__ import annotations

from collections.abc import Callable
from itertools import cycle

import numpy as np
import torch

from benchmarks.timing import Line, interleaved, ratio_line
from rmix.batch import Batch
from rmix.mixers import Mixup, Sometimes
from rmix.models import MLP, ModelSpec, SmallCNN
from rmix.recipe import Recipe
from rmix.training.optimize import make_optimizer
from rmix.training.settings import Training
from rmix.weightings.tables import ByRow

BATCHES = 8
SIZE = 128


def make_batches(shape: tuple[int, ...]) -> list[Batch]:
    """Random batches of two classes."""
    draw = torch.Generator().manual_seed(0)
    rows = torch.arange(BATCHES * SIZE)
    x = torch.randn(len(rows), *shape, generator=draw)
    columns = [torch.split(column, SIZE) for column in (x, rows % 2, rows, torch.ones(len(rows)))]
    return [Batch(*row) for row in zip(*columns, strict=True)]


def steps(recipe: Recipe, spec: ModelSpec, shape: tuple[int, ...]) -> Callable[[], None]:
    """A call that takes one step, on the next batch."""
    torch.manual_seed(0)
    batches, model, rng = cycle(make_batches(shape)), spec.build(shape, 2), np.random.default_rng(0)
    optimizer = make_optimizer(model, Training(lr=1e-5))  # hardly moves: the same arithmetic at every repetition

    def take() -> None:
        loss = recipe.step(model, next(batches), rng).loss
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()

    return take


def lines() -> list[Line]:
    """One line a model."""
    weights = np.random.default_rng(0).uniform(1, 20, BATCHES * SIZE)
    rmix = Recipe(weighting=ByRow(weights), mixer=Sometimes(Mixup(alpha=0.5), prob=1.0))
    models: list[tuple[str, ModelSpec, tuple[int, ...], float, str]] = [
        ("MLP 1280-256-2", MLP(width=256, depth=1), (1280,), 1.10, " (published code: 1.39)"),
        ("small CNN, 16 x 16", SmallCNN(), (1, 16, 16), 1.03, ""),
    ]
    made = []
    for name, spec, shape, limit, note in models:
        both = {"rmix": steps(rmix, spec, shape), "erm": steps(Recipe(), spec, shape)}
        seconds = interleaved(both, repetitions=600)
        made.append(ratio_line(f"RMix step / ERM step, {name}", seconds["rmix"], seconds["erm"], limit, note))
    return made
