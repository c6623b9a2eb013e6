"""CGD and Fish against their published code."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from rmix.batch import Batch
from rmix.methods import CGD
from rmix.methods.fish import Rounds
from rmix.recipe import Facts


def test_cgd(batch, linear, reference):
    expected = reference["cases"]["cgd_C10_step0.1"]
    sizes = tuple(int(n) for n in expected["group_sizes"])
    method = CGD(capacity=expected["C"], step_size=expected["step_size"])
    recipe = method.recipe(Facts(sum(sizes), 3, (30, 30, 28), group_counts=sizes, group_rows=sizes))
    assert len(expected["steps"]) == 3
    for step in expected["steps"]:
        linear.zero_grad()
        x = torch.tensor(step["x"], dtype=torch.float64)
        outcome = recipe.step(linear, replace(batch, x=x), np.random.default_rng())
        outcome.loss.backward()
        assert recipe.group_weight.tolist() == pytest.approx(step["weights_after"], rel=1e-9)
        assert outcome.loss.item() == pytest.approx(step["loss"], rel=1e-9)
        torch.testing.assert_close(
            linear.weight.grad, torch.tensor(step["grad_W"], dtype=torch.float64), rtol=1e-9, atol=1e-12
        )


def rows(batch: Batch, groups: list[int]) -> Batch:
    chosen = torch.isin(batch.group, torch.tensor(groups))
    return Batch(*(getattr(batch, name)[chosen] for name in ("x", "y", "index", "weight", "group")))


def test_fish(case, batch, linear):
    expected = case("fish_official_sgd0.1_m0.9")
    order = expected["order"].tolist()
    rng = SimpleNamespace(permutation=lambda n: np.argsort(np.argsort(order))[:n])  # present 0, 2, 3 -> 2, 0, 3
    optimizer = torch.optim.SGD(linear.parameters(), lr=expected["inner_lr"], momentum=expected["momentum"])
    recipe = Rounds(meta_lr=expected["meta_lr"])
    recipe.update(linear, optimizer, rows(batch, order), rng, clip=None)
    assert len(order) == expected["meta_steps"]
    torch.testing.assert_close(linear.weight.data, expected["W_after"], rtol=1e-9, atol=1e-12)
    torch.testing.assert_close(linear.bias.data, expected["b_after"], rtol=1e-9, atol=1e-12)
