"""Pairings that draw each row's partner among the rows of the batch that qualify.

Unlike a permutation within cells, a row may be the partner of several rows, or of none. A row
without a qualified partner pairs with itself, and so does a row in no group.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor

from rmix.batch import Batch, Groups
from rmix.errors import require
from rmix.mixers.pairing import Pairing


def draw_partner(qualified: Tensor, rng: np.random.Generator) -> Tensor:
    """One of the positions where a row of ``qualified`` (n, n) is true, all equally likely; else its own.

    Example:
        >>> draw_partner(torch.tensor([[False, True], [False, False]]), np.random.default_rng(0)).tolist()
        [1, 1]
    """
    upto = qualified.cumsum(1)  # the k-th qualified position is where this first reaches k
    count = upto[:, -1:]
    drawn = torch.from_numpy(rng.integers(2**62, size=(len(count), 1))).to(count.device)
    partner = torch.searchsorted(upto, drawn % count.clamp(min=1) + 1).squeeze(1)
    own = torch.arange(len(count), device=count.device)
    return torch.where(count.squeeze(1) > 0, partner, own)


class Selective(Pairing):
    """Draws the partner of each row among those that :meth:`qualified` says qualify."""

    @property
    def groups(self) -> Groups:
        return Groups.TRAIN

    def qualified(self, batch: Batch) -> Tensor:
        """Which rows may be the partners of each row, (n, n) bool; rows in no group are sorted out later."""
        raise NotImplementedError

    def __call__(self, batch: Batch, rng: np.random.Generator) -> Tensor:
        known = batch.known_group >= 0
        return draw_partner(self.qualified(batch) & known[:, None] & known, rng)


@dataclass(frozen=True)
class OtherGroup(Selective):
    """A row of another group, whatever its class (inter-domain mixup)."""

    name: ClassVar[str] = "other_group"

    def qualified(self, batch: Batch) -> Tensor:
        return _differ(batch.known_group)


@dataclass(frozen=True)
class SameLabelOtherGroup(Selective):
    """A row of the same class and another group (LISA, intra-label)."""

    name: ClassVar[str] = "same_label_other_group"

    def qualified(self, batch: Batch) -> Tensor:
        return ~_differ(batch.y) & _differ(batch.known_group)


@dataclass(frozen=True)
class SameAttributeOtherLabel(Selective):
    """A row of another class that shares the attribute, the domain (LISA, intra-domain).

    Groups are either domains themselves, which hold several classes, or cells of class x attribute.
    Unless ``attributes`` says so, the batch tells: where one of its groups holds two classes, groups
    are domains. Otherwise the attribute of a group is its place, in order of id, among the groups of
    its class in the batch. That is right for the usual numberings (``class * n_attributes +
    attribute`` and ``attribute * n_classes + class``) if the batch holds every group, as those of
    the sampler ``PerGroup`` do; for any other numbering or sampler give ``attributes``.

    Args:
        attributes: the attribute of each group; () = told by the batch.

    Example:
        >>> y, group = torch.tensor([0, 0, 1, 1]), torch.tensor([0, 1, 2, 3])
        >>> batch = Batch(torch.zeros(4, 1), y, torch.arange(4), torch.ones(4), group)
        >>> SameAttributeOtherLabel()(batch, np.random.default_rng(0)).tolist()
        [2, 3, 0, 1]
        >>> SameAttributeOtherLabel((0, 1, 1, 0))(batch, np.random.default_rng(0)).tolist()
        [3, 2, 1, 0]
    """

    attributes: tuple[int, ...] = ()
    name: ClassVar[str] = "same_attribute_other_label"

    def qualified(self, batch: Batch) -> Tensor:
        other_label, group = _differ(batch.y), batch.known_group
        if self.attributes:
            table = torch.tensor(self.attributes, device=group.device)
            return other_label & ~_differ(table[group])  # a row in no group reads the last one, and is sorted out
        within_group = other_label & ~_differ(group) & (group >= 0)
        by_place = other_label & ~_differ(place_in_class(batch.y, group))
        return torch.where(within_group.any(), within_group, by_place)


@dataclass(frozen=True)
class Either(Pairing):
    """The pairs of ``first`` with probability ``prob``, else those of ``second``; drawn for each batch.

    Args:
        first: a pairing.
        second: another.
        prob: probability of the first (LISA's p_sel).
    """

    first: Pairing = field(default_factory=SameLabelOtherGroup)
    second: Pairing = field(default_factory=SameAttributeOtherLabel)
    prob: float = 0.5
    name: ClassVar[str] = "either"

    def __post_init__(self) -> None:
        require(0 <= self.prob <= 1, f"prob must be in [0, 1], got {self.prob} ({self.name})")

    @property
    def groups(self) -> Groups:
        """What either sees."""
        return self.first.groups | self.second.groups

    def __call__(self, batch: Batch, rng: np.random.Generator) -> Tensor:
        return (self.first if rng.random() < self.prob else self.second)(batch, rng)


def place_in_class(y: Tensor, group: Tensor) -> Tensor:
    """How many smaller group ids the rows of each row's class have, (n,).

    Example:
        >>> place_in_class(torch.tensor([0, 1, 0, 0]), torch.tensor([5, 3, 2, 5])).tolist()
        [1, 0, 0, 1]
    """
    same_cell = ~_differ(y) & ~_differ(group)
    first = ~same_cell.tril(-1).any(1)  # the first row of its class and group, so that each group counts once
    smaller = ~_differ(y) & (group < group[:, None]) & (group >= 0)
    return (smaller & first).sum(1)


def _differ(values: Tensor) -> Tensor:
    return values[:, None] != values
