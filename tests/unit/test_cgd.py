"""CGD's weights, by hand."""

from __future__ import annotations

import math

import pytest
import torch
from torch import nn
from toys import facts_of, make_batch, rng

from rmix.errors import InvalidValueError
from rmix.methods import CGD
from rmix.methods.cgd import chosen, common_good, gradients_of, moved
from rmix.models import MLP


def test_common_good_by_hand() -> None:
    """Cosines 1 and 0.6; losses 4 and 1 give sqrt(4 * 1) = 2. Gains 4/4 + 0.75 * 2 * 0.6 and 2 * 0.6/4 + 0.75."""
    gradients = torch.tensor([[2.0, 0.0], [3.0, 4.0]]).double()
    gain = common_good(torch.tensor([4.0, 1.0]).double(), gradients, torch.tensor([0.25, 0.75]).double())
    assert gain.tolist() == pytest.approx([1.9, 1.05])


def test_weights_move_are_scaled_and_clamped() -> None:
    """0.5 e^0 to 0.5 e^(-log 4): 4 to 1. A weight that vanishes stays at 1e-5, added to the sum."""
    found = moved(torch.tensor([0.5, 0.5]).double(), torch.tensor([700.0, 700.0 - math.log(4)], dtype=torch.float64))
    assert found.tolist() == pytest.approx([0.8, 0.2])
    clamped = moved(torch.tensor([0.5, 0.5]).double(), torch.tensor([1000.0, 0.0]).double())
    assert clamped.tolist() == [1.0, 1e-5]


def test_nearly_no_gradient_is_nearly_orthogonal() -> None:
    """Norms 0.01 and 0.01: the product 1e-4 is taken for 1e-3, so cosines shrink to a tenth."""
    gradients = torch.full((2, 1), 0.01).double()
    gain = common_good(torch.ones(2).double(), gradients, torch.tensor([0.5, 0.5]).double())
    assert gain.tolist() == pytest.approx([0.1, 0.1])


def test_first_weights_follow_the_sizes_of_groups_with_rows() -> None:
    """exp(2 / 2) to exp(2 / 4): the group without a row has none."""
    recipe = CGD(capacity=2.0).recipe(facts_of([4, 0, 16]))
    first, second = recipe.group_weight.tolist()
    assert first + second == pytest.approx(1.0)
    assert first / second == pytest.approx(math.exp(0.5))


def test_without_steps_every_group_counts_alike() -> None:
    """The loss is the mean of the groups' means, and weights stay."""
    recipe, model = CGD(step_size=0.0).recipe(facts_of([4, 4])), nn.Linear(1, 2).double()
    batch = make_batch([0, 1, 0], group=[0, 0, 1])
    outcome = recipe.step(model, batch, rng())
    losses = nn.functional.cross_entropy(model(batch.x), batch.y, reduction="none")
    assert outcome.loss.item() == pytest.approx(((losses[0] + losses[1]) / 4 + losses[2] / 2).item())
    assert recipe.group_weight.tolist() == [0.5, 0.5]


def test_a_batch_that_lacks_a_group() -> None:
    recipe, model = CGD(step_size=0.5).recipe(facts_of([4, 4])), nn.Linear(1, 2).double()
    outcome = recipe.step(model, make_batch([0, 1], x=[[1.0], [2.0]], group=[1, 1]), rng())
    outcome.loss.backward()
    assert recipe.group_weight.isfinite().all()
    assert recipe.group_weight[1] > recipe.group_weight[0] > 0
    assert model.weight.grad.isfinite().all()


def test_gradients_are_those_of_each_mean() -> None:
    """Means 3w and 5w + v."""
    w, v = torch.tensor([2.0], requires_grad=True), torch.tensor([1.0], requires_grad=True)
    means = torch.cat([3 * w, 5 * w + v])
    assert gradients_of(means, [w, v]).tolist() == [[3.0, 0.0], [5.0, 1.0]]
    means.sum().backward()  # the graph is still there
    assert w.grad.item() == 8.0


def test_parameters_are_chosen_by_the_start_of_their_names() -> None:
    model = MLP(width=3, depth=2).build((2,), 2)
    assert len(chosen(model, ())) == 6
    assert [tuple(p.shape) for p in chosen(model, ("features.3", "head"))] == [(3, 3), (3,), (2, 3), (2,)]
    model.features.requires_grad_(False)
    assert len(chosen(model, ())) == 2
    with pytest.raises(InvalidValueError, match=r"starts with 'layer4' \(cgd\); there are head.weight, head.bias"):
        chosen(model, ("layer4",))


def test_what_it_refuses() -> None:
    with pytest.raises(InvalidValueError, match="step_size must be >= 0 and finite, got -1"):
        CGD(step_size=-1.0)
    with pytest.raises(InvalidValueError, match=r"capacity \(C\) must be >= 0 and finite, got -1"):
        CGD(capacity=-1.0)
