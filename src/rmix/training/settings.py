"""How a stage is optimised: plain numbers, no torch."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from math import inf
from typing import Literal

from rmix.errors import require

OPTIMIZERS = ("sgd", "adamw")
SCHEDULES = ("constant", "linear", "cosine")


@dataclass(frozen=True)
class Training:
    """Optimisation of a stage.

    Args:
        epochs: passes over the training split.
        batch_size: rows of a step; the last batch of an epoch may be smaller.
        optimizer: sgd or adamw.
        lr: learning rate.
        momentum: of sgd.
        weight_decay: L2 penalty of sgd, decoupled decay of adamw.
        schedule: constant; linear (to zero after the warm-up) or cosine (likewise).
        warmup: share of the steps over which the learning rate rises from zero.
        clip_norm: largest norm of the gradient; None = not clipped.
    """

    epochs: int = 40
    batch_size: int = 64
    optimizer: Literal["sgd", "adamw"] = "sgd"
    lr: float = 0.01
    momentum: float = 0.9
    weight_decay: float = 1e-4
    schedule: Literal["constant", "linear", "cosine"] = "constant"
    warmup: float = 0.0
    clip_norm: float | None = None

    def __post_init__(self) -> None:
        require(self.epochs >= 1, f"epochs must be >= 1, got {self.epochs}")
        require(self.batch_size >= 1, f"batch_size must be >= 1, got {self.batch_size}")
        require(self.optimizer in OPTIMIZERS, f"optimizer must be one of {OPTIMIZERS}, got {self.optimizer!r}")
        require(0 < self.lr < inf, f"lr must be > 0 and finite, got {self.lr}")
        require(0 <= self.momentum < 1, f"momentum must be in [0, 1), got {self.momentum}")
        require(0 <= self.weight_decay < inf, f"weight_decay must be >= 0 and finite, got {self.weight_decay}")
        require(self.schedule in SCHEDULES, f"schedule must be one of {SCHEDULES}, got {self.schedule!r}")
        require(0 <= self.warmup < 1, f"warmup must be in [0, 1), got {self.warmup}")
        require(self.clip_norm is None or self.clip_norm > 0, f"clip_norm must be > 0, got {self.clip_norm}")


@dataclass(frozen=True)
class FirstStage:
    """What the preliminary stage of a two-stage method does differently; None = as the main stage.

    Args:
        epochs: passes over the training split.
        batch_size: rows of a step.
        lr: learning rate.
        weight_decay: L2 penalty of sgd, decoupled decay of adamw.
        schedule: constant, linear or cosine.
    """

    epochs: int | None = None
    batch_size: int | None = None
    lr: float | None = None
    weight_decay: float | None = None
    schedule: Literal["constant", "linear", "cosine"] | None = None

    def over(self, training: Training) -> Training:
        """The settings of the preliminary stage.

        Example:
            >>> FirstStage(epochs=10).over(Training(epochs=40, lr=0.1)).epochs
            10
        """
        return replace(training, **{k: v for k, v in asdict(self).items() if v is not None})
