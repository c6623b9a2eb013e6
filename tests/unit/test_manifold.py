"""Manifold mixup: the model cut in two, run by hand."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from toys import make_batch, rng

from rmix.batch import Batch, Groups, Mixed
from rmix.errors import InvalidValueError
from rmix.mixers import AnyPair, Manifold, Mixup, SameLabelAndGroup, Sometimes, mixup
from rmix.models import MLP, Network, SmallCNN
from rmix.recipe import Mixer, Recipe

SWAP = torch.tensor([1, 0])


@dataclass(frozen=True)
class Swap(Mixer):
    """Mixes two rows with each other, lambda 0.25."""

    def __call__(self, batch: Batch, rng: np.random.Generator) -> Mixed:
        return mixup(batch, SWAP, 0.25)


def model() -> Network:
    with torch.random.fork_rng():
        torch.random.manual_seed(0)
        return MLP(width=16, depth=3).build((2,), 2).double()


X = torch.tensor([[3.0, -4.0], [-3.0, 4.0]], dtype=torch.float64)


def by_hand(network: Network, depth: int) -> Tensor:
    """Features up to ``depth``, blended 1 to 3, then the rest."""
    hidden = X
    for layer in network.features[:depth]:
        hidden = layer(hidden)
    hidden = 0.25 * hidden + 0.75 * hidden[SWAP]
    for layer in network.features[depth:]:
        hidden = layer(hidden)
    return network.head(hidden)


def test_penultimate_mixes_the_input_of_the_head() -> None:
    network = model()
    outcome = Recipe(mixer=Manifold(Swap())).step(network, make_batch([0, 1], x=X), rng())
    torch.testing.assert_close(outcome.logits, by_hand(network, len(network.features)), rtol=1e-12, atol=0)
    assert [part.weight.tolist() for part in outcome.mixed.parts] == [[0.25, 0.25], [0.75, 0.75]]


def test_random_mixes_at_every_depth_that_the_model_offers() -> None:
    network = model()
    expected = {depth: by_hand(network, depth) for depth in network.mix_points}
    assert network.mix_points == (0, 3, 5, 7)  # the input, and after each ReLU
    met = set()
    for seed in range(40):
        recipe = Recipe(mixer=Manifold(Swap(), layer="random"))
        logits = recipe.step(network, make_batch([0, 1], x=X), rng(seed)).logits
        (depth,) = [d for d, value in expected.items() if torch.allclose(value, logits, rtol=1e-12)]
        met.add(depth)
    assert met == {0, 3, 5, 7}


def test_depths_differ_so_the_tests_above_can_fail() -> None:
    network = model()
    values = [by_hand(network, depth) for depth in network.mix_points]
    assert not any(torch.allclose(a, b) for i, a in enumerate(values) for b in values[:i])


def test_depth_zero_is_mixup_of_the_input() -> None:
    network = model()
    plain = Recipe(mixer=Swap()).step(network, make_batch([0, 1], x=X), rng())
    torch.testing.assert_close(plain.logits, by_hand(network, 0), rtol=1e-12, atol=0)


def test_not_mixing_sometimes_is_the_whole_model() -> None:
    network = model()
    for layer in ("penultimate", "random"):
        mixer = Sometimes(Manifold(Mixup(), layer=layer), 0.0)
        outcome = Recipe(mixer=mixer).step(network, make_batch([0, 1], x=X), rng())
        torch.testing.assert_close(outcome.logits, network(X), rtol=1e-12, atol=0)


def test_every_cut_of_the_small_cnn_is_the_whole() -> None:
    network = SmallCNN(width=2).build((1, 8, 8), 2)
    images = torch.linspace(-1, 1, 128).view(2, 1, 8, 8)
    for seed in range(12):
        before, after = Manifold(layer="random").where(network, rng(seed))
        torch.testing.assert_close(after(before(images)), network(images))


def test_a_model_without_features_and_head_is_refused() -> None:
    headless = nn.ModuleDict({"features": nn.Linear(2, 2)})
    for model in (nn.Linear(2, 2), headless):
        with pytest.raises(InvalidValueError, match=r"modules `features` and `head`, got (Linear|ModuleDict)"):
            Manifold().where(model, rng())


def test_a_model_without_mix_points_has_no_random_layer() -> None:
    network = Network(nn.Sequential(nn.Flatten()), nn.Linear(2, 2), ())
    with pytest.raises(InvalidValueError, match=r"mix_points.*Network has none. Use layer='penultimate'"):
        Manifold(layer="random").where(network, rng())
    assert Manifold().where(network, rng())[1] is network.head


def test_layer_must_be_known() -> None:
    with pytest.raises(InvalidValueError, match=r"layer must be one of \('penultimate', 'random'\), got 'last'"):
        Manifold(layer="last")


def test_it_sees_what_the_wrapped_mixer_sees() -> None:
    assert Manifold(Mixup(0.5, AnyPair())).groups == Groups.NONE
    assert Manifold(Mixup(0.5, SameLabelAndGroup())).groups == Groups.TRAIN
