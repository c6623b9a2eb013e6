"""LISA and DomainMix: their parts, and the adversary by hand."""

from __future__ import annotations

import math

import pytest
import torch
from torch import nn
from toys import facts_of, make_batch, rng

from rmix.errors import InvalidValueError
from rmix.methods import LISA, DomainMix
from rmix.methods.domain_mix import Adversarial
from rmix.models import MLP
from rmix.recipe import Accompanied, Recipe

FACTS = facts_of([2, 2, 2, 2])


def test_lisa_at_its_ends_mixes_only_what_it_should() -> None:
    """Groups 2 * y + a. Intra-label keeps every class and swaps groups; intra-domain does the reverse."""
    batch = make_batch([0, 0, 1, 1], group=[0, 1, 2, 3])
    within = LISA(p_sel=1.0).recipe(FACTS).mixer(batch, rng())
    assert within.parts[1].y.tolist() == [0, 0, 1, 1]
    assert within.parts[1].group.tolist() == [1, 0, 3, 2]
    across = LISA(p_sel=0.0).recipe(FACTS).mixer(batch, rng())
    assert across.parts[1].y.tolist() == [1, 1, 0, 0]
    assert across.parts[1].group.tolist() == [2, 3, 0, 1]


def test_lisa_draws_a_lambda_for_each_row_unless_told() -> None:
    batch = make_batch([0, 0, 1, 1], group=[0, 1, 2, 3])
    assert len(set(LISA().recipe(FACTS).mixer(batch, rng()).parts[0].weight.tolist())) == 4
    assert len(set(LISA(per_sample=False).recipe(FACTS).mixer(batch, rng()).parts[0].weight.tolist())) == 1


def test_lisa_wants_an_attribute_of_each_group() -> None:
    with pytest.raises(InvalidValueError, match=r"each of the 4 groups, got \(0, 1\)"):
        LISA(attributes=(0, 1)).recipe(FACTS)
    with pytest.raises(InvalidValueError, match=r"prob must be in \[0, 1\], got 2"):
        LISA(p_sel=2.0)
    recipe = LISA(p_sel=0.0, attributes=(0, 1, 1, 0)).recipe(FACTS)
    mixed = recipe.mixer(make_batch([0, 1, 0, 1], group=[0, 1, 2, 3]), rng())
    assert mixed.parts[1].group.tolist() == [3, 2, 1, 0]


def test_domain_mix_pairs_other_groups() -> None:
    batch = make_batch([0, 0, 1, 1], group=[0, 0, 1, 1])
    own, other = DomainMix().recipe(FACTS).mixer(batch, rng()).parts
    assert (own.group != other.group).all()
    assert type(DomainMix().recipe(FACTS)) is Recipe


class Told(nn.Module):
    """Guesses group 0 with chance 3/4, whatever it is shown."""

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        first = features.sum(1, keepdim=True) * 0 + math.log(3)
        return torch.cat([first, torch.zeros_like(first)], dim=1)


def test_the_adversary_by_hand() -> None:
    """Groups 0, 2, none, of which 0 and 2 have rows: (log(4/3) + log(4)) / 3 times its weight."""
    recipe = Adversarial(adversary=6.0, rows=(5, 0, 5))
    model = MLP(width=2, depth=1).build((1,), 2).double()
    batch = make_batch([0, 1, 0], group=[0, 2, -1])
    plain = Recipe().step(model, batch, rng()).loss
    outcome = recipe.step(Accompanied(model, Told()), batch, rng())
    assert (outcome.loss - plain).item() == pytest.approx(2 * (math.log(4 / 3) + math.log(4)))


def test_features_climb_what_the_group_head_descends() -> None:
    """The same step with the gradient of the head, and with its opposite for the features."""
    recipe = Adversarial(adversary=1.0, rows=(5, 5))
    model = recipe.accompany(MLP(width=4, depth=1).build((1,), 2).double())
    batch = make_batch([0, 1, 0, 1], group=[0, 1, 0, 1])
    (recipe.step(model, batch, rng()).loss - Recipe().step(model, batch, rng()).loss).backward()
    ours = [p.grad.clone() for p in (model.model.features[1].weight, model.companion[0].weight)]
    model.zero_grad()
    guesses = model.companion(model.model.features(batch.x))
    nn.functional.cross_entropy(guesses, batch.group).backward()
    theirs = [p.grad for p in (model.model.features[1].weight, model.companion[0].weight)]
    torch.testing.assert_close(ours[0], -theirs[0])
    torch.testing.assert_close(ours[1], theirs[1])


def test_the_adversary_wants_a_head() -> None:
    with pytest.raises(InvalidValueError, match="`head` begins with a linear layer, got Linear"):
        Adversarial(rows=(1, 1)).accompany(nn.Linear(2, 2))
    with pytest.raises(InvalidValueError, match="adversary must be >= 0 and finite, got -1"):
        DomainMix(adversary=-1.0)
