"""Small things that the unit tests are made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from rmix.batch import Batch
from rmix.datasets import Bundle, FourMoons, Split
from rmix.experiment.config import Config
from rmix.experiment.run import Run
from rmix.methods import ERM, Method, RMix
from rmix.models import MLP
from rmix.recipe import Facts
from rmix.training.callbacks import Callback, Moment
from rmix.training.settings import FirstStage, Training


def make_batch(y: Sequence[int], *, x: Any = None, weight: Any = None, group: Any = None) -> Batch:
    """A batch in float64; by default x counts 0, 1, 2 … and every weight is one."""
    n = len(y)
    inputs = torch.arange(n).view(n, 1) if x is None else torch.as_tensor(x)
    weights = torch.ones(n) if weight is None else torch.tensor(weight)
    groups = None if group is None else torch.tensor(group)
    return Batch(inputs.double(), torch.tensor(y), torch.arange(n), weights.double(), groups)


def facts_of(group_counts: Sequence[int], *, n: int | None = None, rows: Sequence[int] | None = None) -> Facts:
    """Facts of a training split with these group sizes, half of its rows of either class."""
    n = sum(group_counts) if n is None else n
    return Facts(n, 2, (n - n // 2, n // 2), tuple(group_counts), tuple(rows or group_counts))


def finished(needs: Any) -> Any:
    """What a generator of stages returns, where it yields none."""
    try:
        stage = next(needs)
    except StopIteration as stop:
        return stop.value
    raise AssertionError(f"asked for {stage}")


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def split_of(
    y: Sequence[int], group: Any = None, x: Tensor | None = None, weight: Sequence[float] | None = None
) -> Split:
    """A split whose inputs are zeros unless they are given."""
    return Split(
        torch.zeros(len(y), 2) if x is None else x,
        torch.tensor(y),
        None if group is None else torch.tensor(group),
        None if weight is None else torch.tensor(weight),
    )


def bundle_of(**changes: Any) -> Bundle:
    """A good bundle of two classes and two groups, with some of its arguments changed."""
    good = split_of([0, 1, 0, 1], group=[0, 0, 1, 1])
    arguments = {
        "name": "toy",
        "train": good,
        "valid": good,
        "test": good,
        "class_names": ("no", "yes"),
        "group_names": ("a", "b"),
    }
    return Bundle(**{**arguments, **changes})


SMALL_MOONS = FourMoons(sizes=(30, 30, 5, 5), valid_size=10, test_size=10)


def small(method: Method | None = None, **changes: Any) -> Config:
    """A run of a few milliseconds: 70 rows, 3 epochs of 5 steps."""
    training = Training(epochs=3, batch_size=16, lr=0.1)
    config = Config(SMALL_MOONS, method or ERM(), MLP(width=4, depth=1), training, FirstStage(epochs=2))
    return replace(config, **changes)


QUICK: dict[str, Any] = {"model": MLP(width=4, depth=1), "training": {"epochs": 2, "batch_size": 16, "lr": 0.1}}


class KilledError(Exception):
    """Stands for a killed process."""


class StopAt(Callback):
    """Ends the run after an epoch was evaluated and before it was kept, or in the middle of it."""

    def __init__(self, stage: str, epoch: int, *, in_the_middle: bool = False) -> None:
        self.stage, self.epoch, self.in_the_middle = stage, epoch, in_the_middle

    def on_step(self, moment: Moment, outcome: Any) -> None:
        if self.in_the_middle and (moment.stage, moment.epoch) == (self.stage, self.epoch) and moment.step % 5 == 2:
            raise KilledError

    def on_epoch(self, moment: Moment, record: dict[str, Any]) -> None:
        if (moment.stage, record["epoch"]) == (self.stage, self.epoch):
            raise KilledError


class Told(Callback):
    """Writes down what it is told."""

    def __init__(self) -> None:
        self.stages: list[tuple[str, bool]] = []
        self.epochs: list[tuple[str, int]] = []
        self.ends: list[str] = []

    def on_start(self, trainer: Any) -> None:
        self.ends.append("start")

    def on_stage(self, moment: Moment, reused: bool) -> None:
        self.stages.append((moment.stage, reused))

    def on_epoch(self, moment: Moment, record: dict[str, Any]) -> None:
        self.epochs.append((moment.stage, record["epoch"]))

    def on_end(self, trainer: Any) -> None:
        self.ends.append("end")


TWO_STAGES = RMix(eta=5.0, window=2)


def same(a: Run, b: Run) -> bool:
    """Bit by bit: the result as text, and every tensor of the model."""
    ours, theirs = a.model.state_dict(), b.model.state_dict()
    return a.result.to_json() == b.result.to_json() and all(torch.equal(ours[k], theirs[k]) for k in ours)
