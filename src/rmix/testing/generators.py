"""Whether the global generators are left alone: the one file of the library that touches them."""

from __future__ import annotations

import pickle
import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch


@contextmanager
def global_generators(seed: int) -> Iterator[None]:
    """Seeds the generators of torch, NumPy and Python; an error if they moved meanwhile."""
    kept = _generators()
    torch.manual_seed(seed)
    np.random.seed(seed)  # noqa: NPY002 (that nobody uses it is what is checked)
    random.seed(seed)
    before = _generators()
    try:
        yield
        moved = [name for name, state in _generators().items() if state != before[name]]
        assert not moved, f"the global generator of {' and '.join(moved)} moved; draw from the generator that is passed"
    finally:
        torch.set_rng_state(torch.tensor(list(kept["torch"]), dtype=torch.uint8))
        np.random.set_state(pickle.loads(kept["numpy"]))  # noqa: NPY002
        random.setstate(kept["python"])


def _generators() -> dict[str, Any]:
    return {
        "torch": bytes(torch.get_rng_state().tolist()),
        "numpy": pickle.dumps(np.random.get_state()),  # noqa: NPY002
        "python": random.getstate(),
    }
