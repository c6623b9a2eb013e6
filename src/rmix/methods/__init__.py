"""Published methods, one file each. One line here registers a method everywhere."""

from rmix.batch import Groups
from rmix.methods.afr import AFR
from rmix.methods.balanced_softmax import BalancedSoftmax
from rmix.methods.base import Method
from rmix.methods.cgd import CGD
from rmix.methods.chi2_doro import Chi2DORO
from rmix.methods.chi2_dro import Chi2DRO
from rmix.methods.compose import Compose
from rmix.methods.coral import CORAL
from rmix.methods.cvar_doro import CVaRDORO
from rmix.methods.cvar_dro import CVaRDRO
from rmix.methods.dfr import DFR
from rmix.methods.domain_mix import DomainMix
from rmix.methods.erm import ERM
from rmix.methods.fish import Fish
from rmix.methods.focal import Focal
from rmix.methods.group_dro import GroupDRO
from rmix.methods.ib_irm import IBIRM
from rmix.methods.irm import IRM
from rmix.methods.iw import ImportanceSampling, ImportanceWeighting
from rmix.methods.jtt import JTT
from rmix.methods.ldam import LDAM
from rmix.methods.lff import LfF
from rmix.methods.lisa import LISA
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
        IRM,
        IBIRM,
        CORAL,
        Fish,
        CGD,
        DomainMix,
        LISA,
        Focal,
        CVaRDRO,
        Chi2DRO,
        CVaRDORO,
        Chi2DORO,
        LDAM,
        BalancedSoftmax,
        JTT,
        DFR,
        AFR,
        LfF,
        RMix,
        RMixAware,
    )
}

__all__ = [
    "AFR",
    "CGD",
    "CORAL",
    "DFR",
    "ERM",
    "IBIRM",
    "IRM",
    "JTT",
    "LDAM",
    "LISA",
    "METHODS",
    "BalancedSoftmax",
    "CVaRDORO",
    "CVaRDRO",
    "Chi2DORO",
    "Chi2DRO",
    "Compose",
    "DomainMix",
    "Fish",
    "Focal",
    "GroupDRO",
    "Groups",
    "ImportanceSampling",
    "ImportanceWeighting",
    "InGroupMixup",
    "LfF",
    "Method",
    "PlainMixup",
    "RMix",
    "RMixAware",
    "VREx",
]
