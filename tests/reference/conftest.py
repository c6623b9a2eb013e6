"""Numbers computed with published implementations, on one fixed random batch in float64 (see open.json)."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from rmix.batch import Batch

FILE = Path(__file__).parent / "open.json"


@pytest.fixture(scope="session")
def reference() -> dict[str, Any]:
    """The whole file: ``batch`` and ``cases``."""
    return json.loads(FILE.read_text())


@pytest.fixture(scope="session")
def case(reference: dict[str, Any]) -> Callable[[str], dict[str, Any]]:
    """A case by name, its lists of numbers as tensors: floats in float64, integers in int64."""

    def tensors(value: Any) -> Any:
        if not isinstance(value, list):
            return value
        tensor = torch.tensor(value, dtype=torch.float64)
        return tensor.long() if "." not in json.dumps(value) else tensor

    return lambda name: {key: tensors(value) for key, value in reference["cases"][name].items()}


@pytest.fixture
def batch(reference: dict[str, Any]) -> Batch:
    """The common batch of 24 rows, every weight one."""
    y, group = (torch.tensor(reference["batch"][name]) for name in ("y", "group"))
    x = torch.tensor(reference["batch"]["x"], dtype=torch.float64)
    return Batch(x, y, torch.arange(len(y)), torch.ones(len(y), dtype=torch.float64), group)


@pytest.fixture
def linear(reference: dict[str, Any]) -> torch.nn.Linear:
    """The common linear model of three classes."""
    model = torch.nn.Linear(5, 3).double()
    with torch.no_grad():
        model.weight.copy_(torch.tensor(reference["batch"]["W"], dtype=torch.float64))
        model.bias.copy_(torch.tensor(reference["batch"]["b"], dtype=torch.float64))
    return model
