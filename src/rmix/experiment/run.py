"""One run, from a configuration to a result: the only output of training."""

from __future__ import annotations

import json
import logging
import platform
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from rmix._version import __version__
from rmix.batch import Groups
from rmix.datasets import Bundle, Split
from rmix.errors import CheckpointError, DivergedError, InvalidValueError
from rmix.experiment.config import Config, config_from
from rmix.experiment.events import EventLog
from rmix.experiment.result import Result
from rmix.experiment.store import Store, run_id
from rmix.models import embed
from rmix.training.callbacks import Callback
from rmix.training.evaluate import evaluate, predict
from rmix.training.selection import SELECTIONS
from rmix.training.trainer import Fitted, Trainer

log = logging.getLogger(__name__)
GRID = 60  # points a side of the surface


@dataclass(frozen=True)
class Run:
    """A result and the model of the selected epoch."""

    result: Result
    model: nn.Module
    reused: bool = False  # the run had ended before, and was read from the store


def train(
    dataset: Any = "moons",
    method: Any = "rmix",
    *,
    store: str | Path | None = None,
    device: str = "cpu",
    threads: int | None = 1,
    callbacks: Sequence[Callback] = (),
    **settings: Any,
) -> Run:
    """Train a method on a data set, select an epoch on validation, and evaluate it once on test.

    Args:
        dataset: a name, a mapping of settings with a name, a data set, or a bundle of your own splits.
        method: a name, a mapping of settings with a name, or a method, composed ones included.
        store: folder in which runs are kept; a run that ended there is read, one that was killed goes on.
        device: where to train.
        threads: threads of torch while training (few are faster on small models); None = as they are.
        callbacks: who looks on.
        **settings: ``features``, ``model`` (any torch.nn.Module, too), ``training``, ``first``, ``selection`` and
            ``seed`` of the configuration.

    Example:
        >>> run = train("moons", "erm", training={"epochs": 1})
        >>> run.result.test.n_groups
        4
    """
    config = config_from({"dataset": dataset, "method": method, **settings})
    return run_config(config, store=store, device=device, threads=threads, callbacks=callbacks)


def run_config(
    config: Config,
    *,
    store: str | Path | None = None,
    device: str = "cpu",
    threads: int | None = 1,
    callbacks: Sequence[Callback] = (),
    bundle: Bundle | None = None,
    wait: bool = True,
) -> Run:
    """Train what ``config`` says; see :func:`train`.

    Args:
        bundle: what ``config.dataset`` loads, where it was loaded before.
        wait: for another process that trains the same run; otherwise :class:`rmix.errors.BusyError`.
    """
    check_device(device)
    bundle = bundle or config.dataset.load()
    kept = Store(store) if store is not None else None
    identity = run_id(config.to_plain(), bundle.checksum)
    with kept.lock(identity, wait=wait) if kept else nullcontext():
        return _read_or_train(config, bundle, identity, kept, device, threads, callbacks)


def _read_or_train(
    config: Config,
    bundle: Bundle,
    identity: str,
    kept: Store | None,
    device: str,
    threads: int | None,
    callbacks: Sequence[Callback],
) -> Run:
    plain = config.to_plain()
    shown = config.model.prepare(embed(bundle, config.features, device=device) if config.features else bundle)
    make_model = _model_maker(config, shown)
    if kept and (ended := _ended(config, shown, identity, kept)):
        return ended
    trainer = Trainer(
        config.training,
        config.first,
        seed=config.seed,
        selection=SELECTIONS[config.selection],
        device=device,
        shelf=kept.begin(identity, plain) if kept else None,
        callbacks=[*callbacks, *([EventLog(kept.folder(identity))] if kept else [])],
        key=json.dumps(plain["model"]),
    )
    blank = blank_result(identity, config, bundle, device)
    with torch_threads(threads):
        return _train(trainer, make_model, config, shown, blank, kept)


def _ended(config: Config, bundle: Bundle, identity: str, kept: Store) -> Run | None:
    """The run as it ended before, if it did."""
    result = kept.result(identity)
    if result is None or result.failure is not None:
        return None
    try:
        model = config.model.restored(bundle.shape, bundle.n_classes, kept.model(identity))
    except CheckpointError as error:
        log.warning("%s The run goes on from its last checkpoint instead.", error)
        return None
    log.info("Run %s ended before; its result is shown.", identity)
    return Run(result, model, reused=True)


def _train(
    trainer: Trainer,
    make_model: Callable[[], nn.Module],
    config: Config,
    bundle: Bundle,
    blank: Result,
    kept: Store | None,
) -> Run:
    try:
        fitted = trainer.fit(make_model, config.method, bundle)
    except DivergedError as error:
        if kept:
            kept.finish(replace(blank, failure=str(error)), None)
        raise
    result = _complete(blank, fitted, config, bundle)
    if kept:
        kept.finish(result, fitted.model.state_dict())
    return Run(result, fitted.model)


def blank_result(identity: str, config: Config, bundle: Bundle, device: str, failure: str | None = None) -> Result:
    """The result as far as it is known before training."""
    return Result(
        id=identity,
        config=config.to_plain(),
        class_names=bundle.class_names,
        group_names=bundle.group_names,
        train_counts=bundle.train_counts,
        groups_used={
            "fit": config.method.groups != Groups.NONE,
            "select": SELECTIONS[config.selection].reads_groups,
        },
        history={},
        selected={},
        test=None,
        environment={
            "rmix": __version__,
            "torch": torch.__version__.split("+")[0],
            "numpy": np.__version__,
            "python": platform.python_version(),
            "device": device,
            "data": bundle.checksum,
        },
        failure=failure,
    )


def _complete(blank: Result, fitted: Fitted, config: Config, bundle: Bundle) -> Result:
    return replace(
        blank,
        history=fitted.history,
        selected={"rule": config.selection, **fitted.selected},
        test=evaluate(fitted.model, bundle.test, bundle.n_groups),
        described=fitted.described,
        surface=surface_of(fitted.model, bundle.train.x) if bundle.shape == (2,) else None,
    )


def _model_maker(config: Config, bundle: Bundle) -> Callable[[], nn.Module]:
    return lambda: config.model.build(bundle.shape, bundle.n_classes)


def surface_of(model: nn.Module, points: Tensor) -> dict[str, Any]:
    """Probability of class 1 over a grid around ``points`` (n, 2), for the picture of the boundary."""
    low, high = points.amin(0) - 0.4, points.amax(0) + 0.4
    axes = [torch.linspace(float(a), float(b), GRID) for a, b in zip(low, high, strict=True)]
    grid = torch.cartesian_prod(*axes).to(points.dtype)
    with torch.no_grad():
        chance = predict(model, Split(grid, torch.zeros(len(grid), dtype=torch.int64))).softmax(1)[:, 1]
    return {
        "x": [round(v, 4) for v in axes[0].tolist()],
        "y": [round(v, 4) for v in axes[1].tolist()],
        "chance": [[round(v, 4) for v in row] for row in chance.view(GRID, GRID).T.tolist()],
    }


def check_device(device: str) -> None:
    """A device that torch does not know, or cannot use here, is refused before anything is read."""
    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:
        reason = str(error).splitlines()[0][:80]
        raise InvalidValueError(f"Device {device!r} cannot be used here ({reason}); use cpu.") from error


@contextmanager
def torch_threads(count: int | None) -> Iterator[None]:
    """Use ``count`` threads inside, and as many as before outside."""
    before = torch.get_num_threads()
    torch.set_num_threads(count or before)
    try:
        yield
    finally:
        torch.set_num_threads(before)
