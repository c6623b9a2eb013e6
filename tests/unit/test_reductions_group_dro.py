"""Weights of groups that follow their losses, by hand."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from toys import facts_of, make_batch

from rmix.batch import Mixed, Part, unmixed
from rmix.errors import InvalidValueError
from rmix.methods import GroupDRO as Method
from rmix.reductions import GroupDRO
from rmix.samplers import Balanced

LOG2 = math.log(2)


def step(reduction: GroupDRO, losses: list[float], group: list[int], weight: Any = None) -> float:
    batch = make_batch([0] * len(losses), weight=weight, group=group)
    return reduction([torch.tensor(losses, dtype=torch.float64)], unmixed(batch)).item()


def test_weights_double_by_hand() -> None:
    """Group 0 has mean 1 and group 1 has 0, so a step of log 2 doubles the weight of group 0; twice."""
    dro = GroupDRO(np.array([10, 10]), eta=LOG2)
    assert step(dro, [0.5, 1.5, 0.0], [0, 0, 1]) == pytest.approx(2 / 3)
    assert dro.weight.tolist() == pytest.approx([2 / 3, 1 / 3])
    assert step(dro, [0.5, 1.5, 0.0], [0, 0, 1]) == pytest.approx(4 / 5)


def test_a_group_that_the_batch_lacks_keeps_its_share_of_what_is_left() -> None:
    """Group 1 doubles, groups 0 and 2 stay as they were, and all are scaled to sum to one."""
    dro = GroupDRO(np.array([10, 10, 10]), eta=LOG2)
    assert step(dro, [1.0], [1]) == pytest.approx(1 / 2)
    assert dro.weight.tolist() == pytest.approx([1 / 4, 1 / 2, 1 / 4])


def test_a_group_without_training_rows_never_weighs() -> None:
    dro = GroupDRO(np.array([10, 0, 10]), eta=LOG2, adjustment=5.0)
    assert dro.weight.tolist() == [0.5, 0, 0.5]
    step(dro, [1.0, 1.0], [0, 2])
    assert dro.weight.tolist() == pytest.approx([0.5, 0, 0.5])


def test_the_bonus_of_small_groups_moves_the_weights_and_is_not_in_the_loss() -> None:
    """2 / sqrt(1) = 2 and 2 / sqrt(4) = 1: a difference of one doubles."""
    dro = GroupDRO(np.array([1, 4]), eta=LOG2, adjustment=2.0)
    assert step(dro, [3.0, 3.0], [0, 1]) == pytest.approx(3)
    assert dro.weight.tolist() == pytest.approx([2 / 3, 1 / 3])


def test_normalised_losses_sum_to_one() -> None:
    """300 and 100 become 3/4 and 1/4, a half apart; a batch without a loss moves nothing."""
    dro = GroupDRO(np.array([5, 5]), eta=2 * LOG2, normalise=True)
    step(dro, [300.0, 100.0], [0, 1])
    assert dro.weight.tolist() == pytest.approx([2 / 3, 1 / 3])
    step(dro, [0.0, 0.0], [0, 1])
    assert dro.weight.tolist() == pytest.approx([2 / 3, 1 / 3])


def test_losses_beyond_the_exponent_do_not_overflow() -> None:
    dro = GroupDRO(np.array([5, 5]), eta=1.0)
    assert step(dro, [1e6, 1.0], [0, 1]) == pytest.approx(1e6)
    assert dro.weight.tolist() == [1, 0]


def test_rows_in_no_group_count_nowhere() -> None:
    dro = GroupDRO(np.array([5, 5]), eta=LOG2)
    assert step(dro, [7.0, 9.0], [-1, -1]) == 0
    assert dro.weight.tolist() == [0.5, 0.5]
    assert step(dro, [1.0, 0.0, 50.0], [0, 1, -1]) == pytest.approx(2 / 3)


def test_parts_of_a_blend_count_in_their_groups() -> None:
    """Group 0 holds a quarter of one row with loss 1, group 1 three quarters of it with loss 0."""
    parts = (
        Part(torch.tensor([0]), torch.tensor([0.25]), torch.tensor([0])),
        Part(torch.tensor([1]), torch.tensor([0.75]), torch.tensor([1])),
    )
    dro = GroupDRO(np.array([5, 5]), eta=LOG2)
    loss = dro([torch.tensor([1.0]), torch.tensor([0.0])], Mixed(torch.zeros(1, 1), parts))
    assert loss.item() == pytest.approx(2 / 3)


def test_the_gradient_does_not_flow_through_the_weights() -> None:
    losses = torch.tensor([1.0, 0.0], requires_grad=True)
    batch = make_batch([0, 1], group=[0, 1])
    GroupDRO(np.array([5, 5]), eta=LOG2)([losses], unmixed(batch)).backward()
    assert losses.grad.tolist() == pytest.approx([2 / 3, 1 / 3])


def test_weights_are_kept_and_put_back() -> None:
    first, again = (GroupDRO(np.array([5, 5]), eta=LOG2) for _ in range(2))
    step(first, [1.0, 0.0], [0, 1])
    again.restore(first.state())
    assert step(first, [1.0, 3.0], [0, 1]) == step(again, [1.0, 3.0], [0, 1])


def test_the_method_counts_rows_and_draws_groups_alike() -> None:
    """Where groups overlap, the bonus is of the rows filed under a group: 4 / sqrt(4), 4 / sqrt(16)."""
    recipe = Method(adjustment=4.0).recipe(facts_of([9, 100], rows=[4, 16]))
    assert recipe.reduction.bonus.tolist() == [2, 1]
    assert isinstance(recipe.sampler, Balanced)
    assert not isinstance(Method(balanced=False).recipe(facts_of([9, 100])).sampler, Balanced)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"eta": -0.1}, "eta must be >= 0 and finite, got -0.1"),
        ({"eta": float("inf")}, "eta must be >= 0 and finite, got inf"),
        ({"adjustment": -1.0}, "adjustment must be >= 0 and finite, got -1.0"),
    ],
)
def test_bad_settings_are_refused_where_they_are_written_down(settings: Any, message: str) -> None:
    with pytest.raises(InvalidValueError) as error:
        Method(**settings)
    assert str(error.value) == message
