"""A multi-layer perceptron."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import ClassVar

from torch import nn

from rmix.datasets.base import Bundle
from rmix.errors import require
from rmix.models.base import ModelSpec, Network, in_float32


@dataclass(frozen=True)
class MLP(ModelSpec):
    """Hidden layers of one width with ReLU.

    Args:
        width: units of a hidden layer.
        depth: hidden layers; 0 is a linear model.
        dropout: share of units dropped after each hidden layer.

    Example:
        >>> MLP(width=8, depth=1).build((2,), 3)
        Network(
          (features): Sequential(
            (0): Flatten(start_dim=1, end_dim=-1)
            (1): Linear(in_features=2, out_features=8, bias=True)
            (2): ReLU()
          )
          (head): Linear(in_features=8, out_features=3, bias=True)
        )
    """

    width: int = 64
    depth: int = 2
    dropout: float = 0.0
    name: ClassVar[str] = "mlp"

    def __post_init__(self) -> None:
        require(self.width >= 1, f"width must be >= 1, got {self.width}")
        require(self.depth >= 0, f"depth must be >= 0, got {self.depth}")
        require(0 <= self.dropout < 1, f"dropout must be in [0, 1), got {self.dropout}")

    def prepare(self, bundle: Bundle) -> Bundle:
        return in_float32(bundle)

    def build(self, shape: tuple[int, ...], n_classes: int) -> Network:
        layers: list[nn.Module] = [nn.Flatten()]
        mix_points = [0]
        size = prod(shape)
        for _ in range(self.depth):
            layers += [nn.Linear(size, self.width), nn.ReLU()]
            if self.dropout:
                layers.append(nn.Dropout(self.dropout))
            mix_points.append(len(layers))
            size = self.width
        return Network(nn.Sequential(*layers), nn.Linear(size, n_classes), tuple(mix_points))
