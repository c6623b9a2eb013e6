"""Published methods, one file each. One line here registers a method everywhere."""

from rmix.batch import Groups
from rmix.methods.balanced_softmax import BalancedSoftmax
from rmix.methods.base import Method
from rmix.methods.chi2_doro import Chi2DORO
from rmix.methods.chi2_dro import Chi2DRO
from rmix.methods.compose import Compose
from rmix.methods.cvar_doro import CVaRDORO
from rmix.methods.cvar_dro import CVaRDRO
from rmix.methods.erm import ERM
from rmix.methods.focal import Focal
from rmix.methods.group_dro import GroupDRO
from rmix.methods.iw import ImportanceSampling, ImportanceWeighting
from rmix.methods.ldam import LDAM
from rmix.methods.mixup import InGroupMixup, PlainMixup
from rmix.methods.rmix import RMix, RMixAware
from rmix.methods.vrex import VREx

METHODS: dict[str, type[Method]] = {
    cls.name: cls
    for cls in (
        ERM,
        PlainMixup,
        InGroupMixup,
        ImportanceWeighting,
        ImportanceSampling,
        GroupDRO,
        VREx,
        Focal,
        CVaRDRO,
        Chi2DRO,
        CVaRDORO,
        Chi2DORO,
        LDAM,
        BalancedSoftmax,
        RMix,
        RMixAware,
    )
}

__all__ = [
    "ERM",
    "LDAM",
    "METHODS",
    "BalancedSoftmax",
    "CVaRDORO",
    "CVaRDRO",
    "Chi2DORO",
    "Chi2DRO",
    "Compose",
    "Focal",
    "GroupDRO",
    "Groups",
    "ImportanceSampling",
    "ImportanceWeighting",
    "InGroupMixup",
    "Method",
    "PlainMixup",
    "RMix",
    "RMixAware",
    "VREx",
]
