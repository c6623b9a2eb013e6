"""Weightings: how much each row counts. One file and one line here to add one."""

from rmix.weightings.confidence import Confidence
from rmix.weightings.effective_number import EffectiveNumber
from rmix.weightings.fixed import Fixed
from rmix.weightings.frequency import InverseFrequency
from rmix.weightings.group_size import GroupSize
from rmix.weightings.rule import WeightRule
from rmix.weightings.tables import ByGroup, ByRow
from rmix.weightings.trajectory import FromEnsemble, FromTrajectory, Trajectory, take_notes
from rmix.weightings.uncertainty import Uncertainty

__all__ = [
    "ByGroup",
    "ByRow",
    "Confidence",
    "EffectiveNumber",
    "Fixed",
    "FromEnsemble",
    "FromTrajectory",
    "GroupSize",
    "InverseFrequency",
    "Trajectory",
    "Uncertainty",
    "WeightRule",
    "take_notes",
]
