"""Vanilla mixup, and mixup within groups: the paper's ablation rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from rmix.batch import Groups
from rmix.errors import require
from rmix.methods.compose import Compose, Composed
from rmix.methods.space import Choice, Space, log_uniform
from rmix.mixers import AnyPair, CutMix, Manifold, Mixup, Pairing, PairsUnmixed, SameLabelAndGroup, Sometimes
from rmix.recipe import Mixer

Mix = Literal["mixup", "cutmix", "manifold", "manifold_random", "none"]


def make_mixer(mix: Mix, alpha: float, prob: float, pairing: Pairing, per_sample: bool = False) -> Mixer:
    """The mixer called ``mix``, applied to a batch with probability ``prob``."""
    pairs = (alpha, pairing, per_sample)
    mixers = {
        "mixup": Mixup(*pairs),
        "cutmix": CutMix(*pairs),
        "manifold": Manifold(Mixup(*pairs)),
        "manifold_random": Manifold(Mixup(*pairs), layer="random"),
        "none": PairsUnmixed(*pairs),
    }
    require(mix in mixers, f"mix must be one of {', '.join(mixers)}, got {mix!r}")
    return Sometimes(mixers[mix], prob)


@dataclass(frozen=True)
class PlainMixup(Composed):
    """Blend random pairs of rows and of targets; every row counts alike.

    Paper: Zhang et al., mixup: Beyond empirical risk minimization, ICLR 2018.
    Idea: Training between the examples regularises, but says nothing about small groups.
    Sees: No group labels.
    Cost: One forward and one backward pass a step. Measured: 1.1 of an ERM update.
    Deviations: None; `mix` also offers CutMix, manifold mixup, and the same pairs without mixing.
    Reference numbers: The paper's worst group: Waterbirds 56.2 ± 0.2, CelebA 46.4 ± 0.5, CivilComments 67.2 ± 1.2.

    Args:
        alpha: lambda is drawn from Beta(alpha, alpha).
        mix_prob: probability of mixing a batch.
        mix: mixup, cutmix, manifold, manifold_random, or none (the same pairs, not mixed).
        per_sample: one lambda a row instead of one a batch.
    """

    name: ClassVar[str] = "mixup"
    erm_limit: ClassVar[Mapping[str, Any]] = {"mix_prob": 0.0}
    space: ClassVar[Space] = {"alpha": log_uniform(0.1, 10)}
    alpha: float = 0.2
    mix_prob: float = 1.0
    mix: Mix = "mixup"
    per_sample: bool = False

    def composed(self) -> Compose:
        return Compose(mixer=make_mixer(self.mix, self.alpha, self.mix_prob, AnyPair(), self.per_sample))


@dataclass(frozen=True)
class InGroupMixup(Composed):
    """Mixup of pairs that share class and group.

    Paper: Yao et al., Improving out-of-distribution robustness via selective augmentation, ICML 2022 (an ablation).
    Idea: Blends vary within a group but never join groups, so they cannot break a spurious correlation.
    Sees: Group labels in training.
    Cost: One forward and one backward pass a step. Measured: 1.1 of an ERM update.
    Deviations: No public code is known; rows that are alone in their group of a batch pair with themselves.
    Reference numbers: The paper's worst group: Waterbirds 68.0 ± 0.4, CelebA 58.3 ± 0.9, CivilComments 69.2 ± 0.8.

    Args:
        alpha: lambda is drawn from Beta(alpha, alpha).
        mix_prob: probability of mixing a batch.
        mix: mixup, cutmix, manifold, manifold_random, or none (the same pairs, not mixed).
        per_sample: one lambda a row instead of one a batch.
    """

    name: ClassVar[str] = "igmix"
    groups = Groups.TRAIN
    erm_limit: ClassVar[Mapping[str, Any]] = {"mix_prob": 0.0}
    space: ClassVar[Space] = {"alpha": log_uniform(0.1, 10), "mix_prob": Choice((0.5, 1.0))}
    alpha: float = 0.2
    mix_prob: float = 1.0
    mix: Mix = "mixup"
    per_sample: bool = False

    def composed(self) -> Compose:
        pairing = SameLabelAndGroup()
        return Compose(mixer=make_mixer(self.mix, self.alpha, self.mix_prob, pairing, self.per_sample))
