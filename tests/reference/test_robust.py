"""The numbers of published robust losses: DORO's code, fast-DRO, group DRO of WILDS, V-REx of DomainBed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from rmix.batch import Batch, unmixed
from rmix.methods import Chi2DORO, Chi2DRO, CVaRDORO, CVaRDRO, GroupDRO, VREx
from rmix.recipe import Facts, Recipe

Case = Callable[[str], dict[str, Any]]
FOUR_GROUPS = Facts(24, 3, (3, 11, 10), group_counts=(6, 6, 6, 6), group_rows=(6, 6, 6, 6))
EXACT = {
    "doro_cvar_a0.25_e0": CVaRDRO(0.25, whole_rows=True),
    "doro_cvar_a0.5_e0": CVaRDRO(0.5, whole_rows=True),
    "doro_cvar_doro_a0.25_e0.125": CVaRDORO(0.25, 0.125, whole_rows=True),
    "doro_cvar_doro_a0.2_e0.05": CVaRDORO(0.2, 0.05, whole_rows=True),
    "fastdro_cvar_0.1": CVaRDRO(0.1),
    "fastdro_cvar_0.33": CVaRDRO(0.33),
    "fastdro_chi-square_0.5": Chi2DRO(radius=0.5),
    "fastdro_chi-square_2.0": Chi2DRO(radius=2.0),
    "doro_chisq_a0.5_e0": Chi2DRO(0.5),
}
# the original searches eta with a tolerance of 1.5e-8: of second order in the value, of first in the gradient
SEARCHED = {
    "doro_chisq_a0.25_e0": Chi2DRO(0.25),
    "doro_chisq_doro_a0.25_e0.125": Chi2DORO(0.25, 0.125, whole_rows=True),
    "doro_chisq_doro_a0.2_e0.05": Chi2DORO(0.2, 0.05, whole_rows=True),
}
ROBUST = EXACT | SEARCHED


def value_and_gradient(recipe: Recipe, losses: Tensor) -> tuple[Tensor, Tensor]:
    """The reduction of a recipe on these losses, all weights one."""
    losses, n = losses.clone().requires_grad_(), len(losses)
    batch = Batch(torch.zeros(n, 1), torch.zeros(n).long(), torch.arange(n), torch.ones_like(losses).detach())
    value = recipe.reduction([losses], unmixed(batch))
    value.backward()
    return value.detach(), losses.grad


@pytest.mark.parametrize("name", ROBUST)
def test_worst_cases_over_rows(name: str, case: Case) -> None:
    given = case(name)
    value, gradient = value_and_gradient(ROBUST[name].recipe(FOUR_GROUPS), given["losses"])
    assert value.item() == pytest.approx(given["value"], rel=1e-9)
    near = 1e-9 if name in EXACT else 1e-7
    np.testing.assert_allclose(gradient, given["grad"], rtol=0, atol=near * given["grad"].max().item())


@pytest.mark.parametrize("alpha", [0.5, 0.25])
def test_the_exact_threshold_is_on_the_edge_of_the_ball(alpha: float, case: Case) -> None:
    """Of a weight p a row, n p is a density: it has mean one, and lies at the radius (1 / alpha - 1)^2 / 2."""
    _, gradient = value_and_gradient(Chi2DRO(alpha).recipe(FOUR_GROUPS), case(f"doro_chisq_a{alpha}_e0")["losses"])
    density = gradient * len(gradient)
    assert density.mean().item() == pytest.approx(1, rel=1e-12)
    assert density.var(correction=0).item() / 2 == pytest.approx({0.5: 0.5, 0.25: 4.5}[alpha], rel=1e-12)


def test_group_dro_over_four_steps(reference: dict[str, Any], batch: Batch, linear: nn.Linear) -> None:
    """The third batch lacks group 3; weights, losses and gradients of every step."""
    given = reference["cases"]["group_dro_wilds_eta0.5"]
    recipe = GroupDRO(eta=given["eta"]).recipe(FOUR_GROUPS)
    groups = [set(step["group"]) for step in given["steps"]]
    assert groups == [{0, 1, 2, 3}, {0, 1, 2, 3}, {0, 1, 2}, {0, 1, 2, 3}]
    for step in given["steps"]:
        x = torch.tensor(step["x"], dtype=torch.float64)
        now = Batch(x, batch.y, batch.index, batch.weight, torch.tensor(step["group"]))
        linear.zero_grad()
        loss = recipe.step(linear, now, np.random.default_rng(0)).loss
        loss.backward()
        assert loss.item() == pytest.approx(step["loss"], rel=1e-9)
        np.testing.assert_allclose(recipe.state()["reduction.weight"], step["weights_after"], rtol=1e-9)
        np.testing.assert_allclose(linear.weight.grad, step["grad_W"], rtol=1e-9)


@pytest.mark.parametrize("name", ["vrex_domainbed_count0", "vrex_domainbed_count600"])
def test_vrex_before_and_after_the_switch(name: str, case: Case, batch: Batch, linear: nn.Linear) -> None:
    given = case(name)
    steps = given["update_count"]
    recipe = VREx(penalty=given["lam"], anneal=given["anneal"]).recipe(FOUR_GROUPS)
    recipe.restore({"reduction.steps": torch.tensor(steps)})
    loss = recipe.step(linear, batch, np.random.default_rng(0)).loss
    loss.backward()
    assert loss.item() == pytest.approx(given["loss"], rel=1e-9)
    np.testing.assert_allclose(linear.weight.grad, given["grad_W"], rtol=1e-9)
    assert recipe.state()["reduction.steps"].item() == steps + 1


def test_the_two_vrex_cases_give_the_penalty(case: Case, batch: Batch, linear: nn.Linear) -> None:
    """Nothing but the factor of the penalty changes at the switch: 1 before, 10 after."""
    early, late = case("vrex_domainbed_count0"), case("vrex_domainbed_count600")
    losses = []
    for anneal in (500, 0):
        recipe = VREx(penalty=10.0, anneal=anneal).recipe(FOUR_GROUPS)
        losses.append(recipe.step(linear, batch, np.random.default_rng(0)).loss.item())
    assert losses == pytest.approx([early["loss"], late["loss"]], rel=1e-9)
    assert (losses[1] - losses[0]) / 9 == pytest.approx(early["penalty"], rel=1e-9)
