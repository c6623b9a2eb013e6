"""Inverse group sizes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from toys import facts_of, finished, make_batch

from rmix.weightings import InverseFrequency


def test_powers_by_hand() -> None:
    """1/100 and 1/25 have mean 1/40; their roots 1/10 and 1/5 have mean 3/20."""
    assert InverseFrequency().by_size(np.array([100, 25])).tolist() == pytest.approx([0.4, 1.6])
    assert InverseFrequency(power=0.5).by_size(np.array([100, 25])).tolist() == pytest.approx([2 / 3, 4 / 3])
    assert InverseFrequency(power=0.0).by_size(np.array([100, 25])).tolist() == [1.0, 1.0]


@settings(max_examples=50, deadline=None, derandomize=True)
@given(sizes=st.lists(st.integers(1, 10**6), min_size=1, max_size=10))
def test_every_group_counts_alike(sizes: list[int]) -> None:
    """The sum of a group's weights is the same for every group."""
    weighting = finished(InverseFrequency("mean_one").prepare(facts_of(sizes)))
    group = list(range(len(sizes)))
    total = weighting(make_batch([0] * len(sizes), group=group)).numpy() * np.array(sizes)
    np.testing.assert_allclose(total, np.full(len(sizes), sum(sizes) / len(sizes)), rtol=1e-9)
