"""Rounds of Fish, by identities."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import nn
from toys import facts_of, make_batch, rng

from rmix.batch import Batch
from rmix.errors import InvalidValueError
from rmix.methods import Fish
from rmix.methods.fish import Rounds, of_group, part_of_the_way
from rmix.recipe import Recipe


def batch_of(groups: list[int]) -> Batch:
    x = torch.randn(len(groups), 3, generator=torch.Generator().manual_seed(0)).double()
    return make_batch([i % 2 for i in range(len(groups))], x=x, group=groups)


def start() -> tuple[nn.Linear, torch.optim.Optimizer]:
    torch.nn.init.zeros_((model := nn.Linear(3, 2).double()).bias)
    nn.init.eye_(model.weight)
    return model, torch.optim.SGD(model.parameters(), lr=0.5, momentum=0.9)


def weights(model: nn.Module) -> list[float]:
    return [value for p in model.parameters() for value in p.flatten().tolist()]


def test_one_group_all_of_the_way_is_sgd_bit_for_bit() -> None:
    batch, (fish, inner), (sgd, plain) = batch_of([1] * 6), start(), start()
    for _ in range(3):
        outcome = Rounds(meta_lr=1.0).update(fish, inner, batch, rng(), None)
        same = Recipe().update(sgd, plain, batch, rng(), None)
        assert outcome.loss == same.loss
        assert weights(fish) == weights(sgd)


def test_a_round_of_two_groups_by_two_steps() -> None:
    """The official variant goes meta_lr / 2 of the way that two steps go, one on each group."""
    batch, (fish, inner), (sgd, plain) = batch_of([0, 1, 0, 1, 1]), start(), start()
    Rounds(meta_lr=0.3, official=False).update(fish, inner, batch, rng(), None)
    before = weights(sgd)
    for group in (0, 1):
        Recipe().update(sgd, plain, of_group(batch, group), rng(), None)
    expected = [a + 0.3 * (b - a) for a, b in zip(before, weights(sgd), strict=True)]
    assert weights(fish) == pytest.approx(expected, rel=1e-12)
    official, other = start()
    in_order = next(seed for seed in range(9) if rng(seed).permutation(2).tolist() == [0, 1])
    Rounds(meta_lr=0.6).update(official, other, batch, rng(in_order), None)
    assert weights(official) == pytest.approx(expected, rel=1e-12)


def test_what_the_optimizer_remembers_is_carried() -> None:
    model, optimizer = start()
    Rounds(meta_lr=0.5).update(model, optimizer, batch_of([0, 1, 2]), rng(), None)
    momentum = optimizer.state[model.weight]["momentum_buffer"].clone()
    assert momentum.abs().sum() > 0
    Rounds(meta_lr=0.5).update(model, optimizer, batch_of([0, 1, 2]), rng(), None)
    assert not torch.equal(momentum, optimizer.state[model.weight]["momentum_buffer"])


def test_the_order_of_groups_is_drawn_and_rows_in_no_group_are_not_stepped_on() -> None:
    def first_group(seed: int) -> float:
        return Rounds().update(*start(), batch_of([0, 0, 2, -1, 3]), rng(seed), None).batch.group.tolist()[0]

    assert {first_group(seed) for seed in range(20)} == {0, 2, 3}
    outcome = Rounds().update(*start(), batch_of([0, 0, 2, -1, 3]), rng(), None)
    assert sorted(outcome.batch.index.tolist()) == [0, 1, 2, 4]
    assert outcome.logits.shape == (4, 2)
    assert torch.equal(outcome.mixed.parts[0].y, outcome.batch.y)


def test_a_batch_in_no_group_is_an_ordinary_step() -> None:
    (fish, inner), (sgd, plain) = start(), start()
    Rounds(meta_lr=0.1).update(fish, inner, batch_of([-1, -1]), rng(), None)
    Recipe().update(sgd, plain, batch_of([-1, -1]), rng(), None)
    assert weights(fish) == weights(sgd)


def test_integers_are_left_alone_and_tied_weights_move_once() -> None:
    norm = nn.BatchNorm1d(2).double()
    model = nn.Sequential(nn.Linear(2, 2).double(), norm)
    model.append(model[0])  # the same layer under two names
    before = copy.deepcopy(model.state_dict())
    with torch.no_grad():
        model[0].weight += 8.0
        norm.running_mean += 4.0
        norm.num_batches_tracked += 3
    part_of_the_way(model, before, 0.25)
    assert norm.num_batches_tracked.item() == 3
    assert norm.running_mean.tolist() == [1.0, 1.0]
    assert (model[0].weight - before["0.weight"]).flatten().tolist() == pytest.approx([2.0] * 4)


def test_stages() -> None:
    facts = facts_of([4, 4])
    pretrain, main = Fish().stages(facts)
    assert (pretrain.preliminary, pretrain.identity, main.fresh_model) == (True, "erm", False)
    (alone,) = Fish(pretrain=False).stages(facts)
    assert alone.fresh_model


def test_what_it_refuses() -> None:
    with pytest.raises(InvalidValueError, match="meta_lr must be > 0 and finite, got 0"):
        Fish(meta_lr=0.0)
    with pytest.raises(InvalidValueError, match="meta_steps must be >= 1, got 0"):
        Fish(meta_steps=0)
    with pytest.raises(InvalidValueError, match="variant must be one of official, domainbed, got 'wilds'"):
        Fish(variant="wilds")  # type: ignore[arg-type]
