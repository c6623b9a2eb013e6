"""Weights from effective numbers of rows."""

from __future__ import annotations

import numpy as np
import pytest

from rmix.errors import InvalidValueError
from rmix.methods import ImportanceWeighting
from rmix.weightings import EffectiveNumber, InverseFrequency

SIZES = np.array([3498, 184, 56, 1057])


def test_by_hand() -> None:
    """With beta 1/2 groups of 1, 2, 3 rows have 1, 3/2, 7/4; the inverses 1, 2/3, 4/7 have mean 47/63."""
    weight = EffectiveNumber(beta=0.5).by_size(np.array([1, 2, 3]))
    assert weight.tolist() == pytest.approx([63 / 47, 42 / 47, 36 / 47], rel=1e-12)


def test_the_ends_are_no_weights_and_inverse_sizes() -> None:
    assert EffectiveNumber(beta=0.0).by_size(SIZES).tolist() == [1.0] * 4
    inverse = InverseFrequency().by_size(SIZES)
    np.testing.assert_allclose(EffectiveNumber(beta=1 - 1e-9).by_size(SIZES), inverse, rtol=1e-4)


def test_large_groups_stop_counting_as_larger() -> None:
    weight = EffectiveNumber(beta=0.99).by_size(np.array([10_000, 100_000]))
    assert weight.tolist() == pytest.approx([1.0, 1.0])


@pytest.mark.parametrize("beta", [-0.1, 1.0, 2.0])
def test_beta_is_a_share(beta: float) -> None:
    with pytest.raises(InvalidValueError, match=rf"beta must be in \[0, 1\), got {beta}"):
        ImportanceWeighting(beta=beta)


def test_a_setting_of_importance_weighting_reaches_it() -> None:
    assert ImportanceWeighting(beta=0.99).composed().weighting == EffectiveNumber("mean_one", 0.99)
    assert ImportanceWeighting(power=0.5).composed().weighting == InverseFrequency("mean_one", 0.5)
