"""Mixup: blend a row with its partner, and count both targets (paper, Eq. vamix)."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from rmix.batch import Batch, Groups, Mixed, Part
from rmix.errors import InvalidValueError, require
from rmix.mixers.pairing import AnyPair, Pairing
from rmix.recipe import Forward, Mixer

Lam = float | Tensor  # lambda: one of the batch, or (n,) one of each row


def mixup(batch: Batch, partner: Tensor, lam: Lam) -> Mixed:
    """``lam`` of each row with ``1 - lam`` of its partner.

    Args:
        batch: rows with floating-point inputs; not changed.
        partner: (n,) int64, the position of each row's partner.
        lam: share of the row itself, one number or one of each row.

    Example:
        >>> batch = Batch(torch.tensor([[0.0], [10.0]]), torch.tensor([0, 1]), torch.arange(2), torch.ones(2))
        >>> mixup(batch, torch.tensor([1, 0]), 0.75).x.flatten().tolist()
        [2.5, 7.5]
    """
    if not (isinstance(batch.x, Tensor) and batch.x.is_floating_point()):
        got = getattr(batch.x, "dtype", type(batch.x).__name__)
        raise InvalidValueError(
            f"Mixing needs floating-point inputs, got {got}; "
            "mix hidden layers instead: --mix manifold, or Manifold(Mixup(...))."
        )
    x = batch.x.index_select(0, partner)  # a fresh tensor, so it may be blended in place: half the time of lerp
    if isinstance(lam, Tensor):
        x = torch.lerp(x, batch.x, lam.to(x).view(-1, *[1] * (x.dim() - 1)))
    else:
        x = x.mul_(1 - lam).add_(batch.x, alpha=lam)
    return Mixed(x, both_targets(batch, partner, lam))


def both_targets(batch: Batch, partner: Tensor, lam: Lam) -> tuple[Part, Part]:
    """The row's own target and its partner's, each with its own weight and its share of lambda."""
    group, weight = batch.group, batch.weight
    own = Part(batch.y, weight * lam, group)
    other_group = None if group is None else group.index_select(0, partner)
    other_weight = weight.index_select(0, partner) * (1 - lam)
    return own, Part(batch.y.index_select(0, partner), other_weight, other_group)


@dataclass(frozen=True)
class Pairs(Mixer):
    """What every mixer of pairs is configured by: who is paired, and how lambda is drawn.

    Args:
        alpha: lambda is drawn from Beta(alpha, alpha).
        pairing: who is mixed with whom.
        per_sample: draw one lambda for each row instead of one for the batch (published).
    """

    alpha: float = 0.5
    pairing: Pairing = field(default_factory=AnyPair)
    per_sample: bool = False

    def __post_init__(self) -> None:
        require(0 < self.alpha < inf, f"alpha must be > 0 and finite, got {self.alpha} ({type(self).__name__})")

    @property
    def groups(self) -> Groups:
        """A mixer sees what its pairing sees."""
        return self.pairing.groups

    def draw(self, batch: Batch, rng: np.random.Generator) -> tuple[Tensor, float | np.ndarray]:
        """Partners (n,), and lambda: one number, or (n,) in float64."""
        lam = rng.beta(self.alpha, self.alpha, size=len(batch) if self.per_sample else None)
        return self.pairing(batch, rng), lam


def as_lam(lam: float | np.ndarray, like: Tensor) -> Lam:
    """A drawn lambda, a number or (n,) or (1,), as what the pure functions take."""
    if isinstance(lam, float):
        return lam
    return float(lam[0]) if len(lam) == 1 else torch.from_numpy(lam).to(like)


@dataclass(frozen=True)
class Mixup(Pairs):
    """Blend whole inputs (Zhang et al., 2018).

    Example:
        >>> batch = Batch(torch.rand(4, 3), torch.zeros(4).long(), torch.arange(4), torch.ones(4))
        >>> mixed = Mixup(alpha=0.2)(batch, np.random.default_rng(0))
        >>> len(mixed.parts), mixed.x.shape
        (2, torch.Size([4, 3]))
    """

    name: ClassVar[str] = "mixup"

    def __call__(self, batch: Batch, rng: np.random.Generator) -> Mixed:
        partner, lam = self.draw(batch, rng)
        return mixup(batch, partner, as_lam(lam, batch.weight))


@dataclass(frozen=True)
class PairsUnmixed(Pairs):
    """The pairs and the weights of mixup, with no input mixed: the ablation of arXiv 2305.16817.

    Much of what selective mixup gains comes from which rows its pairs pick, not from mixing them.
    This shows both members of every pair as they are, 2n rows that count as n.
    """

    name: ClassVar[str] = "pairs_unmixed"

    def __call__(self, batch: Batch, rng: np.random.Generator) -> Mixed:
        partner, lam = self.draw(batch, rng)
        own, other = both_targets(batch, partner, as_lam(lam, batch.weight))
        group = None if own.group is None or other.group is None else torch.cat([own.group, other.group])
        weight = 2 * torch.cat([own.weight, other.weight])  # the mean is over 2n rows
        return Mixed(torch.cat([batch.x, batch.x[partner]]), (Part(torch.cat([own.y, other.y]), weight, group),))


@dataclass(frozen=True)
class Sometimes(Mixer):
    """Mix a batch with probability ``prob`` (the paper's sigma), else leave it as it is.

    Leaving it is Algorithm 1's "else lambda = 0": there every row counts as its partner's target at
    its partner's input, and over a permutation these are the terms of the clean weighted batch.
    """

    mixer: Mixer
    prob: float = 0.5
    name: ClassVar[str] = "sometimes"

    def __post_init__(self) -> None:
        require(0 <= self.prob <= 1, f"mix_prob (sigma) must be in [0, 1], got {self.prob}")

    @property
    def groups(self) -> Groups:
        """What the wrapped mixer sees."""
        return self.mixer.groups

    def where(self, model: nn.Module, rng: np.random.Generator) -> tuple[Forward, Forward]:
        return self.mixer.where(model, rng)

    def __call__(self, batch: Batch, rng: np.random.Generator) -> Mixed:
        return self.mixer(batch, rng) if rng.random() < self.prob else Mixer()(batch, rng)
