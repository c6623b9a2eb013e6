"""The update of every method over that of ERM, on one model: the ratios that stand in the cards."""

from __future__ import annotations

from collections.abc import Callable
from itertools import cycle

import numpy as np
import torch

from benchmarks.timing import Line, interleaved, ratio_line
from rmix.datasets import Bundle, Split
from rmix.methods import METHODS, Method
from rmix.models import MLP
from rmix.streams import stream, torch_stream
from rmix.testing.runs import Watched, fit
from rmix.training.batches import training_batches, training_order
from rmix.training.optimize import make_optimizer
from rmix.training.settings import Training
from rmix.training.trainer import features_of

SIZE = 128
INPUTS = 1280
SIZES = (400, 112, 112, 400)  # training rows of each group
MODEL = MLP(width=256, depth=1)
TRAINING = Training(lr=1e-5, batch_size=SIZE)


def bundle() -> Bundle:
    """Random rows of two classes and four groups."""
    draw = torch.Generator().manual_seed(0)
    group = torch.arange(4).repeat_interleave(torch.tensor(SIZES))
    split = Split(torch.randn(len(group), INPUTS, generator=draw), group // 2, group)
    return Bundle("random", split, split, split, ("a", "b"), tuple("0123"))


def updates(method: Method, data: Bundle) -> Callable[[], None]:
    """A call that takes one update of the last stage of ``method``, on the next batch."""
    watched = Watched(method)
    fit(watched, data, epochs=1, batch_size=SIZE, lr=TRAINING.lr, model=lambda: MODEL.build((INPUTS,), 2))
    stage = watched.seen[-1]
    recipe = stage.recipe
    order = training_order(data, recipe.sampler, SIZE, stream(0, "order"), method.groups)
    batches = cycle([b for b in training_batches(data, order, SIZE, method.groups) if len(b) == SIZE])
    with torch_stream(0, "init"):
        model = recipe.accompany(MODEL.build((INPUTS,), 2))
    if stage.head_only:
        features_of(model).requires_grad_(False)
    optimizer, rng = make_optimizer(model, TRAINING), np.random.default_rng(0)

    def take() -> None:
        recipe.update(model, optimizer, next(batches), rng, None)

    return take


def lines() -> list[Line]:
    """One line a method."""
    data = bundle()
    things = {name: updates(cls(), data) for name, cls in METHODS.items()}
    seconds = interleaved(things, repetitions=200)
    return [ratio_line(f"update of {name} / of ERM", seconds[name], seconds["erm"]) for name in METHODS]
