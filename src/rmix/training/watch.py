"""Watches the losses of an epoch; a loss that is not finite ends the run."""

from __future__ import annotations

import torch
from torch import Tensor

from rmix.errors import DivergedError
from rmix.recipe import Outcome

EVERY = 100  # steps between looks: looking at each step would wait for the device


class LossWatch:
    """Collects losses without waiting for them, and looks at them in bulk."""

    def __init__(self, stage: str, epoch: int) -> None:
        self.place = f"stage {stage!r}, epoch {epoch}"
        self._losses: list[Tensor] = []
        self._weights: list[Tensor] = []
        self._rates: list[float] = []
        self._sum, self._steps = 0.0, 0

    def see(self, outcome: Outcome, rate: float) -> None:
        """Note the loss, the weights and the learning rate of a step."""
        self._losses.append(outcome.loss.detach())
        self._weights.append(outcome.batch.weight)
        self._rates.append(rate)
        if len(self._losses) == EVERY:
            self._look()

    def mean(self) -> float:
        """Mean loss of all steps seen."""
        self._look()
        return self._sum / max(1, self._steps)

    def _look(self) -> None:
        if not self._losses:
            return
        losses = torch.stack(self._losses).double()
        bad = (~losses.isfinite()).nonzero().flatten()
        if len(bad):
            self._stop(int(bad[0]), losses)
        self._sum += losses.sum().item()
        self._steps += len(losses)
        self._losses, self._weights, self._rates = [], [], []

    def _stop(self, step: int, losses: Tensor) -> None:
        raise DivergedError(
            f"The loss became {losses[step].item()} in {self.place}, step {self._steps + step} "
            f"(learning rate {self._rates[step]:.4g}, largest weight {self._weights[step].max().item():.4g}); "
            "lower the learning rate or the weights. The last good checkpoint is kept."
        )
