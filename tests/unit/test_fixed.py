"""Weights that the user brings."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from toys import facts_of, finished

from rmix.batch import Batch, Groups
from rmix.weightings import Fixed


def rows(*index: int, weight: float = 1.0) -> Batch:
    n = len(index)
    return Batch(torch.zeros(n, 1), torch.zeros(n).long(), torch.tensor(index), torch.full((n,), weight).double())


def test_looked_up_by_training_row() -> None:
    weighting = finished(Fixed(table=(3.0, 0.0, 5.0)).prepare(facts_of([3])))
    assert weighting(rows(2, 0, 2)).tolist() == [5.0, 3.0, 5.0]
    assert weighting(rows(2, weight=0.5)).tolist() == [2.5]


def test_mean_one_by_hand() -> None:
    """(3 + 0 + 6) / 3 = 3."""
    weighting = finished(Fixed("mean_one", (3.0, 0.0, 6.0)).prepare(facts_of([3])))
    assert weighting(rows(0, 1, 2)).tolist() == [1.0, 0.0, 2.0]


@settings(max_examples=40, deadline=None, derandomize=True)
@given(table=st.lists(st.floats(0.01, 1e6), min_size=1, max_size=20))
def test_mean_one_has_mean_one_and_keeps_ratios(table: list[float]) -> None:
    weights = finished(Fixed("mean_one", tuple(table)).prepare(facts_of([len(table)]))).table.numpy()
    assert weights.mean() == pytest.approx(1.0, rel=1e-9)
    np.testing.assert_allclose(weights * table[0], np.array(table) * weights[0], rtol=1e-9)


def test_no_group_is_read() -> None:
    assert Fixed().groups == Groups.NONE


def test_means_by_group_for_the_reports() -> None:
    """Group 1 holds rows 1 and 2: (0 + 5) / 2; group 2 is empty."""
    weighting = finished(Fixed(table=(3.0, 0.0, 5.0)).prepare(facts_of([3])))
    member = np.array([[True, False, False], [False, True, False], [False, True, False]])
    assert weighting.describe(member) == {"weight_by_group": [3.0, 2.5, None]}
