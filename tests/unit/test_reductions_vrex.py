"""The mean of the groups' losses and the penalty on their variance, by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from toys import facts_of, make_batch

from rmix.batch import unmixed
from rmix.errors import InvalidValueError
from rmix.methods import VREx as Method
from rmix.recipe import Recipe
from rmix.reductions import VREx


def step(reduction: VREx, losses: list[float], group: list[int]) -> float:
    batch = make_batch([0] * len(losses), group=group)
    return reduction([torch.tensor(losses, dtype=torch.float64)], unmixed(batch)).item()


def test_mean_and_variance_by_hand() -> None:
    """Means 1 and 3: mean 2, variance 1; the penalty is 1 in two steps, and 10 from then on."""
    vrex = VREx(n_groups=2, penalty=10.0, anneal=2)
    values = [step(vrex, [0.5, 1.5, 3.0], [0, 0, 1]) for _ in range(4)]
    assert values == pytest.approx([3, 3, 12, 12])


def test_groups_that_a_batch_lacks_are_not_zeros() -> None:
    """Of groups 0 and 3 alone, as in the test above; of one group, its mean."""
    vrex = VREx(n_groups=5, penalty=10.0, anneal=0)
    assert step(vrex, [1.0, 3.0, 99.0], [0, 3, -1]) == pytest.approx(12)
    assert step(vrex, [1.0, 3.0], [4, 4]) == pytest.approx(2)
    assert step(vrex, [1.0, 3.0], [-1, -1]) == 0


def test_steps_are_kept_and_put_back() -> None:
    first, again = (VREx(2, 10.0, anneal=1) for _ in range(2))
    step(first, [1.0, 3.0], [0, 1])
    again.restore(first.state())
    assert step(again, [1.0, 3.0], [0, 1]) == pytest.approx(12)


def momentum(recipe: Recipe, steps: int) -> list[bool]:
    """Whether the optimizer, after each step, knows more than the gradient of that step."""
    model = torch.nn.Linear(1, 2).double()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    batch = make_batch([0, 1], group=[0, 1])
    remembers = []
    for _ in range(steps):
        recipe.update(model, optimizer, batch, np.random.default_rng(0), None)
        buffer = optimizer.state[model.weight]["momentum_buffer"]
        remembers.append(not torch.equal(buffer, model.weight.grad))
    return remembers


def test_the_optimizer_starts_afresh_at_the_switch() -> None:
    assert momentum(Method(anneal=2).recipe(facts_of([1, 1])), 4) == [False, True, False, True]
    assert momentum(Method(anneal=0).recipe(facts_of([1, 1])), 3) == [False, True, True]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"penalty": -1.0}, "penalty must be >= 0 and finite, got -1.0"),
        ({"anneal": -1}, "anneal must be >= 0, got -1"),
    ],
)
def test_bad_settings_are_refused_where_they_are_written_down(settings: Any, message: str) -> None:
    with pytest.raises(InvalidValueError) as error:
        Method(**settings)
    assert str(error.value) == message
