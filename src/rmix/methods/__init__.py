"""Published methods, one file each. One line here registers a method everywhere."""

from rmix.batch import Groups
from rmix.methods.base import Method
from rmix.methods.compose import Compose
from rmix.methods.erm import ERM
from rmix.methods.iw import ImportanceSampling, ImportanceWeighting
from rmix.methods.mixup import InGroupMixup, PlainMixup
from rmix.methods.rmix import RMix, RMixAware

METHODS: dict[str, type[Method]] = {
    cls.name: cls
    for cls in (
        ERM,
        PlainMixup,
        InGroupMixup,
        ImportanceWeighting,
        ImportanceSampling,
        RMix,
        RMixAware,
    )
}

__all__ = [
    "ERM",
    "METHODS",
    "Compose",
    "Groups",
    "ImportanceSampling",
    "ImportanceWeighting",
    "InGroupMixup",
    "Method",
    "PlainMixup",
    "RMix",
    "RMixAware",
]
