"""Weights that the user brings, one a training row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rmix.errors import require
from rmix.recipe import Facts, Needs, Weighting
from rmix.weightings.rule import WeightRule
from rmix.weightings.tables import ByRow


@dataclass(frozen=True)
class Fixed(WeightRule):
    """One given weight a training row, in the order of the training split."""

    table: tuple[float, ...] = ()
    name: ClassVar[str] = "fixed"

    def prepare(self, facts: Facts) -> Needs[Weighting]:
        require(
            len(self.table) == facts.n,
            f"Fixed weights must be one a training row: got {len(self.table)} for {facts.n} rows.",
        )
        return ByRow(self.scaled(np.array(self.table, dtype=float)))
        yield  # no stage is needed
