"""Automatic feature reweighting: the last layer alone, on rows held out, the unlikely ones most."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from math import inf
from typing import Any, ClassVar

import numpy as np
from torch import Tensor, nn

from rmix.batch import Batch
from rmix.errors import require
from rmix.joined import penalty_once
from rmix.methods.base import Method
from rmix.methods.last_layer import features_stage, linear_head
from rmix.methods.space import Choice, Space, log_uniform
from rmix.recipe import Facts, Outcome, Recipe, Rows, Stage
from rmix.samplers import HeldOut, Rest
from rmix.weightings import ByRow, Confidence
from rmix.weightings.rule import check_weights


@dataclass(frozen=True)
class AFR(Method):
    """Train features with ERM, then its last layer on held-out rows, those it finds unlikely most.

    Paper: Qiu et al., Simple and fast group robustness by automatic feature reweighting, ICML 2023.
    Idea: As `dfr`, without group labels: a held-out row whose class ERM gives probability p is likely
        of a small group where p is low, and weighs exp(-gamma p).
    Sees: No group labels.
    Cost: An ERM run on the rest of the rows first, with an evaluation pass over training an epoch (kept,
        and shared by later runs), then a forward pass and a backward pass of the last layer a step, of
        epochs as long as the held-out part. Measured: 0.6 of an ERM update.
    Deviations: Trained in batches with the optimizer of the run, where the published code takes full
        gradients of the stored features of augmented images.
    Reference numbers: None in the paper's tables; its authors report other splits.

    Args:
        gamma: how much an unlikely row gains: a row of probability 0 weighs exp(gamma) times one of 1.
        l2: lambda, how strongly the last layer is pulled to where ERM left it.
        balance_classes: weights are also inverse to the size of the class, as in the published code.
        held_out: share of each class that is held out for the last layer.
        split_seed: which rows are held out; not changed by the seed of the run.
    """

    name: ClassVar[str] = "afr"
    space: ClassVar[Space] = {"gamma": log_uniform(1, 20), "l2": Choice((0.0, 0.1, 0.2, 0.3, 0.4))}
    gamma: float = 4.0
    l2: float = 0.0
    balance_classes: bool = True
    held_out: float = 0.2
    split_seed: int = 0

    def __post_init__(self) -> None:
        require(0 <= self.gamma < inf, f"gamma must be >= 0 and finite, got {self.gamma} (afr)")
        require(0 <= self.l2 < inf, f"l2 (lambda) must be >= 0 and finite, got {self.l2} (afr)")
        HeldOut(self.held_out)  # refuses a bad share

    def stages(self, facts: Facts) -> Iterator[Stage]:
        part, notes = HeldOut(self.held_out, self.split_seed), Confidence(facts.n)
        yield from features_stage(Rest(self.held_out, self.split_seed), notes)
        weight = self.weights(notes.chance.numpy(), notes.y.numpy(), part.mask(Rows(notes.y)))
        yield Stage(PulledHead(part, ByRow(weight), l2=self.l2), fresh_model=False, head_only=True)

    def weights(self, chance: np.ndarray, y: np.ndarray, held: np.ndarray) -> np.ndarray:
        """Weights of rows whose class got probability ``chance``, of mean one over those held out."""
        weight = np.exp(-self.gamma * chance)
        if self.balance_classes:
            weight /= np.bincount(y[held])[y]
        check_weights(weight[held], self.name)
        scaled: np.ndarray = weight / weight[held].mean()
        return scaled


@dataclass
class PulledHead(Recipe):
    """Trains the last layer, with an L2 pull to where it began."""

    l2: float = 0.0
    began: list[Tensor] = field(default_factory=list)

    def accompany(self, model: nn.Module) -> nn.Module:
        self.began = [parameter.detach().clone() for parameter in linear_head(model).parameters()]
        return model

    def step(self, model: Any, batch: Batch, rng: np.random.Generator) -> Outcome:
        outcome = super().step(model, batch, rng)
        pairs = zip(model.head.parameters(), self.began, strict=True)
        pull = sum(((now - then.to(now)) ** 2).sum() for now, then in pairs)
        return replace(outcome, loss=outcome.loss + penalty_once(self.l2 * pull))
