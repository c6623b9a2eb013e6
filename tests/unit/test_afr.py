"""Automatic feature reweighting."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn
from toys import KilledError, StopAt, Told, make_batch, rng, same, small

from rmix.errors import InvalidValueError
from rmix.experiment.run import run_config
from rmix.methods import AFR
from rmix.methods.afr import PulledHead
from rmix.models.base import Network
from rmix.testing.runs import fit
from rmix.testing.toy import toy_bundle
from rmix.training.evaluate import predict
from rmix.weightings import Confidence


def test_weights_by_hand() -> None:
    """exp(-2 p) for p = 0 and log(2) / 2 is 1 and 1/2; the mean over the two rows held out is 3/4."""
    chance, held = np.array([0.0, math.log(2) / 2, 1.0]), np.array([True, True, False])
    weight = AFR(gamma=2.0, balance_classes=False).weights(chance, np.array([0, 1, 1]), held)
    assert weight.tolist() == pytest.approx([4 / 3, 2 / 3, math.exp(-2) * 4 / 3])


def test_classes_are_balanced_by_their_rows_that_are_held_out() -> None:
    """Without gamma, of four rows held out three are of class 0: weights 1/3 and 1 of mean 1/2."""
    held = np.array([True] * 4 + [False] * 2)
    weight = AFR(gamma=0.0).weights(np.full(6, 0.3), np.array([0, 0, 0, 1, 1, 1]), held)
    assert weight.tolist() == pytest.approx([2 / 3] * 3 + [2.0] * 3)


def test_weights_of_the_run_are_those_of_the_model_that_the_first_stage_left() -> None:
    """With a step too small to matter the model is still that of the first stage."""
    bundle, method = toy_bundle(), AFR(gamma=3.0, balance_classes=False)
    trace = fit(method, bundle, lr=1e-12)
    chance = predict(trace.model, bundle.train).softmax(1).gather(1, bundle.train.y[:, None])[:, 0]
    table = trace.recipe.weighting.table
    expected = torch.exp(-3 * (chance.double() - chance[0].double()))
    torch.testing.assert_close(table / table[0], expected, rtol=1e-5, atol=0)


def network() -> Network:
    head = nn.Linear(1, 2).double()
    with torch.no_grad():
        head.weight.copy_(torch.tensor([[1.0], [2.0]]))
        head.bias.copy_(torch.tensor([0.0, -1.0]))
    return Network(nn.Sequential(nn.Identity()), head, ())


def test_the_pull_is_to_where_the_head_began() -> None:
    """A weight moved by 2 and a bias by 1: 0.1 * (4 + 1) = 0.5; before it moved there is no pull."""
    recipe, free = PulledHead(l2=0.1), PulledHead(l2=0.0)
    model, batch = network(), make_batch([0, 1])
    for some in (recipe, free):
        some.accompany(model)
    assert recipe.step(model, batch, rng()).loss.item() == free.step(model, batch, rng()).loss.item()
    with torch.no_grad():
        model.head.weight[0] += 2
        model.head.bias[1] -= 1
    losses = [some.step(model, batch, rng()).loss.item() for some in (recipe, free)]
    assert losses[0] - losses[1] == pytest.approx(0.5, rel=1e-12)


def test_a_strong_pull_keeps_the_head() -> None:
    moved = []
    for l2 in (0.0, 4.0):
        trace = fit(AFR(l2=l2), epochs=5)
        moved.append((trace.model.head.weight - trace.recipe.began[0]).norm().item())
    assert moved[1] < 0.5 * moved[0]


def test_notes_hold_the_latest_chance_of_each_row() -> None:
    """Logits 0 and log 3: chances 1/4 and 3/4."""
    notes, batch = Confidence(3), make_batch([1, 0])
    logits = torch.tensor([[0.0, math.log(3)]] * 2)
    notes.observe(batch, torch.zeros(2, 2))
    notes.observe(replace(batch, index=torch.tensor([2, 1])), logits)
    assert notes.chance.tolist() == pytest.approx([0.5, 0.25, 0.75])
    assert notes.y.tolist() == [1, 0, 1]


@pytest.mark.parametrize(("stage", "epoch"), [("features", 1), ("main", 0), ("main", 2)])
def test_a_killed_run_ends_as_if_it_had_not_been(stage: str, epoch: int, tmp_path: Path) -> None:
    config = small(AFR(held_out=0.4, l2=0.2))
    with pytest.raises(KilledError):
        run_config(config, store=tmp_path, callbacks=[StopAt(stage, epoch)])
    assert same(run_config(config, store=tmp_path), run_config(config))


def test_other_weights_take_up_the_features(tmp_path: Path) -> None:
    run_config(small(AFR()), store=tmp_path)
    stages = []
    for method in (AFR(gamma=9.0, l2=0.1, balance_classes=False), AFR(split_seed=1)):
        told = Told()
        run_config(small(method), store=tmp_path, callbacks=[told])
        stages.append(told.stages)
    assert stages == [[("features", True), ("main", False)], [("features", False), ("main", False)]]


@pytest.mark.parametrize(("settings", "message"), [
    ({"gamma": -1.0}, "gamma must be >= 0 and finite, got -1.0"),
    ({"l2": -1.0}, r"l2 \(lambda\) must be >= 0 and finite, got -1.0"),
    ({"held_out": 1.0}, "must lie between 0 and 1, got 1.0"),
])  # fmt: skip
def test_bad_settings(settings: dict[str, float], message: str) -> None:
    with pytest.raises(InvalidValueError, match=message):
        replace(AFR(), **settings)


def test_a_gamma_at_which_every_weight_vanishes_is_refused() -> None:
    with pytest.raises(InvalidValueError, match=r"All 2 weights are 0, so nothing can be learned \(afr\)"):
        AFR(gamma=1e6).weights(np.array([0.9, 0.8]), np.array([0, 1]), np.array([True, True]))
