"""Deep feature reweighting: the last layer alone, on rows held out, every group alike."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import inf
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from rmix.batch import Batch, Groups
from rmix.errors import require
from rmix.joined import join, penalty_once
from rmix.methods.base import Method
from rmix.methods.last_layer import features_stage, linear_head
from rmix.methods.penalised import watch_head
from rmix.methods.space import Space, log_uniform
from rmix.recipe import Facts, Outcome, Recipe, Stage
from rmix.samplers import Balanced, HeldOut, Rest


@dataclass(frozen=True)
class DFR(Method):
    """Train features with ERM, then a new last layer on held-out rows, every group alike.

    Paper: Kirichenko et al., Last layer re-training is sufficient for robustness to spurious correlations, ICLR 2023.
    Idea: ERM learns the features that small groups need, and then hardly uses them: the last layer
        follows the shortcut. A sparse last layer, fitted where the shortcut does not pay, uses them.
    Sees: Group labels in training.
    Cost: An ERM run on the rest of the rows first (kept, and shared by later runs), then a forward pass
        and a backward pass of the last layer a step, of epochs as long as the held-out part.
        Measured: 0.6 of an ERM update.
    Deviations: The original fits on the validation split; here a share of the training split is held
        out, so that validation selects for every method alike. Its ten and more regressions, each on a
        balanced subset, whose weights are averaged, are here balanced draws, anew every epoch. The L1 penalty is of the
        weights of standardised features, whose standard deviation is that of the batch; it is trained
        by gradient steps, so weights become small rather than exactly 0.
    Reference numbers: None in the paper's tables; its authors report other splits.

    Args:
        l1: strength of the penalty; a solver's C on n rows is 1 / (C n).
        held_out: share of each group that is held out for the last layer.
        split_seed: which rows are held out; not changed by the seed of the run.
    """

    name: ClassVar[str] = "dfr"
    groups = Groups.TRAIN
    space: ClassVar[Space] = {"l1": log_uniform(1e-4, 0.1)}
    l1: float = 0.003
    held_out: float = 0.2
    split_seed: int = 0

    def __post_init__(self) -> None:
        require(0 <= self.l1 < inf, f"l1 must be >= 0 and finite, got {self.l1} (dfr)")
        HeldOut(self.held_out)  # refuses a bad share

    def stages(self, facts: Facts) -> Iterator[Stage]:
        yield from features_stage(Rest(self.held_out, self.split_seed, by_group=True))
        part = HeldOut(self.held_out, self.split_seed, by_group=True, sampler=Balanced())
        yield Stage(SparseHead(part, l1=self.l1), fresh_model=False, head_only=True)


@dataclass
class SparseHead(Recipe):
    """Fits a new last layer, with an L1 penalty on the weights that standardised features would have.

    The weight of a feature divided by its standard deviation is its weight times that deviation; the
    mean that is taken off is a matter of the bias alone.
    """

    l1: float = 0.0

    def accompany(self, model: nn.Module) -> nn.Module:
        for parameter in linear_head(model).parameters():
            nn.init.zeros_(parameter)
        return model

    def step(self, model: Any, batch: Batch, rng: np.random.Generator) -> Outcome:
        with watch_head(model) as shown:
            outcome = super().step(model, batch, rng)
        mass = torch.stack([part.weight for part in outcome.mixed.parts]).sum(0)
        spread = deviation(join(shown[-1].detach()), mass)
        penalty = self.l1 * (model.head.weight.abs() * spread).sum()
        return replace(outcome, loss=outcome.loss + penalty_once(penalty))


def deviation(features: Tensor, weight: Tensor) -> Tensor:
    """Standard deviation of each feature (n, d) over rows that count ``weight`` (n,) times.

    Example:
        >>> deviation(torch.tensor([[0.0], [4.0]]), torch.tensor([3.0, 1.0])).item()  # mean 1, variance 3
        1.7320507764816284
    """
    share = weight / weight.sum().clamp_min(torch.finfo(weight.dtype).tiny)
    centred = features - share @ features
    return (share @ centred**2).sqrt()
