"""A small convolutional network."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from torch import nn

from rmix.datasets.base import Bundle
from rmix.errors import InvalidValueError, require
from rmix.models.base import ModelSpec, Network, in_float32


@dataclass(frozen=True)
class SmallCNN(ModelSpec):
    """Three 3x3 convolutions with ReLU, each followed by 2x2 pooling, then a linear head.

    Args:
        width: channels of the first convolution; the others have two and four times as many.
    """

    width: int = 8
    name: ClassVar[str] = "small_cnn"

    def __post_init__(self) -> None:
        require(self.width >= 1, f"width must be >= 1, got {self.width}")

    def prepare(self, bundle: Bundle) -> Bundle:
        return in_float32(bundle)

    def build(self, shape: tuple[int, ...], n_classes: int) -> Network:
        if len(shape) != 3 or min(shape[1:]) < 8:
            raise InvalidValueError(
                f"small_cnn needs images (channels, height, width) of at least 8x8, got inputs of shape {shape}."
            )
        layers: list[nn.Module] = []
        mix_points = [0]
        channels, height, width = shape
        for factor in (1, 2, 4):
            layers += [nn.Conv2d(channels, factor * self.width, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)]
            mix_points.append(len(layers))
            channels, height, width = factor * self.width, height // 2, width // 2
        layers.append(nn.Flatten())
        head = nn.Linear(channels * height * width, n_classes)
        return Network(nn.Sequential(*layers), head, tuple(mix_points))
