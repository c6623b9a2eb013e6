"""Notes of a training run: which row was classified correctly in which epoch, one bit each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import torch
from torch import Tensor

from rmix.batch import Batch
from rmix.errors import require
from rmix.recipe import Facts, Needs, Recipe, Stage, Weighting

Record = Literal["training", "clean"]
RECORDS = ("training", "clean")
HELD_BACK = 1 << 20  # predictions are compared in bulk: one comparison a step would cost a tenth of it


class Trajectory(Weighting):
    """Weights of one that take notes while a model trains.

    Rows that an epoch did not show keep their last bit. ``bits`` has one row of packed bits an
    epoch, so the notes on 4,000 rows take 500 bytes an epoch.

    Example:
        >>> notes = Trajectory(n=2)
        >>> batch = Batch(torch.zeros(2, 1), torch.tensor([0, 1]), torch.arange(2), torch.ones(2))
        >>> notes.observe(batch, torch.tensor([[1.0, 0.0], [1.0, 0.0]]))  # predicts 0 and 0
        >>> notes.end_epoch()
        >>> notes.correct(0, 1).tolist()
        [[True], [False]]
    """

    memory: ClassVar[tuple[str, ...]] = ("bits",)

    def __init__(self, n: int) -> None:
        self.n = n
        self.bits = torch.zeros(0, (n + 7) // 8, dtype=torch.uint8)
        self._latest = np.zeros(n, dtype=bool)
        self._pending: list[tuple[Tensor, Tensor, Tensor]] = []
        self._held = 0

    def observe(self, batch: Batch, logits: Tensor) -> None:
        self._pending.append((batch.index, batch.y, logits.detach()))
        self._held += logits.numel()
        if self._held > HELD_BACK:
            self._compare()

    def end_epoch(self) -> None:
        self.bits = torch.cat([self.bits, self.latest[None]])

    def restore(self, state: Mapping[str, Tensor]) -> None:
        super().restore(state)
        if self.n_epochs:
            self.latest = self.bits[-1]

    @property
    def latest(self) -> Tensor:
        """The last bit of every row, those of the running epoch included, packed."""
        self._compare()
        return torch.from_numpy(np.packbits(self._latest))

    @latest.setter
    def latest(self, packed: Tensor) -> None:
        self._latest = np.unpackbits(packed.numpy(), count=self.n).astype(bool)

    def _compare(self) -> None:
        if self._pending:
            index, y, logits = (torch.cat(column) for column in zip(*self._pending, strict=True))
            self._latest[index.cpu().numpy()] = (logits.argmax(1) == y).cpu().numpy()
        self._pending, self._held = [], 0

    @property
    def n_epochs(self) -> int:
        """Epochs recorded so far."""
        return len(self.bits)

    def correct(self, start: int, window: int) -> np.ndarray:
        """Correctness (n, window) of the epochs ``start`` to ``start + window``, counted from 0."""
        check_window(start, window, self.n_epochs)
        bits: np.ndarray = np.unpackbits(self.bits[start : start + window].numpy(), axis=1, count=self.n)
        return bits.T.astype(bool)

    def misclassified(self, start: int, window: int) -> np.ndarray:
        """Share of the window's epochs in which each row was misclassified, (n,) float64.

        The paper's Eq. (approximation) writes T + 1 terms over T; as its code, this takes T terms.
        """
        share: np.ndarray = 1 - self.correct(start, window).mean(axis=1)
        return share

    def describe(self, member: np.ndarray) -> dict[str, Any]:
        if not self.n_epochs:
            return {}
        correct = self.correct(0, self.n_epochs)
        hits = correct.T.astype(np.float32) @ member.astype(np.float32)  # (epochs, n_groups), exact below 2**24
        return {"train_correct": hits.astype(int).tolist(), "train_total": member.sum(0).tolist()}


def check_window(start: int, window: int, n_epochs: int) -> None:
    """A window of epochs must lie within those recorded."""
    require(
        start >= 0 and window >= 1 and start + window <= n_epochs,
        f"The window of {window} epochs from epoch {start} on (counted from 0) does not lie within the {n_epochs} "
        f"recorded; choose window_start >= 0 and window >= 1 with window_start + window <= {n_epochs}.",
    )


def take_notes(facts: Facts, record: Record = "training", name: str = "notes") -> Needs[Trajectory]:
    """An ERM stage on its own model that takes notes: what RMix, JTT and others start from.

    Args:
        facts: what is known of the training split.
        record: "training" notes the predictions of the training passes, at no extra cost (as
            published); "clean" adds an evaluation pass over the training split after each epoch.
        name: of the stage; two stages of one name draw the same randomness.
    """
    require(record in RECORDS, f"record must be one of {RECORDS}, got {record!r}")
    notes = Trajectory(facts.n)
    yield Stage(Recipe(weighting=notes), name, preliminary=True, observe=record, identity=f"erm, notes from {record}")
    return notes


@dataclass(frozen=True)
class FromTrajectory:
    """Uncertainty of a row: how often one ERM run misclassified it (paper, Eq. approximation).

    Args:
        start: the paper's T_s, first epoch of the window, counted from 0.
        window: the paper's T, epochs in the window; None = all recorded from ``start`` on.
        record: see :func:`take_notes`.
    """

    start: int = 0
    window: int | None = None
    record: Record = "training"
    name: ClassVar[str] = "from_trajectory"

    def prepare(self, facts: Facts) -> Needs[np.ndarray]:
        """Yield the ERM stage, then return the uncertainty (n,)."""
        window = facts.notes_epochs - self.start if self.window is None else self.window
        check_window(self.start, window, facts.notes_epochs)  # before hours of training, not after
        notes = yield from take_notes(facts, self.record)
        return notes.misclassified(self.start, window)


@dataclass(frozen=True)
class FromEnsemble:
    """Uncertainty of a row: how many of several trained models misclassify it (paper, Appendix A.1).

    Each model has its own initial weights and order; its predictions are taken after its last epoch.
    """

    models: int = 5
    name: ClassVar[str] = "from_ensemble"

    def __post_init__(self) -> None:
        require(self.models >= 1, f"models must be >= 1, got {self.models} ({self.name})")

    def prepare(self, facts: Facts) -> Needs[np.ndarray]:
        """Yield one ERM stage a model, then return the uncertainty (n,)."""
        wrong = np.zeros(facts.n)
        for member in range(self.models):
            notes = yield from take_notes(facts, "clean", name=f"notes-{member}")
            wrong += notes.misclassified(notes.n_epochs - 1, 1)
        return wrong / self.models
