"""Robust reductions: the average of a batch, its rows reweighted by where their losses rank.

All of them take the worst case over reweightings of the rows of the batch. The worst reweighting is a
density over the rows: it averages to one, it is found without a gradient, and the gradient of the
worst case is that of the average under it (the envelope theorem).

A row weighs what its parts weigh together, and its loss is their weighted mean: the weights are the
distribution that the worst case is taken around. So integer weights are repeated rows, a blend of two
rows is one row with the loss of the blend, and where nothing is reweighted the reduction is the
average of the batch.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import torch
from torch import Tensor

from rmix.batch import Mixed
from rmix.reductions.ratio import ratio


class WorstCase(ABC):
    """The average under the density that a subclass makes of the losses."""

    @abstractmethod
    def density(self, loss: Tensor, mass: Tensor) -> Tensor:
        """How much more each row counts than its ``mass`` (n,) says, given its ``loss`` (n,)."""

    def __call__(self, losses: Sequence[Tensor], mixed: Mixed) -> Tensor:
        terms = [part.weight * loss for part, loss in zip(mixed.parts, losses, strict=True)]
        weighted = sum(terms[1:], start=terms[0])
        mass = sum((part.weight for part in mixed.parts[1:]), start=mixed.parts[0].weight)
        with torch.no_grad():
            density = self.density(ratio(weighted, mass), mass)
        return (density * weighted).mean()


def band(loss: Tensor, mass: Tensor, start: Tensor, stop: Tensor) -> Tensor:
    """How much of each row's mass lies between ``start`` and ``stop``, counted from the largest loss down.

    Example:
        >>> loss, mass = torch.tensor([1.0, 3.0, 2.0]), torch.ones(3)
        >>> band(loss, mass, torch.tensor(0.5), torch.tensor(2.25)).tolist()
        [0.25, 0.5, 1.0]
    """
    order = loss.argsort(descending=True, stable=True)
    ranked = mass[order]
    until = ranked.cumsum(0)
    inside = torch.minimum(until, stop) - torch.maximum(until - ranked, start)
    return torch.empty_like(mass).index_copy(0, order, inside.clamp(min=0))
