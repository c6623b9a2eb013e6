"""eta * u + c."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pytest
import torch
from toys import facts_of, finished

from rmix.batch import Batch, Groups
from rmix.recipe import Facts
from rmix.weightings import Uncertainty


@dataclass(frozen=True)
class Known:
    """Uncertainty that is given: a source like any other."""

    u: tuple[float, ...]

    def prepare(self, facts: Facts) -> Iterator[None]:
        return np.array(self.u)
        yield


def table(rule: Uncertainty, n: int) -> list[float]:
    weighting = finished(rule.prepare(facts_of([n])))
    zeros = torch.zeros(n)
    return weighting(Batch(zeros, zeros.long(), torch.arange(n), torch.ones(n).double())).tolist()


def test_by_hand() -> None:
    assert table(Uncertainty(eta=80.0, c=1.0, source=Known((0.0, 0.5, 1.0))), 3) == [1.0, 41.0, 81.0]
    assert table(Uncertainty(eta=2.0, c=0.25, source=Known((0.0, 0.5))), 2) == [0.25, 1.25]


def test_mean_one_by_hand() -> None:
    """Weights 1 and 5 have mean 3."""
    rule = Uncertainty("mean_one", eta=4.0, source=Known((0.0, 1.0)))
    assert table(rule, 2) == pytest.approx([1 / 3, 5 / 3])


def test_eta_zero_is_no_weight() -> None:
    assert table(Uncertainty(eta=0.0, source=Known((0.0, 0.3, 1.0))), 3) == [1.0, 1.0, 1.0]


def test_no_weight_at_all_is_refused() -> None:
    with pytest.raises(ValueError, match=r"All 2 weights are 0, so nothing can be learned \(uncertainty\)"):
        table(Uncertainty(eta=5.0, c=0.0, source=Known((0.0, 0.0))), 2)


def test_no_group_is_read() -> None:
    assert Uncertainty().groups == Groups.NONE


def test_uncertainty_by_group_for_the_reports() -> None:
    weighting = finished(Uncertainty(eta=4.0, source=Known((0.0, 0.5, 0.5))).prepare(facts_of([3])))
    member = np.array([[True, False], [True, False], [False, True]])
    assert weighting.describe(member) == {
        "weight_by_group": [2.0, 3.0],
        "uncertainty": {"values": [0.0, 0.5], "counts": [[1, 1], [0, 1]]},
    }
