"""Losses: how wrong a prediction is, row by row. One file and one line here to add one."""

from rmix.losses.balanced_softmax import BalancedSoftmax
from rmix.losses.focal import Focal
from rmix.losses.generalized import GeneralizedCrossEntropy
from rmix.losses.ldam import ClassMargins

__all__ = ["BalancedSoftmax", "ClassMargins", "Focal", "GeneralizedCrossEntropy"]
