"""Any method's loss, in one call from a loop of your own."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.data import Sampler

from rmix.batch import Batch
from rmix.datasets import Bundle
from rmix.errors import CheckpointError, InvalidValueError, lookup, require
from rmix.joined import share_of, world
from rmix.loop.head_at import checks_logits
from rmix.loop.notes import Notes
from rmix.loop.rows import bundle_of, check_classes, check_index, check_lengths
from rmix.methods import METHODS, Method
from rmix.recipe import Outcome, Recipe, Stage
from rmix.streams import stream, torch_stream
from rmix.training.batches import training_order
from rmix.training.trainer import check_permission
from rmix.weightings import Trajectory

ANY_NUMBER = 1 << 20  # epochs of notes, where it is only asked whether a method needs them


class Objective:
    """The loss of a method: weighs the rows of a batch, mixes them, predicts, compares, reduces.

    The loop, the model, the optimizer, precision, devices and evaluation stay yours.

    Args:
        method: a method or its name; of one with two stages, this is the second.
        y: (n,) classes of all training rows.
        group: (n,) their groups, -1 for none, or (n, n_groups) bool where groups overlap. Shown to
            the method only if it declares that it reads groups.
        weight: (n,) how much each row counts before the method weighs it; None = alike.
        notes: of the ERM loop before this one; several for a method that wants several runs.
        seed: of every random stream; no global generator is read or moved.

    Example:
        >>> objective = Objective("rmix_aware", y=[0, 1, 0, 1], group=[0, 1, 0, 0])
        >>> x, index = torch.randn(4, 3), torch.arange(4)
        >>> loss = objective(nn.Linear(3, 2), x, torch.tensor([0, 1, 0, 1]), index)
        >>> loss.shape, loss.requires_grad
        (torch.Size([]), True)
    """

    def __init__(
        self,
        method: str | Method,
        y: Any,
        group: Any = None,
        *,
        weight: Any = None,
        notes: Notes | Sequence[Notes] = (),
        seed: int = 0,
    ) -> None:
        self.method = lookup("method", method, METHODS)() if isinstance(method, str) else method
        self.bundle, self.seed = bundle_of(y, group, weight), seed
        check_permission(self.method, self.bundle)
        self.stage = stage_of(self.method, self.bundle, [notes] if isinstance(notes, Notes) else notes)
        self._columns = (self.bundle.rows(self.method.groups).group, self.bundle.train.weight)
        self._compared = False  # no batch was compared with y yet
        self._begin(0)

    def __call__(self, model: nn.Module, x: Any, y: Tensor, index: Tensor) -> Tensor:
        """The loss of a batch, to be differentiated.

        Args:
            model: gives logits (b, n_classes) for inputs; compiled, in any precision.
            x: inputs (b, ...); or what :class:`HeadAt` takes.
            y: (b,) classes, where the model is.
            index: (b,) row numbers; they may stay on the CPU.
        """
        return self.step(model, x, y, index).loss

    def step(self, model: nn.Module, x: Any, y: Tensor, index: Tensor) -> Outcome:
        """The loss with what it was made of: logits, targets, weights."""
        if type(self.recipe).update is not Recipe.update:
            raise InvalidValueError(
                f"Method {self.method.name!r} takes the optimizer's steps itself: in place of the loss, backward and "
                "step, call objective.update(model, optimizer, x, y, index)."
            )
        batch = self._batch(model, x, y, index)
        with self._first_look(model):
            outcome = self.recipe.step(model, batch, self._mix)
        self._observe(outcome)
        return replace(outcome, loss=for_mean_of_gradients(outcome.loss))

    def update(
        self,
        model: nn.Module,
        optimizer: torch.optim.Optimizer,
        x: Any,
        y: Tensor,
        index: Tensor,
        *,
        clip_norm: float | None = None,
    ) -> Outcome:
        """A whole step of the optimizer: what Fish needs, and any method can do.

        Several processes need no DistributedDataParallel here: gradients are summed.
        """
        batch = self._batch(model, x, y, index)
        with self._first_look(model):
            outcome = self.recipe.update(model, optimizer, batch, self._mix, clip_norm)
        self._observe(outcome)
        return outcome

    @property
    def recipe(self) -> Recipe:
        """The parts of the method."""
        return self.stage.recipe

    def sampler(self, batch_size: int, *, shares: bool = True) -> RowOrder:
        """The rows of each epoch as the method wants them drawn, for a DataLoader of this batch size.

        Args:
            batch_size: rows of a step, of each process.
            shares: each of several processes gets its share; False where something else deals them out.
        """
        return RowOrder(self, batch_size, shares)

    def accompany(self, model: nn.Module) -> nn.Module:
        """What to train: the model, or the model with what LfF or DomainMix train beside it."""
        with torch_stream(self.seed, "init", self.stage.name, "companion"):
            return self.recipe.accompany(model)

    def weights(self) -> Tensor:
        """How much every training row counts now, (n,)."""
        y, (group, weight) = self.bundle.train.y, self._columns
        every = torch.arange(len(y))
        weight = torch.ones(len(y)) if weight is None else weight.cpu().float()
        return self.recipe.weighting(Batch(every, y, every, weight, None if group is None else group.cpu()))

    def set_epoch(self, epoch: int) -> None:
        """Say which epoch begins, from 0: it names the random streams, so that a resumed run draws the same."""
        require(epoch >= 0, f"epoch must be >= 0, got {epoch}")
        if epoch != self.epoch:  # the first is 0; one that was loaded half-way goes on
            self.recipe.weighting.end_epoch()
            self._begin(epoch)

    def state_dict(self) -> dict[str, Any]:
        """What the method has learned and where its random stream is: tensors and plain values."""
        return {
            "method": repr(self.method),
            "n": len(self.bundle.train),
            "epoch": self.epoch,
            "stream": json.dumps(self._mix.bit_generator.state),
            "memory": self.recipe.state(),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from what :meth:`state_dict` gave, in the middle of an epoch too."""
        mine = self.state_dict()
        for name in ("method", "n"):
            if state.get(name) != mine[name]:
                raise CheckpointError(
                    f"This state is of another objective: {name} is {state.get(name)}, not {mine[name]}."
                )
        self.recipe.restore(state["memory"])
        self._begin(state["epoch"])
        self._mix.bit_generator.state = json.loads(state["stream"])

    def _begin(self, epoch: int) -> None:
        self.epoch = epoch
        self._mix = stream(self.seed, "mix", self.stage.name, epoch)

    def _observe(self, outcome: Outcome) -> None:
        if outcome.mixed.clean and self.stage.observe == "training":
            self.recipe.weighting.observe(outcome.batch, outcome.logits)

    def _batch(self, model: nn.Module, x: Any, y: Tensor, index: Tensor) -> Batch:
        known = self.bundle.train.y
        check_index(index, len(known))
        check_lengths(index=index, y=y, **(x if isinstance(x, Mapping) else {"x": x}))
        if y.is_cpu or not self._compared:  # elsewhere, looking at each batch would wait for the device
            check_classes(y, index, known)
            check_companion(self.recipe, model, self.method)
        group, weight = self._look_up(index, y.device)
        weight = torch.ones(len(y), device=y.device) if weight is None else weight
        double = isinstance(x, Tensor) and x.dtype == torch.float64  # inputs of half precision weigh in float32
        return Batch(x, y, index.to(y.device), weight.double() if double else weight.float(), group)

    @contextmanager
    def _first_look(self, model: nn.Module) -> Iterator[None]:
        """While the first batch is seen, what the model gives is checked: on a GPU a wrong shape ends the process."""
        hook = None if self._compared else checks_logits(model, self.bundle.n_classes)
        try:
            yield
        finally:
            if hook is not None:
                hook.remove()
        self._compared = True

    def _look_up(self, index: Tensor, device: torch.device) -> list[Tensor | None]:
        if any(column is not None and column.device != index.device for column in self._columns):
            group, weight = (None if column is None else column.to(index.device) for column in self._columns)
            self._columns = group, weight
        return [None if column is None else column[index].to(device) for column in self._columns]


class RowOrder(Sampler[int]):
    """Row numbers of the objective's current epoch, in the order in which they make batches of ``size``."""

    def __init__(self, objective: Objective, size: int, shares: bool = True) -> None:
        require(size >= 1, f"batch_size must be >= 1, got {size}")
        self.objective, self.size, self.shares = objective, size, shares
        self._drawn: tuple[int, Tensor] | None = None

    def rows(self) -> Tensor:
        """The row numbers of this epoch, drawn once."""
        mine = self.objective
        if self._drawn is None or self._drawn[0] != mine.epoch:
            processes = world()[1] if self.shares else 1
            rng = stream(mine.seed, "order", mine.stage.name, mine.epoch)
            order = training_order(mine.bundle, mine.recipe.sampler, self.size * processes, rng, mine.method.groups)
            batches = torch.split(order, self.size * processes)
            if processes > 1:  # a last batch of fewer rows than processes would leave one without a step
                order = torch.cat([share_of(rows) for rows in batches if len(rows) >= processes])
            self._drawn = mine.epoch, order
        return self._drawn[1]

    def __iter__(self) -> Iterator[int]:
        return iter(self.rows().tolist())

    def __len__(self) -> int:
        return len(self.rows())

    def set_epoch(self, epoch: int) -> None:
        """As of torch's DistributedSampler."""
        self.objective.set_epoch(epoch)


def stage_of(method: Method, bundle: Bundle, notes: Sequence[Notes]) -> Stage:
    """The main stage of ``method``; what the stages before it would have noted is in ``notes``."""
    for taken in notes:
        require(
            taken.n == len(bundle.train), f"The notes are on {taken.n} rows, but y has {len(bundle.train)} (Objective)."
        )
        require(taken.n_epochs > 0, "The notes have no epoch: say notes.end_epoch() after each (Objective).")
    left = list(notes)
    for stage in method.stages(bundle.facts(method.groups, notes[0].n_epochs if notes else ANY_NUMBER)):
        if not stage.preliminary:
            require(
                not left,
                f"Method {method.name!r} starts from notes of {len(notes) - len(left)} runs, got {len(notes)}.",
            )
            return stage
        weighting = stage.recipe.weighting
        if not isinstance(weighting, Trajectory):
            left_out = f"say {type(method).__name__}({stage.name}=False), or " if hasattr(method, stage.name) else ""
            raise InvalidValueError(
                f"Method {method.name!r} begins with a stage of its own, {stage.name!r}, which a loop of yours "
                f"does not run; {left_out}use rmix.train."
            )
        if not left:
            raise InvalidValueError(
                f"Method {method.name!r} starts from notes of an ERM run: take rmix.Notes in its loop "
                "(notes.observe(index, logits, y), notes.end_epoch()) and give them here as notes=."
            )
        weighting.restore(left.pop(0).state_dict())
    raise AssertionError(f"{method!r} has no main stage")


def check_companion(recipe: Recipe, model: nn.Module, method: Method) -> None:
    """A recipe that trains something beside the model needs it there."""
    if type(recipe).accompany is not Recipe.accompany and not hasattr(model, "companion"):
        raise InvalidValueError(
            f"Method {method.name!r} trains something beside the model: before the optimizer is made, "
            "say model = objective.accompany(model)."
        )


def for_mean_of_gradients(loss: Tensor) -> Tensor:
    """The loss of the batch of all processes, such that the mean of their gradients is its gradient.

    Each process's backward pass reaches its own rows only. Their gradients add up to that of the
    loss, and DistributedDataParallel takes their mean.
    """
    processes = world()[1]
    return loss if processes == 1 else loss.detach() + processes * (loss - loss.detach())
