"""Models with features and a head."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

from rmix.errors import InvalidValueError
from rmix.models import MLP, SmallCNN


def test_an_mlp_by_its_layers() -> None:
    """2 x 3 inputs flattened, three hidden layers of 5, two classes: 6*5+5 + 2*(5*5+5) + 5*2+2 parameters."""
    model = MLP(width=5, depth=3).build((2, 3), 2)
    assert sum(p.numel() for p in model.parameters()) == 35 + 60 + 12
    assert model(torch.zeros(4, 2, 3)).shape == (4, 2)
    assert all(isinstance(model.features[point - 1], nn.ReLU) for point in model.mix_points[1:])


def test_dropout_is_part_of_the_layer_it_follows() -> None:
    model = MLP(width=5, depth=2, dropout=0.5).build((2,), 2)
    assert [isinstance(layer, nn.Dropout) for layer in model.features] == [False] * 3 + [True] + [False] * 2 + [True]
    assert model.mix_points == (0, 4, 7)


@pytest.mark.parametrize("side", [8, 9, 16, 23])
def test_a_small_cnn_takes_any_image_of_eight_pixels_or_more(side: int) -> None:
    model = SmallCNN(width=2).build((3, side, side + 1), 4)
    assert model(torch.zeros(2, 3, side, side + 1)).shape == (2, 4)
    assert model.mix_points == (0, 3, 6, 9)


@pytest.mark.parametrize(("make", "message"), [
    (lambda: SmallCNN().build((2,), 2), r"small_cnn needs images .* got inputs of shape \(2,\)"),
    (lambda: SmallCNN().build((1, 7, 9), 2), r"at least 8x8, got inputs of shape \(1, 7, 9\)"),
    (lambda: SmallCNN(width=0), "width must be >= 1, got 0"),
    (lambda: MLP(width=0), "width must be >= 1, got 0"),
    (lambda: MLP(depth=-1), "depth must be >= 0, got -1"),
    (lambda: MLP(dropout=1.0), r"dropout must be in \[0, 1\), got 1.0"),
])  # fmt: skip
def test_sizes_that_make_no_model(make: Any, message: str) -> None:
    with pytest.raises(InvalidValueError, match=message):
        make()


def test_the_model_is_its_features_then_its_head() -> None:
    model = MLP(width=3).build((2,), 2)
    x = torch.tensor([[0.5, -1.0]])
    assert torch.equal(model(x), model.head(model.features(x)))
