"""How a picture becomes an input: what is cut out of it, to which size, and what is random in training."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from math import exp, log, sqrt

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from rmix.errors import require

IMAGENET_MEAN, IMAGENET_STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
Box = tuple[int, int, int, int]  # left, top, right, bottom in pixels
TRIES = 10  # at drawing a box that fits, before the largest central one is taken


@dataclass(frozen=True)
class Crop:
    """A random part of a picture, as it is drawn for "random resized crops".

    Args:
        scale: smallest and largest share of the picture's area.
        ratio: smallest and largest width over height; its logarithm is uniform.
    """

    scale: tuple[float, float] = (0.7, 1.0)
    ratio: tuple[float, float] = (3 / 4, 4 / 3)

    def __post_init__(self) -> None:
        require(0 < self.scale[0] <= self.scale[1] <= 1, f"scale must rise within (0, 1], got {self.scale}")
        require(0 < self.ratio[0] <= self.ratio[1], f"ratio must rise from above 0, got {self.ratio}")

    def box(self, width: int, height: int, rng: np.random.Generator) -> Box:
        """A part of a picture of this width and height.

        Example:
            >>> Crop().box(500, 375, np.random.default_rng(0))
            (13, 1, 487, 375)
        """
        for _ in range(TRIES):
            area = rng.uniform(*self.scale) * width * height
            ratio = exp(rng.uniform(log(self.ratio[0]), log(self.ratio[1])))
            w, h = round(sqrt(area * ratio)), round(sqrt(area / ratio))
            if 0 < w <= width and 0 < h <= height:
                left, top = int(rng.integers(width - w + 1)), int(rng.integers(height - h + 1))
                return left, top, left + w, top + h
        within = min(max(width / height, self.ratio[0]), self.ratio[1])
        return central(width, height, min(width, round(height * within)), min(height, round(width / within)))


def central(width: int, height: int, w: int, h: int) -> Box:
    """The middle of a picture.

    Example:
        >>> central(178, 218, 178, 178)
        (0, 20, 178, 198)
    """
    left, top = round((width - w) / 2), round((height - h) / 2)
    return left, top, left + w, top + h


@dataclass(frozen=True)
class Geometry:
    """A decoded picture as it is kept: a square of ``side`` pixels.

    Args:
        side: width and height in pixels.
        square: True: of the largest central square; False: of the whole picture, squashed.
    """

    side: int
    square: bool

    def box(self, width: int, height: int) -> Box:
        """The part of a picture that is kept."""
        short = min(width, height)
        return central(width, height, short, short) if self.square else (0, 0, width, height)


@dataclass(frozen=True)
class View:
    """What a model is shown of a picture.

    Args:
        size: width and height of the input.
        resize: side to which the picture is resized before its middle of ``size`` is shown; None = ``size``.
        square: the largest central square is resized; else the whole picture, squashed.
        crop: in training, a random part of the whole picture instead of its middle.
        flip: in training, left and right are exchanged in half of the cases.
        mean: of each channel from 0 to 1, subtracted.
        std: of each channel, divided by.
    """

    size: int = 224
    resize: int | None = None
    square: bool = False
    crop: Crop | None = None
    flip: bool = False
    mean: tuple[float, float, float] = IMAGENET_MEAN
    std: tuple[float, float, float] = IMAGENET_STD

    def __post_init__(self) -> None:
        require(self.size >= 1, f"size must be >= 1, got {self.size}")
        require(self.side >= self.size, f"resize must be >= size, got {self.resize} and {self.size}")

    @property
    def side(self) -> int:
        """Side of the kept picture."""
        return self.resize or self.size

    @property
    def random(self) -> bool:
        """Whether training shows anything else than evaluation."""
        return self.crop is not None or self.flip

    def kept(self, augmented: bool) -> Geometry:
        """What must be decoded: a random crop may reach everywhere, so it needs the whole picture."""
        return Geometry(self.side, self.square and not (augmented and self.crop))

    def sized(self, size: int) -> View:
        """The same part of a picture, of another size."""
        return replace(self, size=size, resize=round(self.side * size / self.size))

    def show(self, kept: Tensor, size: tuple[int, int], rng: np.random.Generator | None = None) -> Tensor:
        """What is shown of a kept picture (3, side, side), as (3, size, size).

        Args:
            kept: the picture, uint8.
            size: its width and height before it was kept; random boxes are drawn on these pixels.
            rng: of what is random in training; None = as evaluated.
        """
        box = central(self.side, self.side, self.size, self.size)
        if rng is not None and self.crop is not None:
            box = _carried(self.crop.box(*size, rng), size, self.side)
        left, top, right, bottom = box
        shown = resized(kept[:, top:bottom, left:right], self.size)
        return shown.flip(2) if rng is not None and self.flip and rng.random() < 0.5 else shown

    def normalise(self, shown: Tensor, into: Tensor) -> None:
        """Less the mean, over the standard deviation: (3, h, w) from 0 to 255 into as many float32.

        One picture at a time, which stays in the processor's cache.
        """
        torch.sub(shown, _bytes(self.mean), out=into).div_(_bytes(self.std))


@lru_cache
def _bytes(value: tuple[float, ...]) -> Tensor:
    """A value of each channel from 0 to 1, on the scale of bytes."""
    return torch.tensor(value).view(-1, 1, 1) * 255


def _carried(box: Box, size: tuple[int, int], side: int) -> Box:
    """A box on a picture of ``size`` as it lies on its square of ``side``; at least a pixel wide and high."""
    left, top, right, bottom = (round(edge * side / size[i % 2]) for i, edge in enumerate(box))
    left, top = min(left, side - 1), min(top, side - 1)
    return left, top, max(right, left + 1), max(bottom, top + 1)


def resized(x: Tensor, size: int) -> Tensor:
    """(3, h, w) uint8 as (3, size, size).

    Torch's bilinear filter of bytes is Pillow's, which was used by all who published, and three times as
    fast; where it rounds otherwise, in about one of two hundred values, the difference is one of 255.
    """
    if tuple(x.shape[1:]) == (size, size):
        return x
    return functional.interpolate(x[None], size=(size, size), mode="bilinear", antialias=True)[0]
