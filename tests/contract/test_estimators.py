"""The contract of scikit-learn: every check of its own, but for the declared exceptions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from rmix.estimator import GroupRobustClassifier, RMixClassifier

ORDER = (
    "a row of weight 2 is one row of one batch, two equal rows are shuffled into batches of their own; "
    "scikit-learn checks its own MLPClassifier with a solver of full batches only"
)
EXCEPTIONS = {
    "check_sample_weight_equivalence_on_dense_data": ORDER,
    "check_sample_weight_equivalence_on_sparse_data": ORDER,
}
SHORT = {"random_state": 0, "epochs": 15}


@pytest.mark.slow
@parametrize_with_checks(
    [RMixClassifier(**SHORT, eta=1.0), GroupRobustClassifier("erm", **SHORT)],
    expected_failed_checks=lambda _: EXCEPTIONS,
)
def test_estimator(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)
