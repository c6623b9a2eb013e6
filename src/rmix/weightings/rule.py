"""A weight rule is what a user writes down; from the facts it makes the weighting that runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from rmix.batch import Groups
from rmix.errors import InvalidValueError, require
from rmix.recipe import Facts, Needs, Weighting

Scale = Literal["none", "mean_one"]
SCALES = ("none", "mean_one")


@dataclass(frozen=True)
class WeightRule:
    """Where weights come from.

    Args:
        scale: "none" uses the weights as they are, as published (the learning rate and the size of
            the weights are then coupled); "mean_one" divides them by their mean over training.
    """

    scale: Scale = "none"
    name: ClassVar[str]

    def __post_init__(self) -> None:
        require(self.scale in SCALES, f"scale must be one of {SCALES}, got {self.scale!r} ({self.name})")

    @property
    def groups(self) -> Groups:
        """Where it reads group labels."""
        return Groups.NONE

    def prepare(self, facts: Facts) -> Needs[Weighting]:
        """Yield the stages the weights need, if any, then return the weighting."""
        raise NotImplementedError

    def scaled(self, weight: np.ndarray, rows: np.ndarray | int = 1) -> np.ndarray:
        """``weight`` as used, where each entry stands for ``rows`` training rows."""
        check_weights(weight, self.name)
        if self.scale == "none":
            return weight
        mean = float(np.average(weight, weights=np.broadcast_to(rows, weight.shape)))
        return weight / mean


def check_weights(weight: np.ndarray, name: str) -> None:
    """Weights must be finite, at least 0, and not all 0."""
    bad = np.flatnonzero(~(np.isfinite(weight) & (weight >= 0)))
    if len(bad):
        raise InvalidValueError(f"Weights must be finite and >= 0, got {weight[bad[0]]} at position {bad[0]} ({name}).")
    require(bool(weight.any()), f"All {len(weight)} weights are 0, so nothing can be learned ({name}).")
