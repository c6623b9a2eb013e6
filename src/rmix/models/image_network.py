"""What networks of images have in common: published weights, and the shape of what they take."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Literal

from torch import nn

from rmix.errors import InvalidValueError
from rmix.models.base import Network
from rmix.models.published import Published
from rmix.models.weights import read_weights, same_weights

LEAST_SIDE = 32


@dataclass(frozen=True)
class ImageNetwork(Published):
    """A convolutional network of colour images; subclasses have the layers and the names of published files.

    The path of the weights is not part of what a run is known by: their checksum is.
    """

    fan: ClassVar[Literal["fan_in", "fan_out"]]  # of the initial weights of convolutions, as published
    weights: str | None = field(default=None, compare=False, metadata={"plain": False})
    checksum: str = ""

    def __post_init__(self) -> None:
        if self.weights is not None:
            object.__setattr__(self, "checksum", same_weights(self.weights, self.checksum, self.name))

    def build(self, shape: tuple[int, ...], n_classes: int) -> Network:
        if len(shape) != 3 or shape[0] != 3 or min(shape[1:]) < LEAST_SIDE:
            raise InvalidValueError(
                f"{self.name} needs images (3, height, width) of at least {LEAST_SIDE}x{LEAST_SIDE}, "
                f"got inputs of shape {shape}."
            )
        model = self.network(n_classes)
        for module in model.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode=self.fan, nonlinearity="relu")
        if self.weights is not None:
            self.load_published(model, read_weights(self.weights), self.weights)
        elif self.checksum:
            raise InvalidValueError(
                f"{self.name} starts from weights with checksum {self.checksum}; "
                "say where they are: --model.weights FILE."
            )
        return model
