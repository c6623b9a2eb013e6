"""The only training loop.

::

    for stage in method.stages(facts):            # a preliminary stage that was kept is taken up
        model, optimizer = fresh, or as the stage before left it
        for epoch in the epochs not yet done:     # a checkpoint says which
            for batch in batches(sampler, named stream, permission):
                recipe.update                     # the step (weighting, mixer, model, loss,
                                                  # reduction), backward, the optimizer
                recipe.weighting.observe          # predictions on what was not mixed
            evaluate on validation, keep the best epoch, write a checkpoint
"""

from __future__ import annotations

import copy
import hashlib
import json
import logging
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import nn

from rmix._version import __version__
from rmix.batch import Batch, Groups
from rmix.datasets.base import Bundle
from rmix.errors import HiddenGroupsError, InvalidValueError
from rmix.joined import rank_name
from rmix.methods.base import Method
from rmix.metrics import GroupTable
from rmix.recipe import Stage, bare
from rmix.streams import stream, torch_stream
from rmix.training.batches import training_batches, training_order
from rmix.training.callbacks import Callback, Moment
from rmix.training.checkpoint import NoShelf
from rmix.training.evaluate import evaluate, predict
from rmix.training.optimize import make_optimizer, rate_at, set_rate
from rmix.training.selection import SELECTIONS, Rule
from rmix.training.settings import FirstStage, Training
from rmix.training.watch import LossWatch

log = logging.getLogger(__name__)
MakeModel = Callable[[], nn.Module]


@dataclass
class Progress:
    """Where a stage is: all that a checkpoint must hold."""

    stage: Stage
    training: Training
    model: nn.Module
    optimizer: torch.optim.Optimizer
    epoch: int = 0  # epochs finished
    history: list[dict[str, Any]] = field(default_factory=list)
    best: dict[str, Any] = field(default_factory=dict)  # epoch (from 0), value
    best_model: dict[str, Any] = field(default_factory=dict)

    def state(self) -> dict[str, Any]:
        """Everything as tensors and plain values."""
        return {
            "stage": self.stage.name,
            "epoch": self.epoch,
            "model": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "parts": self.stage.recipe.state(),
            "history": json.dumps(self.history),
            "best": dict(self.best),
            "best_model": self.best_model,
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Put back what :meth:`state` gave."""
        self.model.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.stage.recipe.restore(state["parts"])
        self.epoch, self.history = state["epoch"], json.loads(state["history"])
        self.best, self.best_model = dict(state["best"]), state["best_model"]


@dataclass(frozen=True)
class Fitted:
    """What training leaves: the model of the selected epoch, and the record of all stages."""

    model: nn.Module
    history: dict[str, list[dict[str, Any]]]  # stage -> one line an epoch
    selected: dict[str, Any]  # epoch and value of the main stage's selection
    described: dict[str, dict[str, Any]]  # stage -> numbers by group, for the reports


class Trainer:
    """Trains any method on any bundle.

    Args:
        training: settings of the main stage.
        first: what preliminary stages do differently.
        seed: of every named stream.
        selection: which epoch is kept; a name of ``SELECTIONS``.
        device: where to train.
        shelf: where checkpoints and finished preliminary stages are kept.
        callbacks: who looks on.
        key: what the model is, for the keys of preliminary stages.
    """

    def __init__(
        self,
        training: Training,
        first: FirstStage | None = None,
        *,
        seed: int = 0,
        selection: Rule = SELECTIONS["worst_group"],
        device: str = "cpu",
        shelf: NoShelf | None = None,
        callbacks: Sequence[Callback] = (),
        key: str = "",
    ) -> None:
        self.training = training
        self.first = (first or FirstStage()).over(training)
        self.seed, self.selection, self.device = seed, selection, device
        self.shelf = shelf or NoShelf()
        self.callbacks, self.key = tuple(callbacks), key

    def fit(self, make_model: MakeModel, method: Method, bundle: Bundle) -> Fitted:
        """Train every stage of ``method``, and keep the selected epoch of the last one."""
        check_permission(method, bundle)
        nothing_right = GroupTable.of(np.zeros(len(bundle.valid), dtype=bool), bundle.valid.member(bundle.n_groups))
        self.selection.value(nothing_right, 0)  # a rule that lacks its groups says so before hours of training
        history: dict[str, list[dict[str, Any]]] = {}
        described: dict[str, dict[str, Any]] = {}
        progress: Progress | None = None
        for callback in self.callbacks:
            callback.on_start(self)
        for stage in method.stages(bundle.facts(method.groups, self.first.epochs)):
            progress = self._run_stage(stage, progress, make_model, method, bundle)
            history[stage.name] = progress.history
            if bundle.train_member is not None:
                described[stage.name] = stage.recipe.weighting.describe(bundle.train_member)
        assert progress is not None, f"{method!r} has no stage"
        model = bare(progress.model)
        model.load_state_dict(progress.best_model)
        model.requires_grad_(True)
        for callback in self.callbacks:
            callback.on_end(self)
        return Fitted(model, history, progress.best, described)

    def _run_stage(
        self, stage: Stage, before: Progress | None, make_model: MakeModel, method: Method, bundle: Bundle
    ) -> Progress:
        progress = self._begin(stage, before, make_model)
        if not stage.preliminary:
            self._train_stage(progress, method, bundle, self.shelf)
            return progress
        key = self._stage_key(stage, method, bundle)
        with self.shelf.at_stage(key) as shelf:
            kept = shelf.load_stage(key)
            if kept is None:
                self._train_stage(progress, method, bundle, shelf)
                shelf.save_stage(key, progress.state())
            else:
                progress.restore(kept)
                log.info("Stage %r of seed %d was trained before and is reused.", stage.name, self.seed)
                self._tell("on_stage", self._moment(progress, 0), True)
        return progress

    def _train_stage(self, progress: Progress, method: Method, bundle: Bundle, shelf: NoShelf) -> None:
        self._tell("on_stage", self._moment(progress, 0), False)
        self._resume(progress, shelf)
        while progress.epoch < progress.training.epochs and not self._enough(progress):
            self._epoch(progress, method.groups, bundle)
            shelf.save_epoch(progress.state())

    def _begin(self, stage: Stage, before: Progress | None, make_model: MakeModel) -> Progress:
        with torch_stream(self.seed, "init", stage.name):
            model = make_model() if before is None or stage.fresh_model else bare(before.model)
            model = stage.recipe.accompany(model).to(self.device)
        if stage.head_only:
            features_of(model).requires_grad_(False)
        training = self.first if stage.preliminary else self.training
        return Progress(stage, training, model, make_optimizer(model, training))

    @staticmethod
    def _resume(progress: Progress, shelf: NoShelf) -> None:
        state = shelf.load_epoch()
        if state is not None and state["stage"] == progress.stage.name:
            progress.restore(state)
            log.info("Going on after epoch %d of stage %r.", progress.epoch, progress.stage.name)

    def _epoch(self, progress: Progress, groups: Groups, bundle: Bundle) -> None:
        stage, name = progress.stage, (progress.stage.name, progress.epoch)
        watch = LossWatch(*name)
        with torch_stream(self.seed, "model", *name, *rank_name()):
            self._train_epoch(progress, groups, bundle, watch)
            loss = watch.mean()
            watch.check(progress.model)
            if stage.observe == "clean":
                self._clean_pass(progress, bundle)
            stage.recipe.weighting.end_epoch()
            table = evaluate(progress.model, bundle.valid, bundle.n_groups)
        record = {"epoch": progress.epoch, "loss": loss, "valid": table.to_json()}
        if not stage.preliminary:
            self._select(progress, self.selection.value(table, progress.epoch))
        progress.history.append(record)
        progress.epoch += 1
        self._tell("on_epoch", self._moment(progress, 0), record)

    def _train_epoch(self, progress: Progress, groups: Groups, bundle: Bundle, watch: LossWatch) -> None:
        stage, training, model, optimizer = progress.stage, progress.training, progress.model, progress.optimizer
        name, size = (stage.name, progress.epoch), training.batch_size
        order = training_order(bundle, stage.recipe.sampler, size, stream(self.seed, "order", *name), groups)
        mix = stream(self.seed, "mix", *name)
        per_epoch = -(-len(order) // size)
        step = progress.epoch * per_epoch
        model.train()
        if stage.head_only:
            features_of(model).eval()
        augment = partial(stream, self.seed, "augment", *name)
        for batch in training_batches(bundle, order, size, groups, augment):
            rate = rate_at(training, step, training.epochs * per_epoch)
            set_rate(optimizer, rate)
            outcome = stage.recipe.update(model, optimizer, on_device(batch, self.device), mix, training.clip_norm)
            watch.see(outcome, rate)
            if outcome.mixed.clean and stage.observe == "training":
                stage.recipe.weighting.observe(outcome.batch, outcome.logits)
            if self.callbacks:
                self._tell("on_step", self._moment(progress, step), outcome)
            step += 1

    def _enough(self, progress: Progress) -> bool:
        return not progress.stage.preliminary and self.selection.enough(progress.history)

    @staticmethod
    def _clean_pass(progress: Progress, bundle: Bundle) -> None:
        logits = predict(progress.model, bundle.train)
        y, index = bundle.train.y, torch.arange(len(bundle.train))
        shown = Batch(logits, y, index, torch.ones(len(y)))  # notes read predictions, not inputs
        progress.stage.recipe.weighting.observe(shown, logits)

    @staticmethod
    def _select(progress: Progress, value: float) -> None:
        if not progress.best or value > progress.best["value"]:
            progress.best = {"epoch": progress.epoch, "value": value}
            progress.best_model = copy.deepcopy(bare(progress.model).state_dict())

    def _stage_key(self, stage: Stage, method: Method, bundle: Bundle) -> str:
        """Names all that determines what a preliminary stage leaves."""
        what = stage.identity or repr(method)
        parts = [__version__, bundle.checksum, self.key, self.seed, stage.name, what, asdict(self.first)]
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:16]

    @staticmethod
    def _moment(progress: Progress, step: int) -> Moment:
        return Moment(progress.stage.name, progress.epoch, progress.training.epochs, step)

    def _tell(self, hook: str, *what: Any) -> None:
        for callback in self.callbacks:
            getattr(callback, hook)(*what)


def features_of(model: nn.Module) -> nn.Module:
    """The part of a model that a stage of the head alone leaves as it is."""
    features = getattr(bare(model), "features", None)
    if not isinstance(features, nn.Module):
        raise InvalidValueError(
            f"Training the head alone needs a model with modules `features` and `head`, got {type(model).__name__}."
        )
    return features


def on_device(batch: Batch, device: str) -> Batch:
    """The batch on ``device``; the same object where it is there already."""
    if device == "cpu":
        return batch
    x, y, index, weight = (value.to(device) for value in (batch.x, batch.y, batch.index, batch.weight))
    return Batch(x, y, index, weight, None if batch.group is None else batch.group.to(device))


def check_permission(method: Method, bundle: Bundle) -> None:
    """A method that reads group labels needs a training split that has them."""
    if Groups.TRAIN in method.groups and bundle.train.group is None:
        raise HiddenGroupsError(
            f"Method {method.name!r} reads group labels in training, but data set {bundle.name!r} has none; "
            "use a method that does not, such as erm, mixup or rmix."
        )
