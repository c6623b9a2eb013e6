"""Reductions: how the losses of a batch become one number. One file and one line here to add one."""

from rmix.reductions.chi_square import ChiSquare, radius_of
from rmix.reductions.cvar import CVaR
from rmix.reductions.doro import ChiSquareDORO, CVaRDORO
from rmix.reductions.group_average import GroupAverage
from rmix.reductions.group_dro import GroupDRO
from rmix.reductions.group_means import group_means
from rmix.reductions.vrex import VREx
from rmix.reductions.worst_case import WorstCase

__all__ = [
    "CVaR",
    "CVaRDORO",
    "ChiSquare",
    "ChiSquareDORO",
    "GroupAverage",
    "GroupDRO",
    "VREx",
    "WorstCase",
    "group_means",
    "radius_of",
]
