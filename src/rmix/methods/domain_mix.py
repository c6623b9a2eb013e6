"""DomainMix: mixup of rows from different groups."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import inf
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from rmix.batch import Batch, Groups, Part
from rmix.errors import InvalidValueError, require
from rmix.joined import join
from rmix.methods.base import Method
from rmix.methods.mixup import Mix, make_mixer
from rmix.methods.penalised import watch_head
from rmix.methods.space import Space, log_uniform
from rmix.mixers import OtherGroup
from rmix.recipe import Accompanied, Facts, Mixer, Outcome, Recipe, Sampler, average, bare, cross_entropy
from rmix.samplers import PerGroup

WIDTH = 64  # hidden units of the group head


@dataclass(frozen=True)
class DomainMix(Method):
    """Mixup of rows from different groups, with an optional head that must not recognise them.

    Paper: Xu et al., Adversarial domain adaptation with domain mixup, AAAI 2020.
    Idea: Blends of two groups fill the space between them, so the classifier cannot tell them apart so
        easily. With an adversary, a second head is trained to tell the groups from the features while
        the features are trained to mislead it, by a reversed gradient.
    Sees: Group labels in training.
    Cost: One forward and one backward pass a step. Measured: 1.3 of an ERM update.
    Deviations: The original adapts to a target domain without labels, which there is none of here, and no
        code of its use with labelled groups is public (the numbers below are quoted from the LISA paper,
        whose code does not include it). This is what DomainBed runs under this paper's name: each row is
        mixed with one of another group, one lambda ~ Beta(0.2, 0.2) a batch. Partners are drawn, not
        dealt by pairs of groups, and the adversary, off by default, has the groups of both rows as its
        targets, weighted by lambda.
    Reference numbers: The paper's worst group: Waterbirds 53.0 ± 1.3, CelebA 65.6 ± 1.7, CivilComments 63.6 ± 2.5.

    Args:
        alpha: lambda is drawn from Beta(alpha, alpha).
        mix_prob: probability of mixing a batch.
        mix: mixup, cutmix, manifold (as the original, on features), manifold_random, or none.
        per_sample: one lambda a row instead of one a batch.
        adversary: weight of the group head's loss; 0 = there is none.
        balanced: draw batches with equally many rows of each group.
    """

    name: ClassVar[str] = "domain_mix"
    groups = Groups.TRAIN
    erm_limit: ClassVar[Mapping[str, Any]] = {"mix_prob": 0.0, "adversary": 0.0, "balanced": False}
    space: ClassVar[Space] = {"alpha": log_uniform(0.1, 10)}
    alpha: float = 0.2
    mix_prob: float = 1.0
    mix: Mix = "mixup"
    per_sample: bool = False
    adversary: float = 0.0
    balanced: bool = True

    def __post_init__(self) -> None:
        require(0 <= self.adversary < inf, f"adversary must be >= 0 and finite, got {self.adversary} ({self.name})")
        self._mixer()  # a bad setting is refused where it is written down

    def recipe(self, facts: Facts) -> Recipe:
        sampler = PerGroup() if self.balanced else Sampler()
        if self.adversary == 0:
            return Recipe(sampler, mixer=self._mixer())
        rows = facts.known_groups()[1]
        return Adversarial(sampler, mixer=self._mixer(), adversary=self.adversary, rows=tuple(rows.tolist()))

    def _mixer(self) -> Mixer:
        return make_mixer(self.mix, self.alpha, self.mix_prob, OtherGroup(), self.per_sample)


@dataclass
class Adversarial(Recipe):
    """Beside the model, a head that learns to tell the groups from its features; the features unlearn it."""

    adversary: float = 1.0
    rows: tuple[int, ...] = ()  # of each group

    def __post_init__(self) -> None:
        has_rows = torch.tensor(self.rows) > 0
        self.place = has_rows.cumsum(0) - 1  # of each group among those with rows, which the head tells apart
        self.n_told = int(has_rows.sum())

    def accompany(self, model: nn.Module) -> nn.Module:
        first = first_layer(model)
        head = nn.Sequential(nn.Linear(first.shape[1], WIDTH), nn.ReLU(), nn.Linear(WIDTH, self.n_told))
        return Accompanied(model, head.to(first))

    def step(self, model: Any, batch: Batch, rng: np.random.Generator) -> Outcome:
        with watch_head(model) as shown:
            outcome = super().step(bare(model), batch, rng)
        guesses = join(model.companion(reverse_gradient(shown[-1].flatten(1))))  # each process's own rows, then joined
        place = self.place.to(guesses.device)
        losses, parts = zip(*(told(guesses, part, place) for part in outcome.mixed.parts), strict=True)
        loss = average(losses, replace(outcome.mixed, parts=parts))
        return replace(outcome, loss=outcome.loss + self.adversary * loss)


def told(guesses: Tensor, part: Part, place: Tensor) -> tuple[Tensor, Part]:
    """Losses (n,) of guessing the groups of a part, and the part without the rows in no group."""
    assert part.group is not None
    losses = cross_entropy(guesses, place[part.group.clamp(min=0)])
    return losses, replace(part, weight=part.weight * (part.group >= 0))


def first_layer(model: nn.Module) -> Tensor:
    """The matrix of the head of a model that the features meet first."""
    head = getattr(model, "head", None)
    matrix = next((p for p in head.parameters() if p.dim() == 2), None) if isinstance(head, nn.Module) else None
    if matrix is None:
        raise InvalidValueError(
            f"An adversary needs a model whose `head` begins with a linear layer, got {type(model).__name__}."
        )
    return matrix


def reverse_gradient(features: Tensor) -> Tensor:
    """The features as they are; their gradient comes back with the opposite sign (Ganin & Lempitsky, 2015).

    Example:
        >>> x = torch.tensor([2.0], requires_grad=True)
        >>> (3 * reverse_gradient(x)).backward()
        >>> x.grad.item()
        -3.0
    """
    return 2 * features.detach() - features
