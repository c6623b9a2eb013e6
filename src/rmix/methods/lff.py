"""Learning from failure: a twin that is made to fail shows which rows matter."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from rmix.batch import Batch, unmixed
from rmix.errors import InvalidValueError, require
from rmix.losses import GeneralizedCrossEntropy
from rmix.methods.base import Method
from rmix.methods.space import Space, Uniform
from rmix.recipe import Accompanied, Facts, Loss, Outcome, Recipe, Remembers, join_step


@dataclass(frozen=True)
class LfF(Method):
    """Weigh rows by how much harder a twin finds them that was made to follow the shortcut.

    Paper: Nam et al., Learning from failure: Training debiased classifier from biased classifier, NeurIPS 2020.
    Idea: Beside the model a twin is trained with generalised cross entropy, which listens to rows it
        already gets right and so follows the shortcut. A row's weight is the twin's share of its loss
        under both: near 1 where only the twin fails, near 0 where only the model does.
    Sees: No group labels.
    Cost: Two forward and two backward passes a step. Measured: 2.1 of an ERM update.
    Deviations: Losses are smoothed and divided by the largest of the class, as in the published code
        (`decay` 0 and `normalise` false are the formula as printed). The twin's loss is as printed, where
        the code multiplies it by q, and the twin starts from the model's own initial weights.
    Reference numbers: None in the paper's tables.

    Args:
        q: of the twin's generalised cross entropy; higher follows the shortcut more.
        decay: how much of a row's former loss is kept when it is seen again.
        normalise: divide losses by the largest of the row's class before they are compared.
    """

    name: ClassVar[str] = "lff"
    space: ClassVar[Space] = {"q": Uniform(0.5, 0.9)}
    q: float = 0.7
    decay: float = 0.7
    normalise: bool = True

    def __post_init__(self) -> None:
        require(0 <= self.decay < 1, f"decay must be in [0, 1), got {self.decay} (lff)")
        GeneralizedCrossEntropy(self.q)  # refuses a bad q

    def recipe(self, facts: Facts) -> Recipe:
        difficulty = Difficulty(facts.n, facts.n_classes, self.decay, self.normalise)
        return TwinRecipe(difficulty=difficulty, biased=GeneralizedCrossEntropy(self.q))


class Difficulty(Remembers):
    """How hard the model and its twin find every row, smoothed over the times it was seen.

    Args:
        n: rows of the training split.
        n_classes: classes.
        decay: how much of a row's former loss is kept when it is seen again.
        normalise: divide losses by the largest of the row's class before they are compared.
    """

    memory: ClassVar[tuple[str, ...]] = ("losses", "y")

    def __init__(self, n: int, n_classes: int, decay: float, normalise: bool) -> None:
        self.n_classes, self.decay, self.normalise = n_classes, decay, normalise
        self.losses = torch.zeros(2, n)  # of the model and of its twin
        self.y = torch.full((n,), n_classes)  # n_classes where a row was not seen yet

    def __call__(self, batch: Batch, losses: Tensor) -> Tensor:
        """The twin's share (n,) of what both lose on each row, after ``losses`` (2, n) were noted."""
        self._note(batch, losses)
        model, twin = self.losses[:, batch.index]
        if self.normalise:
            largest = losses.new_zeros(2, self.n_classes + 1)
            largest = largest.scatter_reduce(1, self.y.expand(2, -1), self.losses, "amax")
            model, twin = torch.stack([model, twin]) / largest[:, batch.y].clamp_min(torch.finfo(losses.dtype).tiny)
        share: Tensor = twin / (model + twin + 1e-8)
        return share

    def _note(self, batch: Batch, losses: Tensor) -> None:
        """Note the losses of the rows of the batch; a row of weight 0 is not there."""
        self.losses, self.y = self.losses.to(losses), self.y.to(batch.y)  # to the device of the batch, once
        before, known = self.losses[:, batch.index], self.y[batch.index]
        smoothed = torch.where(known < self.n_classes, self.decay * before + (1 - self.decay) * losses, losses)
        counts = batch.weight > 0
        self.losses.index_copy_(1, batch.index, torch.where(counts, smoothed, before))
        self.y.index_copy_(0, batch.index, torch.where(counts, batch.y, known))


@dataclass
class TwinRecipe(Recipe):
    """Trains a model on what its twin finds hard, and the twin on what it finds easy."""

    biased: Loss = field(default_factory=GeneralizedCrossEntropy)  # the twin's
    difficulty: Difficulty = field(kw_only=True)

    def accompany(self, model: nn.Module) -> nn.Module:
        return Accompanied(model, copy.deepcopy(model))

    def step(self, model: Any, batch: Batch, rng: np.random.Generator) -> Outcome:
        batch = replace(batch, weight=self.weighting(batch))
        mixed = self.mixer(batch, rng)
        if not mixed.clean:
            raise InvalidValueError(
                f"lff compares losses of rows as they are, so it takes no mixer; got {self.mixer!r}."
            )
        both = torch.stack([model(mixed.x), model.companion(mixed.x)], dim=1)  # (n, 2, n_classes)
        batch, mixed, both = join_step(batch, mixed, both)
        logits, twin = both.unbind(1)
        losses = torch.stack([self.loss(logits, batch.y), self.loss(twin, batch.y)])
        share = self.difficulty(batch, losses.detach())
        hard = unmixed(replace(batch, weight=batch.weight * share))
        loss = self.reduction([losses[0]], hard) + self.reduction([self.biased(twin, batch.y)], mixed)
        return Outcome(loss, logits, mixed, batch)
