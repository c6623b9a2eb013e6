"""Short training runs that are watched, and what of them can be compared bit for bit."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from rmix.batch import Batch
from rmix.datasets.base import Bundle
from rmix.experiment.run import torch_threads
from rmix.methods.base import Method
from rmix.recipe import Facts, Outcome, Recipe, Stage
from rmix.testing.toy import toy_bundle, toy_model
from rmix.training.callbacks import Callback, Moment
from rmix.training.checkpoint import NoShelf
from rmix.training.selection import SELECTIONS, Rule
from rmix.training.settings import Training
from rmix.training.trainer import Trainer

Look = Callable[[Batch, Outcome], None]


class Earliest(Rule):
    """Keeps the first epoch, so that what was kept lies before any later interruption."""

    def __init__(self) -> None:
        super().__init__("earliest", "the first epoch", reads_groups=False)

    def value(self, table: Any, epoch: int) -> float:
        return -float(epoch)


@dataclass
class Watched(Method):
    """A method seen through glass: the same stages, and a look at every step."""

    inner: Method
    look: Look | None = None
    facts: Facts | None = None
    seen: list[Stage] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.name, self.groups = self.inner.name, self.inner.groups  # type: ignore[misc]

    def __repr__(self) -> str:
        return repr(self.inner)

    def stages(self, facts: Facts) -> Iterator[Stage]:
        self.facts = facts
        for stage in self.inner.stages(facts):
            self.seen.append(stage)
            if self.look is not None:
                _show_steps(stage.recipe, self.look)
            yield stage


def _show_steps(recipe: Recipe, look: Look) -> None:
    inner = recipe.step

    def step(model: Any, batch: Batch, rng: np.random.Generator) -> Outcome:
        outcome = inner(model, batch, rng)
        look(batch, outcome)
        return outcome

    recipe.step = step  # type: ignore[method-assign]


@dataclass
class Trace(Callback):
    """What a run went through and left; ``weights`` are digests, equal where every bit is."""

    weights: dict[str, list[str]] = field(default_factory=dict)  # stage -> after each epoch
    history: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    described: dict[str, Any] = field(default_factory=dict)
    models: list[nn.Module] = field(default_factory=list)
    selected: str = ""  # digest of the selected epoch's weights
    recipes: list[Recipe] = field(default_factory=list)  # of each stage
    facts: Facts | None = None

    def on_epoch(self, moment: Moment, record: dict[str, Any]) -> None:
        self.weights.setdefault(moment.stage, []).append(digest(self.models[-1]))

    @property
    def model(self) -> nn.Module:
        """The trained model."""
        return self.models[-1]

    @property
    def recipe(self) -> Recipe:
        """The recipe of the last stage, with what it learned."""
        return self.recipes[-1]

    @property
    def main(self) -> list[str]:
        """Digests of the main stage."""
        return self.weights["main"]


def digest(model: nn.Module) -> str:
    """A hash of every bit of a model's weights."""
    sha = hashlib.sha256()
    for name, value in model.state_dict().items():
        sha.update(name.encode() + value.contiguous().numpy().tobytes())
    return sha.hexdigest()[:16]


def fit(
    method: Method,
    bundle: Bundle | None = None,
    *,
    epochs: int = 2,
    batch_size: int = 16,
    lr: float = 0.05,
    seed: int = 0,
    model: Callable[[], nn.Module] = lambda: toy_model(dropout=0.25),
    selection: Rule = SELECTIONS["last"],
    shelf: NoShelf | None = None,
    look: Look | None = None,
    callbacks: Sequence[Callback] = (),
) -> Trace:
    """Train ``method`` on ``bundle`` (the toy task unless given), and keep a trace."""
    trace, watched = Trace(), Watched(method, look)

    def make_model() -> nn.Module:
        trace.models.append(model())
        return trace.models[-1]

    training = Training(epochs=epochs, batch_size=batch_size, lr=lr, weight_decay=0.0)
    watchers = (trace, *callbacks)
    trainer = Trainer(training, seed=seed, selection=selection, shelf=shelf, callbacks=watchers)
    with torch_threads(1):
        fitted = trainer.fit(make_model, watched, toy_bundle() if bundle is None else bundle)
    trace.history, trace.described, trace.selected = fitted.history, fitted.described, digest(fitted.model)
    trace.recipes, trace.facts = [stage.recipe for stage in watched.seen], watched.facts
    return trace


def same_bits(a: Tensor | None, b: Tensor | None) -> bool:
    """Whether two fields are alike in type, shape and every value."""
    if a is None or b is None:
        return a is b
    return a.dtype == b.dtype and torch.equal(a, b)


def clone(batch: Batch) -> Batch:
    """A batch that shares no memory with ``batch``."""
    group = None if batch.group is None else batch.group.clone()
    return Batch(batch.x.clone(), batch.y.clone(), batch.index.clone(), batch.weight.clone(), group)


def changed_fields(a: Batch, b: Batch) -> list[str]:
    """Names of the fields in which two batches differ."""
    return [f for f in ("x", "y", "index", "weight", "group") if not same_bits(getattr(a, f), getattr(b, f))]


def same_weights(a: Trace, b: Trace, what: str, stages: Sequence[str] | None = None) -> None:
    """Every stage went through the same weights."""
    names = list(a.weights) if stages is None else stages
    for stage, epoch, left, right in _pairs(a, b, names):
        assert left == right, f"{what} differ after epoch {epoch} of stage {stage!r} (weights {left} and {right})"


def _pairs(a: Trace, b: Trace, stages: Sequence[str]) -> Iterator[tuple[str, int, str, str]]:
    for stage in stages:
        assert stage in b.weights, f"stages are {list(a.weights)} and {list(b.weights)}"
        for epoch, (left, right) in enumerate(zip(a.weights[stage], b.weights[stage], strict=True)):
            yield stage, epoch, left, right
