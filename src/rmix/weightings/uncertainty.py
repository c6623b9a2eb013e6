"""RMix's weights where groups are unknown: w = eta * u + c (paper, section 4.3.2)."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf
from typing import ClassVar

import numpy as np

from rmix.errors import require
from rmix.recipe import Facts, Needs, Weighting
from rmix.weightings.rule import WeightRule
from rmix.weightings.tables import ByRow
from rmix.weightings.trajectory import FromEnsemble, FromTrajectory


@dataclass(frozen=True)
class Uncertainty(WeightRule):
    """``eta * u + c``, with u how often a row was misclassified.

    Args:
        eta: how much an always misclassified row gains.
        c: the weight of a row that never was; the published code fixes it at 1.
        source: where u comes from: one run's trajectory (published) or an ensemble.
    """

    eta: float = 10.0
    c: float = 1.0
    source: FromTrajectory | FromEnsemble = field(default_factory=FromTrajectory)
    name: ClassVar[str] = "uncertainty"

    def __post_init__(self) -> None:
        super().__post_init__()
        require(0 <= self.eta < inf, f"eta must be >= 0 and finite, got {self.eta} ({self.name})")
        require(0 <= self.c < inf, f"c must be >= 0 and finite, got {self.c} ({self.name})")

    def prepare(self, facts: Facts) -> Needs[Weighting]:
        uncertainty = yield from self.source.prepare(facts)
        return ByRow(self.weights(uncertainty), origin={"uncertainty": uncertainty})

    def weights(self, uncertainty: np.ndarray) -> np.ndarray:
        """The weight of each row, from how uncertain it is, both (n,)."""
        return self.scaled(self.eta * uncertainty + self.c)
