"""The pairs and weights of mixup, with no input mixed."""

from __future__ import annotations

import pytest
import torch
from toys import make_batch, rng

from rmix.mixers import Mixup, PairsUnmixed
from rmix.recipe import Recipe

SWAP = torch.tensor([1, 0])


def test_pairs_unmixed_has_the_loss_of_both_members_as_they_are() -> None:
    """mean_i [ w_i lam l(x_i, y_i) + w_j (1 - lam) l(x_j, y_j) ], with l = x: rows 2 and 4, weights 1 and 5."""
    batch = make_batch([0, 1], x=[[2.0], [4.0]], weight=[1.0, 5.0])
    lam = 0.25
    mixer = PairsUnmixed()
    object.__setattr__(mixer, "draw", lambda batch, rng: (SWAP, lam))
    recipe = Recipe(mixer=mixer, loss=lambda logits, y: logits[:, 0])
    outcome = recipe.step(lambda x: x, batch, rng())
    first = 1 * lam * 2 + 5 * (1 - lam) * 4
    second = 5 * lam * 4 + 1 * (1 - lam) * 2
    assert outcome.loss.item() == pytest.approx((first + second) / 2)
    assert outcome.logits.shape == (4, 1)
    assert not outcome.mixed.clean


def test_pairs_unmixed_draws_the_pairs_and_weights_of_mixup() -> None:
    batch = make_batch([0, 1, 1, 0], weight=[1.0, 2.0, 3.0, 4.0], group=[0, 1, 2, 3])
    mixed, apart = (make(0.5)(batch, rng(5)) for make in (Mixup, PairsUnmixed))
    (part,) = apart.parts
    assert part.weight.tolist() == pytest.approx([2 * w for own in mixed.parts for w in own.weight.tolist()])
    assert part.group.tolist() == [g for own in mixed.parts for g in own.group.tolist()]
    assert torch.equal(apart.x[:4], batch.x)
