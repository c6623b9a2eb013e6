"""CGD: weigh groups by how much their gradients help all groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import inf
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from rmix.batch import Batch, Groups
from rmix.errors import InvalidValueError, require
from rmix.joined import add_up
from rmix.methods.base import Method
from rmix.methods.space import Choice, Space, Uniform
from rmix.recipe import Facts, Outcome, Recipe, Sampler, bare
from rmix.reductions import group_means
from rmix.samplers import Balanced

LEAST_NORMS = 1e-3  # product of two norms below which gradients count as nearly orthogonal, as published
LEAST_WEIGHT = 1e-5


@dataclass(frozen=True)
class CGD(Method):
    """Weigh most the groups from whose training all groups gain.

    Paper: Piratla et al., Focus on the common good: Group distributional robustness follows, ICLR 2022.
    Idea: A step on one group changes the loss of another by the inner product of their gradients. Every
        step multiplies the weights of groups whose gradients point along those of all groups, small ones
        counting more; unlike the worst group's own loss, this does not chase noise that helps nobody.
    Sees: Group labels in training.
    Cost: One forward pass a step, and a backward pass for each group and one for the update.
        Measured: 3.3 of an ERM update.
    Deviations: None known. Groups without a training row have no weight. A group that a batch lacks has
        loss 0 there, so it neither gains nor gives.
    Reference numbers: The paper's worst group: Waterbirds 88.9 ± 0.8, CelebA 90.0 ± 0.8, CivilComments 69.1 ± 1.9.

    Args:
        step_size: of the groups' weights (published: 0.05, FMoW 0.2).
        capacity: C of the first weights exp(C / sqrt(n_g)), which also say how much a group's gain counts
            (published: 0, CelebA 2).
        parameters: compare the gradients of parameters whose names start with one of these; () = of those
            that the model calls its last, as published (layers 3, 4 and the head of ResNet-50, the last dense
            block and the head of DenseNet-121, the last two layers and the head of DistilBERT), else of all.
        balanced: draw every group equally often.
    """

    name: ClassVar[str] = "cgd"
    groups = Groups.TRAIN
    space: ClassVar[Space] = {"step_size": Choice((0.05, 0.1, 0.2, 0.5)), "capacity": Uniform(0.0, 10.0)}
    step_size: float = 0.05
    capacity: float = 0.0
    parameters: tuple[str, ...] = ()
    balanced: bool = True

    def __post_init__(self) -> None:
        require(0 <= self.step_size < inf, f"step_size must be >= 0 and finite, got {self.step_size} ({self.name})")
        require(0 <= self.capacity < inf, f"capacity (C) must be >= 0 and finite, got {self.capacity} ({self.name})")

    def recipe(self, facts: Facts) -> CommonGood:
        members, rows = facts.known_groups()
        sampler = Balanced() if self.balanced else Sampler()
        sizes = tuple(np.where(rows > 0, members, 0).tolist())
        return CommonGood(sampler, sizes=sizes, method=self)


@dataclass
class CommonGood(Recipe):
    """The weighted sum of the groups' mean losses; its weights move along the common good of all groups."""

    sizes: tuple[int, ...] = ()  # members of each group; 0 = it has no row
    method: CGD = field(default_factory=CGD)
    memory: ClassVar[tuple[str, ...]] = ("group_weight",)

    def __post_init__(self) -> None:
        size = np.array(self.sizes)
        self.present = torch.from_numpy(np.flatnonzero(size))
        bonus = self.method.capacity / np.sqrt(size[size > 0])
        self.importance = torch.from_numpy(bonus).softmax(0)  # of the groups with rows
        self.group_weight = self.importance

    def step(self, model: Any, batch: Batch, rng: np.random.Generator) -> Outcome:
        outcome = super().step(model, batch, rng)
        losses = [self.loss(outcome.logits, part.y) for part in outcome.mixed.parts]
        means = group_means(losses, outcome.mixed, len(self.sizes))[0]
        means = means[self.present.to(means.device)]
        prefixes = self.method.parameters or getattr(bare(model), "last", ())
        gradients = gradients_of(means, chosen(bare(model), prefixes))
        importance, weight = self.importance.to(means), self.group_weight.to(means)
        gain = common_good(means.detach(), gradients, importance)
        self.group_weight = moved(weight, self.method.step_size * gain)
        return replace(outcome, loss=(self.group_weight * means).sum())


def common_good(means: Tensor, gradients: Tensor, importance: Tensor) -> Tensor:
    """How much all groups gain, by importance, from a step on each: (k,) from losses (k,) and gradients (k, p).

    Example:
        >>> gradients = torch.tensor([[3.0, 0.0], [-1.0, 0.0]])  # opposite: what helps one harms the other
        >>> common_good(torch.tensor([4.0, 1.0]), gradients, torch.tensor([0.5, 0.5])).tolist()
        [1.0, -0.5]
    """
    norm = gradients.norm(dim=1)
    cosine = gradients @ gradients.T / torch.outer(norm, norm).clamp(min=LEAST_NORMS)
    return (torch.outer(means, means).sqrt() * cosine) @ importance


def moved(weight: Tensor, by: Tensor) -> Tensor:
    """Weights times ``exp(by)``, scaled to sum to one, then none below the least."""
    weight = weight * torch.exp(by - by.max())  # the largest factor is one: no overflow
    return (weight / weight.sum()).clamp(min=LEAST_WEIGHT)


def gradients_of(means: Tensor, parameters: Sequence[Tensor]) -> Tensor:
    """The gradient of each group's loss, one a row, of all processes: (k, p)."""
    rows = []
    for mean in means:
        found = torch.autograd.grad(mean, parameters, retain_graph=True, allow_unused=True, materialize_grads=True)
        rows.append(torch.cat([gradient.flatten() for gradient in found]))
    gradients = torch.stack(rows)
    add_up([gradients])
    return gradients


def chosen(model: nn.Module, prefixes: tuple[str, ...]) -> list[Tensor]:
    """The trainable parameters whose names start with one of ``prefixes``; of none, all."""
    trainable = {name: p for name, p in model.named_parameters() if p.requires_grad}
    found: list[Tensor] = [p for name, p in trainable.items() if not prefixes or name.startswith(prefixes)]
    if not found:
        raise InvalidValueError(
            f"No trainable parameter's name starts with {' or '.join(map(repr, prefixes))} (cgd); "
            f"there are {', '.join(trainable)}."
        )
    return found
