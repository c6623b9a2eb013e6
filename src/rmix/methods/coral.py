"""CORAL: features with the same mean and covariance in every group."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Literal

import torch
from torch import Tensor

from rmix.batch import Groups
from rmix.errors import require
from rmix.methods.base import Method
from rmix.methods.penalised import Moments, Penalised, Penalty, Seen, moments
from rmix.methods.space import Space, log_uniform
from rmix.recipe import Facts, Sampler
from rmix.reductions.ratio import ratio
from rmix.samplers import PerGroup

FORMS = ("mean_and_covariance", "deep_coral")


@dataclass(frozen=True)
class CORAL(Method):
    """Penalise differences between the groups in the mean and the covariance of the features.

    Paper: Sun & Saenko, Deep CORAL: Correlation alignment for deep domain adaptation, ECCV 2016 workshops.
    Idea: If features look alike in all groups, a classifier that works in one should work in another.
        The penalty is the squared difference of covariances (and means), averaged over pairs of groups.
    Sees: Group labels in training.
    Cost: One forward and one backward pass a step, and a covariance matrix of the features for each group.
        Measured: 2.7 of an ERM update.
    Deviations: The default is the form of DomainBed and WILDS: means over entries of the squared
        differences of means and of covariances. `deep_coral` is the original: covariances alone, their
        squared Frobenius norm over 4 d^2. The loss is averaged over rows, as in WILDS. Groups that weigh
        less than two rows in a batch are in no pair. WILDS takes penalty 0.1 on Camelyon17 and FMoW and
        10 on CivilComments.
    Reference numbers: The paper's worst group: Waterbirds 79.8 ± 1.8, CelebA 76.9 ± 3.6, CivilComments 65.6 ± 1.3.

    Args:
        penalty: what the penalty is multiplied with.
        form: mean_and_covariance or deep_coral.
        balanced: draw batches with equally many rows of each group.
        groups_per_batch: of a balanced batch; None = all.
    """

    name: ClassVar[str] = "coral"
    groups = Groups.TRAIN
    erm_limit: ClassVar[Mapping[str, Any]] = {"penalty": 0.0, "balanced": False}
    space: ClassVar[Space] = {"penalty": log_uniform(0.1, 10)}
    penalty: float = 1.0
    form: Literal["mean_and_covariance", "deep_coral"] = "mean_and_covariance"
    balanced: bool = True
    groups_per_batch: int | None = None

    def __post_init__(self) -> None:
        require(self.form in FORMS, f"form must be one of {', '.join(FORMS)}, got {self.form!r} ({self.name})")
        self._penalty(1)  # a bad setting is refused where it is written down
        PerGroup(self.groups_per_batch)

    def recipe(self, facts: Facts) -> Penalised:
        n_groups = len(facts.known_groups()[0])
        sampler = PerGroup(self.groups_per_batch) if self.balanced else Sampler()
        return Penalised(sampler, penalties=(self._penalty(n_groups),))

    def _penalty(self, n_groups: int) -> Penalty:
        return Penalty(partial(misalignment, n_groups=n_groups, original=self.form == "deep_coral"), self.penalty)


def misalignment(seen: Seen, n_groups: int, original: bool = False) -> Tensor:
    """How much the mean and the covariance of the features differ, averaged over pairs of groups."""
    found = moments(seen.features, seen.outcome.mixed, n_groups)
    covariance = covariances(found, n_groups)
    if original:
        return spread(covariance, found.enough) / 4
    return spread(found.mean, found.enough) + spread(covariance, found.enough)


def covariances(found: Moments, n_groups: int) -> Tensor:
    """The unbiased covariance matrix of the features of each group, (n_groups, d, d)."""
    weighted = found.weight[:, None] * found.centred
    squares = [(weighted * (found.group == g)[:, None]).T @ found.centred for g in range(n_groups)]
    return torch.stack(squares) / found.freedom[:, None, None]


def spread(values: Tensor, counts: Tensor) -> Tensor:
    """Squared difference, averaged over entries, then over pairs of those of ``values`` that count (0 or 1).

    Over all pairs of k values, squared differences sum to k times the squared distances from their mean:
    so no pair is ever formed.

    Example:
        >>> values = torch.tensor([[1.0], [4.0], [9.0], [6.0]])
        >>> spread(values, torch.tensor([1.0, 1.0, 0.0, 1.0])).item()  # (3 * 3 + 5 * 5 + 2 * 2) / 3 pairs
        12.666666984558105
    """
    chosen = counts.view(-1, *[1] * (values.dim() - 1))
    centre = ratio((chosen * values).sum(0), counts.sum())
    distance = (chosen * (values - centre) ** 2).flatten(1).mean(1).sum()
    return 2 * ratio(distance, counts.sum() - 1)
