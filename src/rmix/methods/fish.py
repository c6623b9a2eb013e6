"""Fish: steps in which the gradients of the groups agree."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf
from typing import ClassVar, Literal

import numpy as np
import torch
from torch import Tensor, nn

from rmix.batch import Batch, Groups, Mixed, Part
from rmix.errors import require
from rmix.joined import join
from rmix.methods.base import Method
from rmix.methods.space import Choice, Space
from rmix.recipe import Facts, Outcome, Recipe, Stage
from rmix.samplers import PerGroup

VARIANTS = ("official", "domainbed")


@dataclass(frozen=True)
class Fish(Method):
    """Step on one group after the other, then go a small part of the way.

    Paper: Shi et al., Gradient matching for domain generalization, ICLR 2022.
    Idea: A round of ordinary steps, one on each of some groups, ends further along the directions in
        which their gradients agree. The weights move a share of the way to that end, which to first
        order maximises the inner products of the groups' gradients, without second derivatives.
    Sees: Group labels in training.
    Cost: One forward and one backward pass over each row; an optimizer step for each group of a batch. An
        ERM run first where it is pretrained (kept, and shared by later runs). Measured: 2.0 of an ERM update.
    Deviations: A batch holds the rows of a whole round, so every inner step is on its share of the batch
        size. Pretraining is a stage of its own, as many epochs as the first stage is given, where the
        published code counts updates (FMoW 24000, Camelyon17 10000, CivilComments 20000). A round has as
        many steps as its batch has groups. Integers such as the batch counter of batch norm are not
        interpolated.
    Reference numbers: The paper's worst group: Waterbirds 64.0 ± 0.3, CelebA 61.2 ± 2.5, CivilComments 71.1 ± 0.4.

    Args:
        meta_lr: share of the way that a round goes; the official variant divides it by the number of
            inner steps. Published: FMoW and Camelyon17 0.01, CivilComments 0.05, after so long a
            pretraining that little is left to do; the default is DomainBed's, for shorter ones.
        meta_steps: groups of a round, drawn for each; None = all.
        variant: official (groups in random order), or domainbed (in order of id, and ``meta_lr`` is not
            divided; DomainBed takes every group, and no pretraining).
        pretrain: begin with ERM.
    """

    name: ClassVar[str] = "fish"
    groups = Groups.TRAIN
    space: ClassVar[Space] = {"meta_lr": Choice((0.01, 0.05, 0.1, 0.5)), "meta_steps": Choice((2, 3, 5, None))}
    meta_lr: float = 0.5
    meta_steps: int | None = 5
    variant: Literal["official", "domainbed"] = "official"
    pretrain: bool = True

    def __post_init__(self) -> None:
        require(0 < self.meta_lr < inf, f"meta_lr must be > 0 and finite, got {self.meta_lr} ({self.name})")
        steps = self.meta_steps
        require(steps is None or steps >= 1, f"meta_steps must be >= 1, got {steps} ({self.name})")
        require(
            self.variant in VARIANTS,
            f"variant must be one of {', '.join(VARIANTS)}, got {self.variant!r} ({self.name})",
        )

    def stages(self, facts: Facts) -> Iterator[Stage]:
        if self.pretrain:
            yield Stage(Recipe(), name="pretrain", preliminary=True, identity="erm")
        rounds = Rounds(PerGroup(self.meta_steps), meta_lr=self.meta_lr, official=self.variant == "official")
        yield Stage(rounds, fresh_model=not self.pretrain)


@dataclass
class Rounds(Recipe):
    """Every update is a round of inner steps, one a group of the batch, and a part of the way to where it ends.

    The trainer's optimizer takes the inner steps, so what it remembers is carried from round to round.
    """

    meta_lr: float = 1.0
    official: bool = True

    def update(
        self,
        model: nn.Module,
        optimizer: torch.optim.Optimizer,
        batch: Batch,
        rng: np.random.Generator,
        clip: float | None,
    ) -> Outcome:
        order = self._order(batch, rng)
        if not order:  # every row is in no group
            return super().update(model, optimizer, batch, rng, clip)
        start = {name: value.clone() for name, value in model.state_dict().items()}
        inner = [super(Rounds, self).update(model, optimizer, of_group(batch, g), rng, clip) for g in order]
        part_of_the_way(model, start, self.meta_lr / (len(order) if self.official else 1))
        return together(inner)

    def _order(self, batch: Batch, rng: np.random.Generator) -> list[int]:
        """The groups that the batch has on any process, in the order of their steps: the same on all."""
        group = join(batch.known_group)
        present = torch.unique(group[group >= 0])  # in order of id
        if self.official:
            drawn = torch.from_numpy(rng.permutation(len(present))).to(present.device)
            present = present[join(drawn)[: len(drawn)]]  # the first process decides
        return list(map(int, present.tolist()))


def part_of_the_way(model: nn.Module, start: dict[str, Tensor], share: float) -> None:
    """Put the model between ``start`` and where it is; what is no floating-point number stays as it is."""
    end = model.state_dict()
    between = {k: torch.lerp(start[k], v, share) if v.is_floating_point() else v for k, v in end.items()}
    model.load_state_dict(between)


def of_group(batch: Batch, group: int) -> Batch:
    """The rows of one group; none where this process has none."""
    rows = (batch.known_group == group).nonzero().flatten()
    return Batch(batch.x[rows], batch.y[rows], batch.index[rows], batch.weight[rows], batch.known_group[rows])


def together(inner: Sequence[Outcome]) -> Outcome:
    """The outcome of a round: the rows of its steps one after the other, and their mean loss."""
    parts = tuple(_joined_parts(parts) for parts in zip(*(step.mixed.parts for step in inner), strict=True))
    mixed = Mixed(torch.cat([step.mixed.x for step in inner]), parts, all(step.mixed.clean for step in inner))
    names = ("x", "y", "index", "weight", "group")
    batch = Batch(*(torch.cat([getattr(step.batch, name) for step in inner]) for name in names))
    loss = torch.stack([step.loss.detach() for step in inner]).mean()
    return Outcome(loss, torch.cat([step.logits.detach() for step in inner]), mixed, batch)


def _joined_parts(parts: Sequence[Part]) -> Part:
    group = torch.cat([part.group for part in parts if part.group is not None])
    return Part(torch.cat([part.y for part in parts]), torch.cat([part.weight for part in parts]), group)
