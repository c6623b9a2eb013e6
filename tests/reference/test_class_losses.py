"""The numbers of published losses: focal, LDAM and the balanced softmax of SubpopBench."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from rmix.batch import Batch
from rmix.methods import LDAM, BalancedSoftmax, Focal, Method
from rmix.recipe import Facts

Case = Callable[[str], dict[str, Any]]


def step(method: Method, sizes: Any, batch: Batch, logits: torch.Tensor) -> torch.Tensor:
    """The loss of a batch whose predictions are given."""
    facts = Facts(sum(sizes), len(sizes), tuple(sizes))
    return method.recipe(facts).step(lambda x: logits, batch, np.random.default_rng(0)).loss


@pytest.mark.parametrize("name", ["focal_gamma1", "focal_gamma2"])
def test_focal(name: str, case: Case, batch: Batch, linear: nn.Linear) -> None:
    given = case(name)
    logits = linear(batch.x).detach().requires_grad_()
    loss = step(Focal(given["gamma"]), [8, 8, 8], batch, logits)
    loss.backward()
    assert loss.item() == pytest.approx(given["loss"], rel=1e-9)
    np.testing.assert_allclose(logits.grad, given["grad_logits"], rtol=1e-9)


def test_ldam(case: Case, batch: Batch, linear: nn.Linear) -> None:
    given = case("ldam")
    method = LDAM(given["max_m"], given["scale"])
    loss = step(method, given["class_sizes"].tolist(), batch, linear(batch.x))
    assert loss.item() == pytest.approx(given["loss"], rel=1e-9)


def test_balanced_softmax(case: Case, batch: Batch, linear: nn.Linear) -> None:
    given = case("balanced_softmax")
    loss = step(BalancedSoftmax(), given["class_sizes"].tolist(), batch, linear(batch.x))
    assert loss.item() == pytest.approx(given["loss"], rel=1e-9)
