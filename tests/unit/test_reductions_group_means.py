"""Mean loss and mass of every group."""

from __future__ import annotations

import pytest
import torch
from toys import make_batch

from rmix.batch import Mixed, Part, unmixed
from rmix.errors import HiddenGroupsError
from rmix.reductions import group_means
from rmix.reductions.group_means import sum_by_group


def float64(*values: float) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.float64)


def test_weighted_means_by_hand() -> None:
    """Group 0: (1 * 2 + 3 * 6) / 4; group 1 is absent; group 2: 7; the row in no group counts nowhere."""
    batch = make_batch([0, 0, 1, 1], weight=[1.0, 3.0, 0.5, 9.0], group=[0, 0, 2, -1])
    means, mass = group_means([float64(2, 6, 7, 100)], unmixed(batch), 4)
    assert means.tolist() == [5, 0, 7, 0]
    assert mass.tolist() == [4, 0, 0.5, 0]


def test_every_part_counts_in_its_own_group() -> None:
    """A blend of a row of group 0 (lambda 1/4) and one of group 1 (3/4), and one within group 1."""
    ours = Part(torch.zeros(2).long(), float64(0.25, 0.25), torch.tensor([0, 1]))
    theirs = Part(torch.ones(2).long(), float64(0.75, 0.75), torch.tensor([1, 1]))
    mixed = Mixed(torch.zeros(2, 1), (ours, theirs))
    means, mass = group_means([float64(8, 7), float64(1, 3)], mixed, 2)
    assert mass.tolist() == [0.25, 1.75]
    assert means.tolist() == pytest.approx([8, (0.25 * 7 + 0.75 * 1 + 0.75 * 3) / 1.75])


def test_rows_without_weight_and_batches_in_no_group_leave_finite_gradients() -> None:
    losses = float64(1, 2, 3).requires_grad_()
    batch = make_batch([0, 0, 1], weight=[0.0, 2.0, 1.0], group=[0, 1, -1])
    means, _ = group_means([losses], unmixed(batch), 2)
    assert means.tolist() == [0, 2]
    means.sum().backward()
    assert losses.grad.tolist() == [0, 1, 0]


def test_a_group_weighs_the_same_at_any_scale_of_weights() -> None:
    losses = float64(1, 2, 5)
    small, large = (make_batch([0, 0, 1], weight=[w, 3 * w, w], group=[0, 0, 1]) for w in (0.5, 8.0))
    assert group_means([losses], unmixed(small), 2)[0].tolist() == group_means([losses], unmixed(large), 2)[0].tolist()


def test_hidden_groups_are_refused() -> None:
    with pytest.raises(HiddenGroupsError, match=r"must declare groups = Groups\.TRAIN"):
        group_means([float64(1)], unmixed(make_batch([0])), 2)


def test_sums_of_vectors() -> None:
    """Features are summed as losses are."""
    sums = sum_by_group(torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]), torch.tensor([1, -1, 1]), 2)
    assert sums.tolist() == [[0, 0], [6, 8]]
