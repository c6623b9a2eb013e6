"""The one training step: five slots, each with a neutral base, and the stages that recipes form.

======== =============================================== ============================
slot     what it decides                                 its neutral base
======== =============================================== ============================
sampler  which rows make a batch                         :class:`Sampler`: a shuffle
weighting how much each row counts                       :class:`Weighting`: all one
mixer    which inputs and targets are blended            :class:`Mixer`: none
loss     how wrong a prediction is, row by row           :func:`cross_entropy`
reduction how the losses of a batch become one number    :func:`average`
======== =============================================== ============================

A published idea is usually one slot; the recipe of ERM is ``Recipe()``.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, TypeVar

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from rmix.batch import Batch, Groups, Mixed, Part, unmixed
from rmix.errors import HiddenGroupsError
from rmix.joined import add_up, join, world

Forward = Callable[[Tensor], Tensor]
Loss = Callable[[Tensor, Tensor], Tensor]  # (logits (n, k), y (n,)) -> (n,)
Reduction = Callable[[Sequence[Tensor], Mixed], Tensor]  # (one loss (n,) a part, batch) -> scalar


@dataclass(frozen=True, slots=True)
class Rows:
    """What a sampler may see of the training split: every row's class, and its group if permitted."""

    y: Tensor  # (n,) int64
    group: Tensor | None = None  # (n,) int64, -1 = in no group

    def __len__(self) -> int:
        return len(self.y)


@dataclass(frozen=True)
class Facts:
    """What a method may know of the training split before it sees a batch."""

    n: int
    n_classes: int
    class_counts: tuple[int, ...]
    group_counts: tuple[int, ...] | None = None  # members of each group; None = hidden
    group_rows: tuple[int, ...] | None = None  # rows filed under each group; differs where they overlap
    notes_epochs: int = 0  # epochs of a stage that takes notes

    def known_groups(self) -> tuple[np.ndarray, np.ndarray]:
        """Members of each group and rows filed under it, or an error where they are hidden."""
        if self.group_counts is None or self.group_rows is None:
            raise HiddenGroupsError(
                "Group sizes are hidden: the method must declare groups = Groups.TRAIN "
                "and the training split must have group labels."
            )
        return np.array(self.group_counts), np.array(self.group_rows)


@dataclass(frozen=True)
class Sampler:
    """Which rows make a batch; this base takes every row once, in random order."""

    name: ClassVar[str] = "shuffle"

    @property
    def groups(self) -> Groups:
        """Where it reads group labels."""
        return Groups.NONE

    def __call__(self, rows: Rows, rng: np.random.Generator, size: int) -> Tensor:
        """Row numbers of one epoch, in the order in which they are cut into batches of ``size``."""
        return torch.from_numpy(rng.permutation(len(rows)))


class Remembers:
    """Something that learns while it is used.

    The tensors named in ``memory`` are saved with every checkpoint, and nothing else is.
    """

    memory: ClassVar[tuple[str, ...]] = ()

    def state(self) -> dict[str, Tensor]:
        """The tensors to keep."""
        return {name: getattr(self, name) for name in self.memory}

    def restore(self, state: Mapping[str, Tensor]) -> None:
        """Put back what :meth:`state` gave."""
        for name in self.memory:
            setattr(self, name, state[name])


class Weighting(Remembers):
    """How much each row counts; this base leaves the weights of the batch alone."""

    def __call__(self, batch: Batch) -> Tensor:
        """Weights of the batch's rows, shape (n,)."""
        return batch.weight

    def observe(self, batch: Batch, logits: Tensor) -> None:
        """Learn from predictions on a batch that was not mixed."""

    def end_epoch(self) -> None:
        """Learn from the end of an epoch."""

    def describe(self, member: np.ndarray) -> dict[str, Any]:
        """Numbers by group for the reports, from ``member`` (n, n_groups) bool: analysis only."""
        return {}


@dataclass(frozen=True)
class Mixer:
    """Which inputs and targets are blended; this base blends nothing."""

    name: ClassVar[str] = "unmixed"

    @property
    def groups(self) -> Groups:
        """Where it reads group labels."""
        return Groups.NONE

    def where(self, model: nn.Module, rng: np.random.Generator) -> tuple[Forward, Forward]:
        """The model cut in two: what runs before mixing, and what after."""
        return _identity, model

    def __call__(self, batch: Batch, rng: np.random.Generator) -> Mixed:
        return unmixed(batch)


def _identity(x: Tensor) -> Tensor:
    return x


def cross_entropy(logits: Tensor, y: Tensor) -> Tensor:
    """Cross entropy of each row, shape (n,).

    Example:
        >>> cross_entropy(torch.zeros(1, 4), torch.tensor([2])).item()  # log 4
        1.3862943649291992
    """
    return functional.cross_entropy(logits, y, reduction="none")


def average(losses: Sequence[Tensor], mixed: Mixed) -> Tensor:
    """Mean over the rows of the batch of weight times loss, summed over the parts.

    Divided by the number of rows, never by the sum of the weights: weights of mean two double the
    step, as published.
    """
    terms = [part.weight * loss for part, loss in zip(mixed.parts, losses, strict=True)]
    return sum(terms[1:], start=terms[0]).mean()


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a step leaves, of all processes: the loss to differentiate, and what it was made of."""

    loss: Tensor  # scalar
    logits: Tensor  # (n, n_classes)
    mixed: Mixed
    batch: Batch  # as weighed; its x is this process's share
    fresh_optimizer: bool = False  # the optimizer forgets its state before this update


@dataclass
class Recipe(Remembers):
    """One way to turn batches into a loss: the only training step of the library.

    Example:
        >>> batch = Batch(torch.zeros(2, 3), torch.tensor([0, 1]), torch.arange(2), torch.ones(2))
        >>> model = lambda x: x[:, :2]
        >>> round(Recipe().step(model, batch, np.random.default_rng(0)).loss.item(), 4)  # log 2
        0.6931
    """

    sampler: Sampler = field(default_factory=Sampler)
    weighting: Weighting = field(default_factory=Weighting)
    mixer: Mixer = field(default_factory=Mixer)
    loss: Loss = cross_entropy
    reduction: Reduction = average

    def state(self) -> dict[str, Tensor]:
        """The memory of the recipe and of its parts, by dotted name."""
        parts = {name: part for name, part in vars(self).items() if isinstance(part, Remembers)}
        own = super().state()
        return own | {f"{name}.{key}": value for name, part in parts.items() for key, value in part.state().items()}

    def restore(self, state: Mapping[str, Tensor]) -> None:
        super().restore(state)
        for name, part in vars(self).items():
            if isinstance(part, Remembers):
                part.restore({key: state[f"{name}.{key}"] for key in part.memory})

    def step(self, model: Any, batch: Batch, rng: np.random.Generator) -> Outcome:
        """Weigh, mix, predict, join the processes, compare, reduce."""
        batch = Batch(batch.x, batch.y, batch.index, self.weighting(batch), batch.group)
        before, after = self.mixer.where(model, rng)
        hidden = before(batch.x)
        mixed = self.mixer(batch if hidden is batch.x else replace(batch, x=hidden), rng)
        batch, mixed, logits = join_step(batch, mixed, after(mixed.x))
        losses = [self.loss(logits, part.y) for part in mixed.parts]
        return Outcome(self.reduction(losses, mixed), logits, mixed, batch)

    def accompany(self, model: nn.Module) -> nn.Module:
        """What is trained: the model, or an :class:`Accompanied` one."""
        return model

    def update(
        self,
        model: nn.Module,
        optimizer: torch.optim.Optimizer,
        batch: Batch,
        rng: np.random.Generator,
        clip: float | None,
    ) -> Outcome:
        """One step of the optimizer; the one place that a method of gradients may replace."""
        outcome = self.step(model, batch, rng)
        if outcome.fresh_optimizer:
            optimizer.state.clear()
        optimizer.zero_grad()
        outcome.loss.backward()  # type: ignore[no-untyped-call]
        add_up(p.grad for p in model.parameters() if p.grad is not None)
        if clip is not None:
            nn.utils.clip_grad_norm_(model.parameters(), clip)
        optimizer.step()
        return outcome


class Accompanied(nn.Module):
    """A model and what is trained beside it and left behind, such as a biased twin or a group head."""

    def __init__(self, model: nn.Module, companion: nn.Module) -> None:
        super().__init__()
        self.model = model
        self.companion = companion

    def forward(self, x: Tensor) -> Tensor:
        logits: Tensor = self.model(x)
        return logits


def bare(model: nn.Module) -> nn.Module:
    """The model without its companion."""
    return model.model if isinstance(model, Accompanied) else model


def join_step(batch: Batch, mixed: Mixed, logits: Tensor) -> tuple[Batch, Mixed, Tensor]:
    """Batch, parts and predictions of all processes; inputs stay this process's own."""
    if world()[1] == 1:
        return batch, mixed, logits
    parts = tuple(Part(join(p.y), join(p.weight), None if p.group is None else join(p.group)) for p in mixed.parts)
    group = None if batch.group is None else join(batch.group)
    whole = Batch(batch.x, join(batch.y), join(batch.index), join(batch.weight), group)
    return whole, replace(mixed, parts=parts), join(logits)


@dataclass(frozen=True)
class Stage:
    """A recipe and how it is run; a method is a generator of stages.

    A preliminary stage serves the one after it: it uses the settings of the first stage, and what
    it leaves is kept as an artifact that any run with the same preliminary stage takes up.
    """

    recipe: Recipe
    name: str = "main"  # names the random streams: every method's main stage draws the same
    preliminary: bool = False
    fresh_model: bool = True  # False: goes on with the model that the stage before left
    head_only: bool = False  # the features are frozen
    observe: Literal["training", "clean"] = "training"  # clean: an evaluation pass after each epoch
    identity: str | None = None  # what a preliminary stage is, if any method may share it


T = TypeVar("T")
Needs = Generator[Stage, None, T]  # yields the stages that something needs, then returns it
