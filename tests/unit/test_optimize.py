"""Learning rates and optimizers."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from rmix.training.optimize import make_optimizer, rate_at, set_rate
from rmix.training.settings import SCHEDULES, Training


def rates(steps: int, **setting: object) -> list[float]:
    return [rate_at(Training(lr=2.0, **setting), step, steps) for step in range(steps)]


def test_constant() -> None:
    assert rates(3) == [2.0, 2.0, 2.0]


def test_linear_by_hand() -> None:
    assert rates(4, schedule="linear") == pytest.approx([2.0, 1.5, 1.0, 0.5])


def test_cosine_by_hand() -> None:
    """(1 + cos(0, 60, 90, 120 degrees)) / 2 = 1, 3/4, 1/2, 1/4 of steps 0, 2, 3 and 4 of 6."""
    cosine = rates(6, schedule="cosine")
    assert [cosine[i] for i in (0, 2, 3, 4)] == pytest.approx([2.0, 1.5, 1.0, 0.5])


def test_warmup_by_hand() -> None:
    """A quarter of 12 steps: 1/4, 2/4 and 3/4 of the rate, then the schedule from its beginning."""
    assert rates(12, warmup=0.25)[:5] == pytest.approx([0.5, 1.0, 1.5, 2.0, 2.0])
    linear = rates(12, warmup=0.25, schedule="linear")
    assert linear[3:] == pytest.approx([2.0 * (9 - i) / 9 for i in range(9)])


@settings(max_examples=100, deadline=None, derandomize=True)
@given(steps=st.integers(1, 200), warmup=st.floats(0, 0.99), schedule=st.sampled_from(SCHEDULES))
def test_rates_rise_then_never_rise_again_and_stay_positive(steps: int, warmup: float, schedule: str) -> None:
    """One hill, up to the learning rate; the last step still moves."""
    seen = rates(steps, warmup=warmup, schedule=schedule)
    top = max(range(steps), key=lambda i: seen[i])
    assert seen[: top + 1] == sorted(seen[: top + 1])
    assert seen[top:] == sorted(seen[top:], reverse=True)
    assert 0 < min(seen) <= max(seen) <= 2.0


def test_optimizers_are_what_was_asked_for() -> None:
    model = nn.Linear(2, 2)
    sgd = make_optimizer(model, Training(lr=0.3, momentum=0.5, weight_decay=0.2))
    assert isinstance(sgd, torch.optim.SGD)
    assert {key: sgd.param_groups[0][key] for key in ("lr", "momentum", "weight_decay")} == {
        "lr": 0.3,
        "momentum": 0.5,
        "weight_decay": 0.2,
    }
    adamw = make_optimizer(model, Training(optimizer="adamw", lr=0.01, weight_decay=0.1))
    assert isinstance(adamw, torch.optim.AdamW)
    assert adamw.param_groups[0]["weight_decay"] == 0.1


def test_frozen_parameters_are_left_out() -> None:
    model = nn.Linear(2, 2)
    model.bias.requires_grad_(False)
    (group,) = make_optimizer(model, Training()).param_groups
    assert [id(p) for p in group["params"]] == [id(model.weight)]


def test_the_rate_is_set_before_the_step() -> None:
    """Gradient 1, rate 0.25: the weight moves by exactly that."""
    model = nn.Linear(1, 1, bias=False)
    nn.init.zeros_(model.weight)
    optimizer = make_optimizer(model, Training(lr=100.0, momentum=0.0, weight_decay=0.0))
    model.weight.grad = torch.ones(1, 1)
    set_rate(optimizer, 0.25)
    optimizer.step()
    assert model.weight.item() == -0.25
