"""Deep feature reweighting, and what the methods of the last layer share."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn
from toys import KilledError, StopAt, Told, make_batch, rng, same, small

from rmix.batch import Batch
from rmix.errors import InvalidValueError
from rmix.experiment.run import run_config
from rmix.methods import AFR, DFR, Method
from rmix.methods.dfr import SparseHead, deviation
from rmix.mixers import Mixup, Pairing
from rmix.models.base import Network
from rmix.testing.runs import Trace, fit, same_bits
from rmix.testing.toy import toy_bundle


class Swap(Pairing):
    """Each of two rows with the other."""

    def __call__(self, batch: Batch, rng: np.random.Generator) -> torch.Tensor:
        return torch.tensor([1, 0])


def network(weight: list[list[float]]) -> Network:
    """Features are the inputs; the head has these weights and no bias."""
    head = nn.Linear(len(weight[0]), len(weight)).double()
    with torch.no_grad():
        head.weight.copy_(torch.tensor(weight, dtype=torch.float64))
        head.bias.zero_()
    return Network(nn.Sequential(nn.Identity()), head, ())


def test_the_penalty_is_of_the_weights_that_standardised_features_would_have() -> None:
    """Features 0, 4 have deviation 2 and 1, 1 none: 0.1 * (2 * |3| + 2 * |-1| + 0) = 0.8."""
    model, batch = network([[3.0, 5.0], [-1.0, 7.0]]), make_batch([0, 1], x=[[0.0, 1.0], [4.0, 1.0]])
    losses = [SparseHead(l1=l1).step(model, batch, rng()).loss.item() for l1 in (0.0, 0.1)]
    assert losses[1] - losses[0] == pytest.approx(0.8, rel=1e-12)


def test_standardised_features_give_the_same_loss() -> None:
    """The penalised loss on features, and of the same function on standardised ones with a plain L1."""
    x = torch.from_numpy(rng().normal(3.0, [1.0, 5.0, 0.2], size=(40, 3)))
    batch, plain = make_batch([0, 1] * 20, x=x), network([[1.0, -0.3, 2.0], [0.5, 0.1, -4.0]])
    mean, spread = x.mean(0), x.std(0, correction=0)
    other = network((plain.head.weight * spread).tolist())
    with torch.no_grad():
        other.head.bias.copy_(plain.head.weight @ mean)
    expected = nn.functional.cross_entropy(other((x - mean) / spread), batch.y) + 0.01 * other.head.weight.abs().sum()
    assert SparseHead(l1=0.01).step(plain, batch, rng()).loss.item() == pytest.approx(expected.item(), rel=1e-12)


def test_a_mixer_blends_what_the_head_is_shown() -> None:
    """Logits of the blend of 0 and 4 at one half are those of 2; the blends do not vary, so nothing is penalised."""
    halves = Mixup(1e9, Swap())
    recipe, model, batch = (
        SparseHead(mixer=halves, l1=1.0),
        network([[1.0], [-1.0]]),
        make_batch([0, 1], x=[[0.0], [4.0]]),
    )
    outcome = recipe.step(model, batch, rng())
    assert outcome.logits.flatten().tolist() == pytest.approx([2.0, -2.0] * 2, rel=1e-3)
    expected = (math.log(1 + math.exp(-4)) + math.log(1 + math.exp(4))) / 2
    assert outcome.loss.item() == pytest.approx(expected, rel=1e-3)


def test_deviation_counts_a_row_of_weight_three_as_three_rows() -> None:
    features = torch.tensor([[0.0], [4.0], [10.0]], dtype=torch.float64)
    three = deviation(features, torch.tensor([3.0, 1.0, 0.0], dtype=torch.float64))
    assert three.item() == pytest.approx(math.sqrt(3))
    assert deviation(features[:1], torch.zeros(1, dtype=torch.float64)).item() == 0


def test_the_penalty_makes_weights_small() -> None:
    size = [fit(DFR(l1=l1), epochs=20).model.head.weight.abs().sum().item() for l1 in (0.0, 0.3)]
    assert size[1] < 0.5 * size[0]


def shown(method: DFR) -> tuple[Trace, list[torch.Tensor], list[torch.Tensor]]:
    """A run, and the row numbers of the batches of its first and of its second stage."""
    seen: list[torch.Tensor] = []
    trace = fit(method, look=lambda batch, outcome: seen.append(batch.index), batch_size=1000)
    return trace, seen[:2], seen[2:]  # two epochs each of one batch


def test_features_see_the_rest_and_the_head_what_is_held_out_every_group_alike() -> None:
    trace, rest, held = shown(DFR(held_out=0.5))
    group = toy_bundle().train.group
    assert group is not None
    assert np.bincount(group[rest[0]]).tolist() == [15, 3, 2, 16]  # of 30, 6, 4, 32
    assert len(held[0]) == 36
    drawn = torch.cat(held)
    assert not set(drawn.tolist()) & set(rest[0].tolist())
    assert np.bincount(group[drawn]).min() > 8  # 18 of each, standard deviation 3.7
    assert list(trace.weights) == ["features", "main"]


def test_the_head_begins_at_zero() -> None:
    """Without weights every class has the same chance, whatever the features are."""
    losses: list[float] = []
    fit(DFR(), look=lambda batch, outcome: losses.append(outcome.loss.item()), batch_size=1000)
    assert losses[2] == pytest.approx(math.log(2), rel=1e-6)  # after two epochs of one batch each


@pytest.mark.parametrize("methods", [(DFR(l1=0.0), DFR(l1=0.5)), (AFR(gamma=1.0), AFR(gamma=9.0))], ids=["dfr", "afr"])
def test_the_features_are_those_of_the_first_stage_whatever_the_head_does(methods: tuple[Method, Method]) -> None:
    some, other = (fit(method, epochs=5).model for method in methods)  # a head that begins at zero moves nothing
    ours, theirs = (model.features.state_dict() for model in (some, other))
    assert all(same_bits(ours[name], theirs[name]) for name in ours)
    assert not same_bits(some.head.weight, other.head.weight)
    assert all(p.requires_grad for p in some.parameters())


@pytest.mark.parametrize(("stage", "epoch"), [("features", 1), ("main", 0), ("main", 2)])
def test_a_killed_run_ends_as_if_it_had_not_been(stage: str, epoch: int, tmp_path: Path) -> None:
    config = small(DFR(held_out=0.4))
    with pytest.raises(KilledError):
        run_config(config, store=tmp_path, callbacks=[StopAt(stage, epoch)])
    assert same(run_config(config, store=tmp_path), run_config(config))


def test_other_penalties_take_up_the_features(tmp_path: Path) -> None:
    run_config(small(DFR()), store=tmp_path)
    stages = []
    for method in (DFR(l1=0.1), DFR(held_out=0.3), DFR(split_seed=1)):
        told = Told()
        run_config(small(method), store=tmp_path, callbacks=[told])
        stages.append(told.stages[0])
    assert stages == [("features", True), ("features", False), ("features", False)]


def test_bad_settings_and_models() -> None:
    with pytest.raises(InvalidValueError, match="l1 must be >= 0 and finite, got -1"):
        DFR(l1=-1.0)
    with pytest.raises(InvalidValueError, match="must lie between 0 and 1, got 0"):
        DFR(held_out=0.0)
    deep = Network(nn.Sequential(nn.Identity()), nn.Sequential(nn.Linear(2, 2)), ())
    with pytest.raises(InvalidValueError, match=r"one torch\.nn\.Linear, got Sequential in Network"):
        SparseHead().accompany(deep)
