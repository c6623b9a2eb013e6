"""Handwritten digits on two kinds of background."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch

from rmix.datasets.base import Bundle, DataSet, Split
from rmix.errors import require
from rmix.streams import stream

SIDE = 16  # pixels


@dataclass(frozen=True)
class DigitsOnBackgrounds(DataSet):
    """Real handwritten digits on horizontal or vertical stripes that nearly give the label away.

    Task: is the digit five or more? Two classes.
    Groups: Four, label x background; 94.5 % of the training digits are on their label's usual background.
    Sizes: Training 463, 30, 25, 482; validation and test 190 a group, every digit once on each background.
    Source: UCI Optical Recognition of Handwritten Digits, the 1,797 images of 8 x 8 pixels that ship with
        scikit-learn; no digit image is in two splits. Stripes are generated.
    Licence: CC BY 4.0 (the digits).

    Args:
        sizes: training rows of each group.
        held_out: digit images of a class in validation, and as many in test.
        seed: of the data; the seed of a run does not change them.
    """

    name: ClassVar[str] = "digits"
    model: ClassVar[str] = "small_cnn"
    sizes: tuple[int, ...] = (463, 30, 25, 482)
    held_out: int = 190
    seed: int = 0

    def __post_init__(self) -> None:
        require(len(self.sizes) == 4 and min(self.sizes) >= 1, f"sizes must be 4 numbers >= 1, got {self.sizes}")
        require(self.held_out >= 1, f"held_out must be >= 1, got {self.held_out}")

    def load(self) -> Bundle:
        images, label = _digits()
        in_train = (self.sizes[0] + self.sizes[1], self.sizes[2] + self.sizes[3])
        held_out = (self.held_out, self.held_out)
        rows = self._deal(label, {"train": in_train, "valid": held_out, "test": held_out})
        return Bundle(
            name=self.name,
            train=self._draw("train", images, label, rows["train"], np.repeat([0, 1, 0, 1], self.sizes)),
            valid=self._on_both("valid", images, label, rows["valid"]),
            test=self._on_both("test", images, label, rows["test"]),
            class_names=("below five", "five or more"),
            group_names=tuple(f"{y}, {b}" for y in ("below five", "five or more") for b in ("horizontal", "vertical")),
        )

    def _deal(self, label: np.ndarray, counts: dict[str, tuple[int, int]]) -> dict[str, np.ndarray]:
        """Digit images of each split, those of class 0 first, no image twice."""
        rng = stream(self.seed, self.name, "deal")
        left = [rng.permutation(np.flatnonzero(label == y)) for y in (0, 1)]
        dealt = {}
        for name, count in counts.items():
            for y in (0, 1):
                require(
                    len(left[y]) >= count[y],
                    f"Split {name!r} needs {count[y]} digit images of class {y}, but {len(left[y])} are left.",
                )
            dealt[name] = np.concatenate([left[y][: count[y]] for y in (0, 1)])
            left = [left[y][count[y] :] for y in (0, 1)]
        return dealt

    def _on_both(self, split: str, images: np.ndarray, label: np.ndarray, rows: np.ndarray) -> Split:
        return self._draw(split, images, label, np.tile(rows, 2), np.repeat([0, 1], len(rows)))

    def _draw(
        self, split: str, images: np.ndarray, label: np.ndarray, rows: np.ndarray, background: np.ndarray
    ) -> Split:
        rng = stream(self.seed, self.name, split)
        shape = (len(rows), 1)
        phase, contrast, period = rng.uniform(0, 2 * np.pi, shape), rng.uniform(0.3, 1, shape), rng.uniform(3, 6, shape)
        wave = 0.4 * (1 + contrast * np.sin(2 * np.pi * np.arange(SIDE) / period + phase))
        stripes = np.where(background[:, None, None] == 0, wave[:, :, None], wave[:, None, :])
        x = images[rows] + (1 - images[rows]) * stripes  # ink covers the stripes
        x = ((x - 0.5) / 0.3)[:, None].astype(np.float32)
        return Split(*(torch.from_numpy(v) for v in (x, label[rows], 2 * label[rows] + background)))


def _digits() -> tuple[np.ndarray, np.ndarray]:
    """Images (n, 16, 16) from 0 to 1, and whether the digit is five or more."""
    from sklearn.datasets import load_digits

    images, digit = load_digits(return_X_y=True)
    images = images.reshape(-1, 8, 8).repeat(2, axis=1).repeat(2, axis=2) / 16
    return images, (digit >= 5).astype(np.int64)
