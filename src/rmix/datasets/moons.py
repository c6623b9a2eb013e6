"""Four moons in the plane (paper, Appendix A.1)."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import ClassVar

import numpy as np
import torch

from rmix.datasets.base import Bundle, DataSet, Split
from rmix.errors import require
from rmix.streams import stream

# Class 0 opens downwards, class 1 upwards. Groups 0 and 1 sit left and right, so that "left or right"
# tells them apart; groups 2 and 3 sit where that rule is wrong.
CENTRES = np.array([[-1.5, 0.1], [1.5, -0.1], [1.5, 0.1], [-1.5, -0.1]])


@dataclass(frozen=True)
class FourMoons(DataSet):
    """Four half circles in the plane; two large groups suggest a rule that two small ones break.

    Task: which way a moon opens, from a point on it; two classes.
    Groups: Four; groups 0 and 2 are of class 0, groups 1 and 3 of class 1.
    Sizes: Training 600, 600, 8, 8; validation 100 a group, test 500 a group.
    Source: Generated, after Appendix A.1 of the paper, which gives no sizes or coordinates.
    Licence: MIT, as rmix.

    Args:
        sizes: training rows of each group.
        valid_size: validation rows of a group.
        test_size: test rows of a group.
        noise: standard deviation around the half circle.
        seed: of the data; the seed of a run does not change them.
    """

    name: ClassVar[str] = "moons"
    model: ClassVar[str] = "mlp"
    sizes: tuple[int, ...] = (600, 600, 8, 8)
    valid_size: int = 100
    test_size: int = 500
    noise: float = 0.3
    seed: int = 0

    def __post_init__(self) -> None:
        require(len(self.sizes) == 4 and min(self.sizes) >= 1, f"sizes must be 4 numbers >= 1, got {self.sizes}")
        require(0 <= self.noise < inf, f"noise must be >= 0 and finite, got {self.noise}")
        for name in ("valid_size", "test_size"):
            require(getattr(self, name) >= 1, f"{name} must be >= 1, got {getattr(self, name)}")

    def load(self) -> Bundle:
        return Bundle(
            name=self.name,
            train=self._draw("train", self.sizes),
            valid=self._draw("valid", (self.valid_size,) * 4),
            test=self._draw("test", (self.test_size,) * 4),
            class_names=("opens down", "opens up"),
            group_names=("left, opens down", "right, opens up", "right, opens down", "left, opens up"),
        )

    def _draw(self, split: str, sizes: tuple[int, ...]) -> Split:
        rng = stream(self.seed, self.name, split)
        group = np.repeat(np.arange(4), sizes)
        angle = rng.uniform(0, np.pi, len(group))
        side = np.where(group % 2 == 0, 1.0, -1.0)
        arch = np.stack([np.cos(angle), side * np.sin(angle)], axis=1)
        x = CENTRES[group] + arch + self.noise * rng.standard_normal((len(group), 2))
        return Split(*(torch.from_numpy(v) for v in (x.astype(np.float32), group % 2, group)))
