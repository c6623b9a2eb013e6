"""Mixers: which inputs and targets of a batch are blended. One file and one line here to add one."""

from rmix.mixers.cutmix import CutMix, cutmix
from rmix.mixers.manifold import Manifold
from rmix.mixers.mixup import Mixup, PairsUnmixed, Sometimes, mixup
from rmix.mixers.pairing import AnyPair, Pairing, SameLabelAndGroup
from rmix.mixers.selective import Either, OtherGroup, SameAttributeOtherLabel, SameLabelOtherGroup

__all__ = [
    "AnyPair",
    "CutMix",
    "Either",
    "Manifold",
    "Mixup",
    "OtherGroup",
    "Pairing",
    "PairsUnmixed",
    "SameAttributeOtherLabel",
    "SameLabelAndGroup",
    "SameLabelOtherGroup",
    "Sometimes",
    "cutmix",
    "mixup",
]
