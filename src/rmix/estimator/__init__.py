"""The scikit-learn door: classifiers with fit and predict for any method, group metrics, scorers."""

from rmix.estimator.report import GroupReport
from rmix.estimator.robust import GroupRobustClassifier, RMixClassifier
from rmix.estimator.scorers import (
    group_gap,
    group_gap_scorer,
    group_table,
    worst_group_accuracy,
    worst_group_scorer,
)

__all__ = [
    "GroupReport",
    "GroupRobustClassifier",
    "RMixClassifier",
    "group_gap",
    "group_gap_scorer",
    "group_table",
    "worst_group_accuracy",
    "worst_group_scorer",
]
