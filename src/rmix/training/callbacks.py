"""Five moments at which your own code may look on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rmix.recipe import Outcome


@dataclass(frozen=True)
class Moment:
    """Where a run is."""

    stage: str
    epoch: int = 0  # from 0
    epochs: int = 0
    step: int = 0  # of the stage, from 0


class Callback:
    """Override what you need; what a callback does cannot change the run's randomness."""

    def on_start(self, trainer: Any) -> None:
        """Before the first stage."""

    def on_stage(self, moment: Moment, reused: bool) -> None:
        """Before a stage is trained, or when what it left was taken up."""

    def on_step(self, moment: Moment, outcome: Outcome) -> None:
        """After an optimizer step."""

    def on_epoch(self, moment: Moment, record: dict[str, Any]) -> None:
        """After an epoch was evaluated; ``record`` is its line of the history."""

    def on_end(self, trainer: Any) -> None:
        """After the last stage."""
