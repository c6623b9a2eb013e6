"""IRM, IB-IRM and CORAL against WILDS and DomainBed."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from rmix.batch import Batch, unmixed
from rmix.methods import CORAL, IBIRM, IRM
from rmix.methods.coral import misalignment
from rmix.methods.penalised import Penalised, Seen
from rmix.recipe import Facts, Outcome

FACTS = Facts(24, 3, (8, 8, 8), group_counts=(6, 6, 6, 6), group_rows=(6, 6, 6, 6))


class Squares(nn.Module):
    """Features are the squares of the inputs."""

    def __init__(self, head: nn.Linear) -> None:
        super().__init__()
        self.features, self.head = _Square(), head

    def forward(self, x):
        return self.head(self.features(x))


class _Square(nn.Module):
    def forward(self, x):
        return x**2


def loss_after(updates: int, recipe: Penalised, model: nn.Module, batch: Batch) -> Outcome:
    recipe.restore({"updates": torch.tensor(updates)})
    outcome = recipe.step(model, batch, np.random.default_rng())
    outcome.loss.backward()
    return outcome


@pytest.mark.parametrize("name", ["irm_wilds_count0", "irm_wilds_count600"])
def test_irm(case, batch, linear, name):
    expected = case(name)
    recipe = IRM(penalty=expected["lam"], anneal=expected["anneal"]).recipe(FACTS)
    assert loss_after(expected["update_count"], recipe, linear, batch).loss.item() == pytest.approx(
        expected["loss"], rel=1e-9
    )
    torch.testing.assert_close(linear.weight.grad, expected["grad_W"], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", ["ibirm_domainbed_count0", "ibirm_domainbed_count600"])
def test_ib_irm(case, batch, linear, name):
    expected = case(name)
    method = IBIRM(
        penalty=expected["irm_lambda"],
        anneal=expected["anneal"],
        bottleneck=expected["ib_lambda"],
        bottleneck_anneal=expected["anneal"],
    )
    outcome = loss_after(expected["update_count"], method.recipe(FACTS), Squares(linear), batch)
    assert outcome.loss.item() == pytest.approx(expected["loss"], rel=1e-9)
    torch.testing.assert_close(linear.weight.grad, expected["grad_W"], rtol=1e-9, atol=1e-12)
    seen = Seen(outcome, [batch.x**2])
    found = [penalty.of(seen).item() for penalty in method.recipe(FACTS).penalties]
    assert found == pytest.approx([expected["irm_penalty"], expected["ib_penalty"]], rel=1e-9)


def test_coral(case):
    expected = case("coral_penalty_wilds")
    x = torch.cat([expected["a"], expected["b"]])
    group = torch.tensor([0] * len(expected["a"]) + [2] * len(expected["b"]))  # group 1 is absent
    batch = Batch(x, torch.zeros_like(group), group, torch.ones(len(x)).double(), group)
    seen = Seen(Outcome(x.sum(), x, unmixed(batch), batch), [x])
    assert misalignment(seen, n_groups=3).item() == pytest.approx(expected["penalty"], rel=1e-9)
    assert CORAL().recipe(FACTS).penalties[0].weight == 1.0
