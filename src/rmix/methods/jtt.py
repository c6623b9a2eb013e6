"""Just train twice."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from rmix.errors import require
from rmix.methods.base import Method
from rmix.methods.space import Choice, Space
from rmix.recipe import Facts, Recipe, Stage
from rmix.samplers import Upsampled
from rmix.weightings import take_notes
from rmix.weightings.trajectory import Record


@dataclass(frozen=True)
class JTT(Method):
    """Train ERM, then train again with the rows it got wrong repeated.

    Paper: Liu et al., Just train twice: Improving group robustness without training group information, ICML 2021.
    Idea: Rows that ERM gets wrong after a few epochs are likely of a small group. A fresh model sees
        each of them 1 + lambda_up times an epoch, and every other row once.
    Sees: No group labels.
    Cost: An ERM run first (kept, and shared by later runs), then one forward and one backward pass a
        step, of epochs that are longer by lambda_up times the share of errors. Measured: 1.0 of an ERM update.
    Deviations: The first run trains all epochs of the first stage, of which the T-th gives the error
        set; the published code is run for T.
    Reference numbers: The paper's worst group: Waterbirds 86.0, CelebA 81.1, CivilComments 67.4 ± 0.5.

    Args:
        up_weight: lambda_up, the extra copies of each row of the error set.
        epoch: T, the epoch of the first stage whose errors count, from 1; None = its last.
        record: training (predictions of the training pass, as published) or clean (an evaluation pass an epoch).
    """

    name: ClassVar[str] = "jtt"
    erm_limit: ClassVar[Mapping[str, Any]] = {"up_weight": 0}
    space: ClassVar[Space] = {"up_weight": Choice((4, 5, 6, 20, 50, 100))}
    up_weight: int = 20
    epoch: int | None = None
    record: Record = "training"

    def __post_init__(self) -> None:
        require(self.up_weight >= 0, f"up_weight (lambda_up) must be >= 0, got {self.up_weight} (jtt)")
        require(self.epoch is None or self.epoch >= 1, f"epoch (T) must be >= 1, got {self.epoch} (jtt)")

    def stages(self, facts: Facts) -> Iterator[Stage]:
        epoch = facts.notes_epochs if self.epoch is None else self.epoch
        require(
            epoch <= facts.notes_epochs,
            f"epoch (T) must be at most {facts.notes_epochs}, the epochs of the first stage; got {epoch} (jtt)",
        )
        notes = yield from take_notes(facts, self.record)
        wrong = ~notes.correct(epoch - 1, 1)[:, 0]
        yield Stage(Recipe(sampler=Upsampled(tuple((1 + self.up_weight * wrong).tolist()))))
