"""What it costs to take notes of a run: time as a share of the epoch, and bytes."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from time import thread_time
from typing import ClassVar

from torch import Tensor

from benchmarks.epoch import MODEL, TRAINING, make_bundle
from benchmarks.timing import Line
from rmix.batch import Batch
from rmix.methods import Method
from rmix.recipe import Facts, Recipe
from rmix.training.trainer import Trainer
from rmix.weightings.trajectory import Trajectory


class Timed(Trajectory):
    """Notes that time themselves, where they are taken."""

    seconds = 0.0

    def observe(self, batch: Batch, logits: Tensor) -> None:
        start = thread_time()
        super().observe(batch, logits)
        self.seconds += thread_time() - start

    def end_epoch(self) -> None:
        start = thread_time()
        super().end_epoch()
        self.seconds += thread_time() - start


@dataclass(frozen=True)
class Noted(Method):
    """ERM that takes the given notes."""

    notes: Trajectory
    name: ClassVar[str] = "noted"

    def recipe(self, facts: Facts) -> Recipe:
        return Recipe(weighting=self.notes)


def lines() -> list[Line]:
    """Share of the time, and bytes a row and epoch."""
    bundle = make_bundle()
    shares = []
    for _ in range(15):
        notes, start = Timed(len(bundle.train)), thread_time()
        Trainer(TRAINING).fit(lambda: MODEL.build((2,), 2), Noted(notes), bundle)
        shares.append(notes.seconds / (thread_time() - start))
    share, size = median(shares), notes.bits.nbytes / notes.bits.shape[0] / notes.n
    return [
        Line("recording the trajectory, share of an ERM epoch", f"{share:.1%}", "<= 2 %", share <= 0.02),
        Line("trajectory, bytes a row and epoch", f"{size:g}", "0.125", size == 1 / 8),
    ]
