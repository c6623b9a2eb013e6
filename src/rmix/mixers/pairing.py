"""Who is mixed with whom: a pairing gives every row of a batch its partner."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor

from rmix.batch import Batch, Groups


class Pairing:
    """Gives each row the position of its partner in the batch; each row is a partner once."""

    @property
    def groups(self) -> Groups:
        """Where it reads group labels."""
        return Groups.NONE

    def __call__(self, batch: Batch, rng: np.random.Generator) -> Tensor:
        """Partners, shape (n,) int64."""
        raise NotImplementedError


@dataclass(frozen=True)
class AnyPair(Pairing):
    """Any row of the batch, itself included: a random permutation, as published."""

    name: ClassVar[str] = "any_pair"

    def __call__(self, batch: Batch, rng: np.random.Generator) -> Tensor:
        partner = np.arange(len(batch))
        rng.shuffle(partner)  # the draws of rng.permutation at half its cost
        return torch.from_numpy(partner).to(batch.y.device)


@dataclass(frozen=True)
class SameLabelAndGroup(Pairing):
    """A row of the same class and group (in-group mixup); a row that is alone pairs with itself."""

    name: ClassVar[str] = "same_label_and_group"

    @property
    def groups(self) -> Groups:
        return Groups.TRAIN

    def __call__(self, batch: Batch, rng: np.random.Generator) -> Tensor:
        group = batch.known_group
        cell = batch.y * (group.max() + 2) + group + 1  # one number for each (class, group)
        return permute_within(cell, rng)


def permute_within(cell: Tensor, rng: np.random.Generator) -> Tensor:
    """A random permutation that moves every position to one of the same ``cell`` (n,).

    Sorting the cells lists their members; sorting them from a shuffled start lists the same members
    in random order, and the two lists are matched.

    Example:
        >>> cell = torch.tensor([7, 3, 7, 3])
        >>> partner = permute_within(cell, np.random.default_rng(0))
        >>> bool((cell[partner] == cell).all())
        True
    """
    shuffle = torch.from_numpy(rng.permutation(len(cell))).to(cell.device)
    members = torch.argsort(cell, stable=True)
    shuffled = shuffle[torch.argsort(cell[shuffle], stable=True)]
    partner = torch.empty_like(shuffle)
    partner[members] = shuffled
    return partner
