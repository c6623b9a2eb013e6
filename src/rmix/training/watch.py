"""Watches the losses of an epoch; a loss that is not finite ends the run."""

from __future__ import annotations

import torch
from torch import Tensor, nn

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
        self._rate, self._weight = 0.0, torch.zeros(1)  # of the last step looked at

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

    def check(self, model: nn.Module) -> None:
        """A loss shows what the steps before it did; the parameters show what the last step did."""
        if not all(bool(p.isfinite().all()) for p in model.parameters()):
            self._stop("The parameters of the model", "nan or infinite", self._steps - 1, self._rate, self._weight)

    def _look(self) -> None:
        if not self._losses:
            return
        losses = torch.stack(self._losses).double()
        bad = (~losses.isfinite()).nonzero().flatten()
        if len(bad):
            step = int(bad[0])
            value = str(losses[step].item())
            self._stop("The loss", value, self._steps + step, self._rates[step], self._weights[step])
        self._sum += losses.sum().item()
        self._steps += len(losses)
        self._rate, self._weight = self._rates[-1], self._weights[-1]
        self._losses, self._weights, self._rates = [], [], []

    def _stop(self, what: str, value: str, step: int, rate: float, weight: Tensor) -> None:
        raise DivergedError(
            f"{what} became {value} in {self.place}, step {step} "
            f"(learning rate {rate:.4g}, largest weight {weight.max().item():.4g}); "
            "lower the learning rate or the weights. The last good checkpoint is kept."
        )
