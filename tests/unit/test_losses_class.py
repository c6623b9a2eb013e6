"""Focal, LDAM and the balanced softmax, by hand."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from torch import Tensor

from rmix.errors import InvalidValueError
from rmix.losses import BalancedSoftmax, ClassMargins, Focal
from rmix.methods import LDAM
from rmix.methods import BalancedSoftmax as BalancedMethod
from rmix.methods import Focal as FocalMethod
from rmix.recipe import Loss, cross_entropy

ODDS = torch.tensor([[math.log(3), 0.0]], dtype=torch.float64)  # probabilities 3/4 and 1/4
LOGITS = torch.tensor([[0.3, -1.0, 2.0], [50.0, 0.0, -3.0]], dtype=torch.float64)
NEUTRAL = {"focal": Focal(0.0), "ldam": ClassMargins([5, 2, 1], 0.0, 1.0), "balanced": BalancedSoftmax([5, 0, 1], 0.0)}


def gradient(loss: Loss, logits: Tensor, y: Tensor) -> Tensor:
    at = logits.clone().requires_grad_()
    loss(at, y).sum().backward()
    return at.grad


def test_focal_by_hand() -> None:
    """True class of probability 3/4, then 1/4; the square of the doubt is 1/16, then 9/16."""
    both = ODDS.expand(2, 2)
    expected = [math.log(4 / 3) / 16, 9 * math.log(4) / 16]
    assert Focal(2.0)(both, torch.tensor([0, 1])).tolist() == pytest.approx(expected)


def test_a_certain_row_has_no_focal_gradient() -> None:
    """The slope of a square root at 0 is infinite, and infinity times no loss would be no number."""
    certain = torch.tensor([[200.0, 0.0]])
    assert Focal(0.5)(certain, torch.tensor([0])).tolist() == [0]
    assert gradient(Focal(0.5), certain, torch.tensor([0])).tolist() == [[0, 0]]


def test_margins_by_hand() -> None:
    """16^(-1/4) = 1/2, so the larger class has half the margin; equal logits and margin m give log(1 + e^m)."""
    loss = ClassMargins([16, 1], max_margin=0.5, scale=1.0)
    equal = torch.zeros(2, 2, dtype=torch.float64)
    expected = [math.log(1 + math.exp(0.25)), math.log(1 + math.exp(0.5))]
    assert loss(equal, torch.tensor([0, 1])).tolist() == pytest.approx(expected)
    sharp = ClassMargins([16, 1], max_margin=0.5, scale=4.0)
    assert sharp(equal, torch.tensor([0, 1])).tolist() == pytest.approx([math.log(1 + math.e), math.log(1 + math.e**2)])


def test_a_class_without_rows_has_no_margin_and_sets_none() -> None:
    assert ClassMargins([16, 0, 1], 0.5, 1.0).margin.tolist() == [0.25, 0, 0.5]


def test_balanced_softmax_by_hand() -> None:
    """Logits that say 3 to 1, of classes that are 1 to 3: the two cancel."""
    assert BalancedSoftmax([1, 3])(ODDS, torch.tensor([0])).item() == pytest.approx(math.log(2))
    # half of it: 3 to sqrt(3), that is sqrt(3) to 1
    half = BalancedSoftmax([1, 3], tau=0.5)(ODDS, torch.tensor([0]))
    assert half.item() == pytest.approx(math.log(1 + 1 / math.sqrt(3)))


def test_a_class_without_rows_is_as_if_it_were_not_there() -> None:
    three = torch.tensor([[math.log(3), 0.0, 5.0]], dtype=torch.float64)
    y = torch.tensor([0])
    assert BalancedSoftmax([1, 3, 0])(three, y).item() == pytest.approx(math.log(2))
    assert gradient(BalancedSoftmax([1, 3, 0]), three, y).tolist() == [pytest.approx([-0.5, 0.5, 0])]


@pytest.mark.parametrize("loss", NEUTRAL.values(), ids=NEUTRAL)
def test_the_neutral_setting_is_cross_entropy(loss: Loss) -> None:
    y = torch.tensor([0, 2])
    assert torch.equal(loss(LOGITS, y), cross_entropy(LOGITS, y))
    assert torch.equal(gradient(loss, LOGITS, y), gradient(cross_entropy, LOGITS, y))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: FocalMethod(gamma=-1.0), "gamma must be >= 0 and finite, got -1.0"),
        (lambda: LDAM(max_margin=-0.1), "max_margin must be >= 0 and finite, got -0.1"),
        (lambda: LDAM(scale=0.0), "scale must be > 0 and finite, got 0.0"),
        (lambda: BalancedMethod(tau=float("inf")), "tau must be >= 0 and finite, got inf"),
    ],
)
def test_bad_settings_are_refused_where_they_are_written_down(make: Any, message: str) -> None:
    with pytest.raises(InvalidValueError) as error:
        make()
    assert str(error.value) == message
