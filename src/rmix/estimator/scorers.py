"""Group metrics of predictions, as plain functions and as scorers of scikit-learn.

The scorers ask for ``sensitive_features``: with ``sklearn.set_config(enable_metadata_routing=True)`` a
search or cross-validation hands each fold its own rows of it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn import config_context
from sklearn.metrics import make_scorer

from rmix.errors import DataError
from rmix.estimator.sensitive import Grouped, group_rows
from rmix.metrics.group_table import GroupTable


def group_table(
    y_true: Any, y_pred: Any, *, sensitive_features: Any, group_by_label: bool = True
) -> tuple[GroupTable, Grouped]:
    """Correct and total of each group, and the groups.

    Args:
        y_true: labels (n,).
        y_pred: predicted labels (n,).
        sensitive_features: one value a row, or one column an attribute; None and nan are in no group.
        group_by_label: groups are attribute x label, as in the literature; False: attribute alone.
    """
    true, predicted = np.asarray(y_true), np.asarray(y_pred)
    if true.shape != predicted.shape or true.ndim != 1:
        raise DataError(f"y_true and y_pred must be vectors of one length, got shapes {true.shape}, {predicted.shape}.")
    if sensitive_features is None:
        raise DataError(
            "Group metrics need sensitive_features, got None; pass them, and in a search or cross-validation "
            "switch routing on: sklearn.set_config(enable_metadata_routing=True)."
        )
    grouped = group_rows(sensitive_features, true, by_label=group_by_label)
    return GroupTable.of(true == predicted, grouped.member), grouped


def worst_group_accuracy(
    y_true: Any, y_pred: Any, *, sensitive_features: Any = None, group_by_label: bool = True
) -> float:
    """Accuracy of the group in which it is lowest; see :func:`group_table`.

    Example:
        >>> worst_group_accuracy([0, 0, 0, 1], [0, 0, 1, 1], sensitive_features=["a", "b", "b", "b"])
        0.5
    """
    return group_table(y_true, y_pred, sensitive_features=sensitive_features, group_by_label=group_by_label)[0].worst


def group_gap(y_true: Any, y_pred: Any, *, sensitive_features: Any = None, group_by_label: bool = True) -> float:
    """Accuracy over all rows minus that of the worst group; see :func:`group_table`.

    Example:
        >>> group_gap([0, 0, 0, 1], [0, 0, 1, 1], sensitive_features=["a", "b", "b", "b"])
        0.25
    """
    return group_table(y_true, y_pred, sensitive_features=sensitive_features, group_by_label=group_by_label)[0].gap


with config_context(enable_metadata_routing=True):  # only to say what the scorers ask for
    worst_group_scorer = make_scorer(worst_group_accuracy).set_score_request(sensitive_features=True)
    group_gap_scorer = make_scorer(group_gap, greater_is_better=False).set_score_request(sensitive_features=True)
