"""The numbers of the published UMIX code: weighted mixup, trajectory weights, CutMix."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from rmix.batch import Batch, Mixed
from rmix.mixers import cutmix, mixup
from rmix.mixers.cutmix import cut_box
from rmix.recipe import Facts, Mixer, Recipe, Weighting
from rmix.weightings import ByRow, Fixed, FromTrajectory, Uncertainty

Case = Callable[[str], dict[str, Any]]


@dataclass(frozen=True)
class Given(Mixer):
    """Mixup with a partner and a lambda that are given, not drawn."""

    partner: Tensor
    lam: float

    def __call__(self, batch: Batch, rng: np.random.Generator) -> Mixed:
        return mixup(batch, self.partner, self.lam)


def prepared(rule: Any, facts: Facts) -> Weighting:
    """The weighting of a rule that needs no stage."""
    with pytest.raises(StopIteration) as stop:
        next(rule.prepare(facts))
    return stop.value.value


def close(value: Any, expected: Any, rtol: float = 1e-9) -> None:
    np.testing.assert_allclose(torch.as_tensor(value).detach().numpy(), np.asarray(expected), rtol=rtol)


@pytest.mark.parametrize("name", ["umix_mixup_lam0.3", "umix_mixup_lam0.85"])
def test_weighted_mixup_loss_and_gradients(name: str, case: Case, batch: Batch, linear: nn.Linear) -> None:
    given = case(name)
    weights = prepared(Fixed(table=tuple(given["weight"].tolist())), Facts(24, 3, (8, 8, 8)))
    recipe = Recipe(weighting=weights, mixer=Given(given["perm"], given["lam"]))
    outcome = recipe.step(linear, batch, np.random.default_rng(0))
    outcome.loss.backward()
    assert outcome.loss.dtype == torch.float64
    close(outcome.loss, given["loss"])
    close(linear.weight.grad, given["grad_W"])
    close(linear.bias.grad, given["grad_b"])


def test_the_partner_is_looked_up_not_inverted(case: Case, batch: Batch, linear: nn.Linear) -> None:
    """The inverse permutation gives another loss, so the reference tells the two apart."""
    given = case("umix_mixup_lam0.3")
    weights = prepared(Fixed(table=tuple(given["weight"].tolist())), Facts(24, 3, (8, 8, 8)))
    recipe = Recipe(weighting=weights, mixer=Given(torch.argsort(given["perm"]), given["lam"]))
    assert abs(recipe.step(linear, batch, np.random.default_rng(0)).loss.item() / given["loss"] - 1) > 1e-3


def test_trajectory_weights(case: Case) -> None:
    """Correctness bits in, weights out: eta * u + 1 over the epochs 5 to 14 of 20."""
    given = case("umix_trajectory_weights")
    correct = given["correct"].bool()  # (24, 20)
    n, epochs = correct.shape
    rule = Uncertainty(eta=given["eta"], source=FromTrajectory(given["T_s"], given["T"]))
    needs = rule.prepare(Facts(n, 2, (n, 0), notes_epochs=epochs))
    notes = next(needs).recipe.weighting
    rows = Batch(torch.zeros(n, 1), torch.zeros(n, dtype=torch.int64), torch.arange(n), torch.ones(n))
    for hit in correct.T:
        notes.observe(rows, torch.stack([hit.float(), 1 - hit.float()], dim=1))  # class 0 wins where correct
        notes.end_epoch()
    with pytest.raises(StopIteration) as stop:
        next(needs)
    weighting = stop.value.value
    assert isinstance(weighting, ByRow)
    close(weighting.table, given["weight"])


def test_cutmix_box_images_lambda_and_weights(case: Case) -> None:
    given = case("umix_cutmix")
    images, y, weight, perm = (given[name] for name in ("images", "y", "weight", "perm"))
    centre = tuple(np.array([c]) for c in given["centre"].tolist())
    box = cut_box((10, 12), np.array([given["lam_drawn"]]), centre)
    mixed = cutmix(Batch(images, y, torch.arange(6), weight), perm, box)
    own, other = mixed.parts
    close(mixed.x, given["mixed"])
    close(own.weight, weight * given["lam_adjusted"])
    close(other.weight, weight[perm] * (1 - given["lam_adjusted"]))
    assert torch.equal(own.y, y)
    assert torch.equal(other.y, y[perm])


@pytest.mark.parametrize("seed", range(10))
def test_the_two_views_of_proposition_1_agree(seed: int) -> None:
    """Weighted losses of two targets = the reweighted loss of one reweighted soft label, in float64."""
    rng = np.random.default_rng(seed)
    x, matrix = (torch.from_numpy(rng.standard_normal(shape)) for shape in ((16, 7), (7, 4)))
    weight = torch.from_numpy(rng.uniform(0.01, 80, 16))
    y, partner = torch.from_numpy(rng.integers(4, size=16)), torch.from_numpy(rng.permutation(16))
    lam = float(rng.random())

    def model(inputs: Tensor) -> Tensor:
        return inputs @ matrix

    batch = Batch(x, y, torch.arange(16), weight)
    two_losses = Recipe(mixer=Given(partner, lam)).step(model, batch, rng).loss

    hot = torch.eye(4, dtype=torch.float64)[y]
    own, other = weight * lam, weight[partner] * (1 - lam)
    together = own + other  # the weight of the one loss
    label = (own[:, None] * hot + other[:, None] * hot[partner]) / together[:, None]
    log_chance = model(lam * x + (1 - lam) * x[partner]).log_softmax(1)
    one_loss = (together * -(label * log_chance).sum(1)).mean()

    close(two_losses, one_loss, rtol=1e-12)
    close(label.sum(1), np.ones(16), rtol=1e-12)  # a label indeed
