"""A small table with a shortcut, as arrays."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rmix.streams import stream


class Table(NamedTuple):
    """Inputs, labels, and an attribute that agrees with the label in four of five rows."""

    x: np.ndarray  # (n, 3)
    y: np.ndarray  # "no" or "yes"
    side: np.ndarray  # "L" or "R"


def make_table(n: int, seed: int = 0) -> Table:
    """The label shows in the first column, the attribute louder in the second, nothing in the third."""
    rng = stream(seed, "table")
    y = rng.integers(2, size=n)
    side = np.where(rng.random(n) < 0.8, y, 1 - y)
    x = rng.normal(size=(n, 3))
    x[:, 0] += 3 * y
    x[:, 1] += 4 * side
    return Table(x, np.where(y == 1, "yes", "no"), np.where(side == 1, "R", "L"))
