"""IRM: one classifier that is optimal in every group."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

import torch
from torch import Tensor

from rmix.batch import Groups, Mixed
from rmix.methods.base import Method
from rmix.methods.penalised import Penalised, Penalty, Seen
from rmix.methods.space import Choice, Space, log_uniform
from rmix.recipe import Facts, Sampler
from rmix.reductions import GroupAverage, group_means
from rmix.reductions.ratio import ratio
from rmix.samplers import PerGroup


@dataclass(frozen=True)
class IRM(Method):
    """Penalise features whose best classifier differs from group to group.

    Paper: Arjovsky et al., Invariant risk minimization, arXiv 1907.02893, 2019 (IRMv1).
    Idea: If the same classifier is optimal in every group, no group's loss falls when its logits are
        scaled. The penalty is the square of that slope, estimated without bias as the product of the
        slopes of two halves of the group's rows (even and odd), so it can be negative.
    Sees: Group labels in training.
    Cost: One forward and one backward pass a step; the slope has a closed form. Measured: 1.3 of an ERM update.
    Deviations: Groups with fewer than two rows in a batch are left out of the penalty. The default
        penalty is WILDS's, the annealing DomainBed's. DomainBed's penalty of 100 goes with Adam: under
        plain SGD it can diverge, as the unbiased penalty has no lower bound. The slope is that of the
        cross entropy, whatever the loss.
    Reference numbers: The paper's worst group: Waterbirds 75.6 ± 3.1, CelebA 77.8 ± 3.9, CivilComments 66.3 ± 2.1.

    Args:
        penalty: what the penalty is multiplied with, after the first ``anneal`` updates; 1 before.
        anneal: updates before the penalty counts in full; the optimizer then starts afresh.
        balanced: draw batches with equally many rows of each group.
        groups_per_batch: of a balanced batch; None = all.
    """

    name: ClassVar[str] = "irm"
    groups = Groups.TRAIN
    space: ClassVar[Space] = {"penalty": log_uniform(0.1, 1e5), "anneal": Choice((0, 10, 100, 1000, 10000))}
    penalty: float = 1.0
    anneal: int = 500
    balanced: bool = True
    groups_per_batch: int | None = None

    def __post_init__(self) -> None:
        self._penalty(1)  # a bad setting is refused where it is written down
        PerGroup(self.groups_per_batch)

    def recipe(self, facts: Facts) -> Penalised:
        n_groups = len(facts.known_groups()[0])
        sampler = PerGroup(self.groups_per_batch) if self.balanced else Sampler()
        return Penalised(sampler, reduction=GroupAverage(n_groups), penalties=(self._penalty(n_groups),))

    def _penalty(self, n_groups: int) -> Penalty:
        return Penalty(partial(invariance, n_groups=n_groups), self.penalty, early=1.0, anneal=self.anneal)


def invariance(seen: Seen, n_groups: int) -> Tensor:
    """Mean over groups of the product of the slopes of their two halves."""
    mixed = in_halves(seen.outcome.mixed, n_groups)
    slopes = [scale_slope(seen.outcome.logits, part.y) for part in mixed.parts]
    means, mass = group_means(slopes, mixed, 2 * n_groups)
    product = means[0::2] * means[1::2]  # 0 where a half has no row
    return ratio(product.sum(), ((mass[0::2] > 0) & (mass[1::2] > 0)).sum().to(product))


def scale_slope(logits: Tensor, y: Tensor) -> Tensor:
    """Derivative of the cross entropy of ``scale * logits`` by the scale, at scale 1; shape (n,).

    The logit that the prediction expects, less the logit of the class.

    Example:
        >>> scale_slope(torch.tensor([[2.0, 2.0, -1e9]]), torch.tensor([1])).item()
        0.0
    """
    expected = (logits.softmax(1) * logits).sum(1)
    return expected - logits.gather(1, y[:, None]).squeeze(1)


def in_halves(mixed: Mixed, n_groups: int) -> Mixed:
    """Every group cut in two: its even rows in group ``2 * g``, its odd rows in ``2 * g + 1``."""
    parts = [replace(part, group=_halved(part.group, n_groups)) for part in mixed.parts]
    return replace(mixed, parts=tuple(parts))


def _halved(group: Tensor | None, n_groups: int) -> Tensor:
    assert group is not None
    member = group[:, None] == torch.arange(n_groups, device=group.device)
    earlier = (member.cumsum(0) * member).sum(1) - 1  # rows of the same group above it
    return torch.where(group < 0, group, 2 * group + earlier % 2)
