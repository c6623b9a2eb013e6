"""A loss plus penalties on what a batch looks like group by group: the frame of IRM, IB-IRM and CORAL."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from math import inf
from typing import Any, ClassVar, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from rmix.batch import Batch, Mixed
from rmix.errors import InvalidValueError, require
from rmix.joined import join
from rmix.recipe import Outcome, Recipe, bare
from rmix.reductions.group_means import sum_by_group
from rmix.reductions.ratio import ratio


@dataclass(frozen=True)
class Seen:
    """A step as a penalty sees it: what it led to, and what the head of the model was shown."""

    outcome: Outcome
    shown: Sequence[Tensor]

    @property
    def features(self) -> Tensor:
        """Features of the rows of all processes, mixed where the batch is mixed, (n, d)."""
        if not self.shown:
            raise InvalidValueError("A penalty on features needs a model with modules `features` and `head`.")
        return join(self.shown[-1].flatten(1))


@dataclass(frozen=True)
class Penalty:
    """``early`` times ``of`` for the first ``anneal`` updates, then ``weight`` times it."""

    of: Callable[[Seen], Tensor]
    weight: float
    early: float = 0.0
    anneal: int = 0

    def __post_init__(self) -> None:
        require(0 <= self.weight < inf, f"a penalty must be >= 0 and finite, got {self.weight}")
        require(self.anneal >= 0, f"anneal must be >= 0, got {self.anneal}")

    def factor(self, updates: int) -> float:
        """What it counts after ``updates`` updates."""
        return self.weight if updates >= self.anneal else self.early


@dataclass
class Penalised(Recipe):
    """A recipe with penalties; where one sets in, the optimizer starts afresh."""

    penalties: tuple[Penalty, ...] = ()
    memory: ClassVar[tuple[str, ...]] = ("updates",)

    def __post_init__(self) -> None:
        self.updates = torch.tensor(0)

    def step(self, model: Any, batch: Batch, rng: np.random.Generator) -> Outcome:
        with watch_head(model) as shown:
            outcome = super().step(model, batch, rng)
        updates, seen, loss = int(self.updates), Seen(outcome, shown), outcome.loss
        self.updates = self.updates + 1
        for penalty in self.penalties:
            if factor := penalty.factor(updates):  # one that counts nothing costs nothing
                loss = loss + factor * penalty.of(seen)
        switched = any(0 < penalty.anneal == updates for penalty in self.penalties)
        return replace(outcome, loss=loss, fresh_optimizer=switched)


@contextmanager
def watch_head(model: nn.Module) -> Iterator[list[Tensor]]:
    """Collects what the head of ``model`` is shown, wherever on the way rows are mixed; nothing without a head."""
    head, shown = getattr(bare(model), "head", None), list[Tensor]()
    if not isinstance(head, nn.Module):
        yield shown
        return
    handle = head.register_forward_pre_hook(lambda _, given: shown.append(given[0]))
    try:
        yield shown
    finally:
        handle.remove()


class Moments(NamedTuple):
    """The features of a batch group by group; every part of a mixed row is a row of its own here."""

    weight: Tensor  # (m,)
    group: Tensor  # (m,)
    centred: Tensor  # (m, d) features less the mean of the group
    mean: Tensor  # (n_groups, d)
    enough: Tensor  # (n_groups,) 1 where the rows of a group weigh two or more, so that they vary; else 0
    freedom: Tensor  # (n_groups,) what the rows weigh, less one; 1 where they are not enough


def moments(features: Tensor, mixed: Mixed, n_groups: int) -> Moments:
    """Means of the features (n, d) by group, and what variances are made of; weights count as repeated rows."""
    group, weight = known_group(mixed), torch.cat([part.weight for part in mixed.parts])
    rows = features.repeat(len(mixed.parts), 1)
    mass = sum_by_group(weight, group, n_groups)
    mean = ratio(sum_by_group(weight[:, None] * rows, group, n_groups), mass[:, None])
    enough = mass >= 2  # between one and two, dividing by the weight less one could blow up
    freedom = torch.where(enough, mass - 1, torch.ones_like(mass))
    return Moments(weight, group, rows - mean[group], mean, enough.to(features), freedom)


def known_group(mixed: Mixed) -> Tensor:
    """The groups of all parts, one part after the other."""
    groups = [part.group for part in mixed.parts if part.group is not None]
    assert len(groups) == len(mixed.parts), "a penalty on groups is of methods that declare them"
    return torch.cat(groups)
