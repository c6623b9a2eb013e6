"""Group weights of published implementations, for the group sizes of Waterbirds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from rmix.batch import Batch
from rmix.methods import ImportanceWeighting
from rmix.recipe import Facts
from rmix.weightings import EffectiveNumber, GroupSize, InverseFrequency, WeightRule

Case = Callable[[str], dict[str, Any]]


def weights_of(rule: WeightRule, sizes: torch.Tensor) -> np.ndarray:
    """The weight of one row of each group, looked up as in training."""
    counts = tuple(sizes.tolist())
    n, n_groups = sum(counts), len(counts)
    needs = rule.prepare(Facts(n, 2, (n, 0), group_counts=counts, group_rows=counts))
    with pytest.raises(StopIteration) as stop:
        next(needs)
    group = torch.arange(n_groups)
    return stop.value.value(Batch(group, group, group, torch.ones(n_groups, dtype=torch.float64), group)).numpy()


@pytest.mark.parametrize("name", ["cgd_initial_weights_C1", "cgd_initial_weights_C10", "cgd_initial_weights_C20"])
def test_exp_of_capacity_over_root_size(name: str, case: Case) -> None:
    given = case(name)
    weight = weights_of(GroupSize(capacity=given["C"]), given["group_sizes"])
    np.testing.assert_allclose(weight, given["unnormalised"], rtol=1e-9)
    np.testing.assert_allclose(weight / weight.sum(), given["normalised"], rtol=1e-9)


@pytest.mark.parametrize(("name", "power"), [("weights_inverse", 1.0), ("weights_sqrt_inverse", 0.5)])
def test_inverse_frequency(name: str, power: float, case: Case) -> None:
    given = case(name)  # the original rounds to float32
    weight = weights_of(InverseFrequency(power=power), given["group_sizes"])
    np.testing.assert_allclose(weight, given["per_group"], rtol=1e-6)


def test_effective_number(case: Case) -> None:
    given = case("weights_effective_number")  # the original rounds to float32
    weight = weights_of(EffectiveNumber(beta=given["beta"]), given["group_sizes"])
    np.testing.assert_allclose(weight, given["per_group"], rtol=1e-6)


@pytest.mark.parametrize(
    ("name", "method"),
    [
        ("weights_inverse", ImportanceWeighting(scale="none")),
        ("weights_sqrt_inverse", ImportanceWeighting(power=0.5, scale="none")),
        ("weights_effective_number", ImportanceWeighting(beta=0.9999, scale="none")),
    ],
)
def test_the_method_gives_these_weights(name: str, method: ImportanceWeighting, case: Case) -> None:
    given, rule = case(name), method.composed().weighting
    assert rule is not None
    np.testing.assert_allclose(weights_of(rule, given["group_sizes"]), given["per_group"], rtol=1e-6)


def test_mean_one_only_rescales(case: Case) -> None:
    given = case("cgd_initial_weights_C10")
    sizes = given["group_sizes"]
    weight = weights_of(GroupSize(scale="mean_one", capacity=10.0), sizes)
    ratio = weight / given["unnormalised"].numpy()
    np.testing.assert_allclose(ratio, np.full(4, ratio[0]), rtol=1e-12)
    assert (weight * sizes.numpy()).sum() == pytest.approx(4795, rel=1e-12)  # mean one over 4,795 rows
