"""Randomness has a name: every use draws from its own stream, and no global generator moves."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import torch


def stream(seed: int, *use: str | int) -> np.random.Generator:
    """The generator of one named use; adding a use, or drawing more in one, shifts no other.

    Resuming at an epoch needs no saved generator: the epoch is part of the name.

    Example:
        >>> int(stream(0, "order", "main", 3).integers(100))
        28
        >>> int(stream(0, "mix", "main", 3).integers(100))
        67
    """
    digest = hashlib.sha256(repr((int(seed), *use)).encode()).digest()
    return np.random.default_rng(int.from_bytes(digest[:16], "little"))


@contextmanager
def torch_stream(seed: int, *use: str | int) -> Iterator[None]:
    """Torch's own randomness (initial weights, dropout) of one named use.

    Modules of torch draw from its global generators and take no other, so these are seeded inside
    and put back as they were outside.
    """
    with torch.random.fork_rng():
        torch.random.manual_seed(int(stream(seed, "torch", *use).integers(2**63)))
        yield
