"""What networks of images have in common: published weights, and the shape of what they take."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from torch import Tensor, nn

from rmix.errors import DataError, InvalidValueError
from rmix.models.base import ModelSpec, Network
from rmix.models.weights import read_weights, same_weights

LEAST_SIDE = 32
COUNTER = "num_batches_tracked"  # old files lack it, and nothing reads it


@dataclass(frozen=True)
class ImageNetwork(ModelSpec):
    """A convolutional network of colour images; subclasses have the layers and the names of published files.

    The path of the weights is not part of what a run is known by: their checksum is.
    """

    fan: ClassVar[Literal["fan_in", "fan_out"]]  # of the initial weights of convolutions, as published
    weights: str | None = field(default=None, compare=False, metadata={"plain": False})
    checksum: str = ""

    def __post_init__(self) -> None:
        if self.weights is not None:
            object.__setattr__(self, "checksum", same_weights(self.weights, self.checksum, self.name))

    def network(self, n_classes: int) -> Network:
        """The layers, with torch's initial weights."""
        raise NotImplementedError

    def published_name(self, name: str) -> str:
        """The name in a published file of what the model calls ``name``."""
        raise NotImplementedError

    def our_name(self, name: str) -> str:
        """What the model calls ``name`` of a published file."""
        raise NotImplementedError

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
            load_published(self, model, self.weights)
        elif self.checksum:
            raise InvalidValueError(
                f"{self.name} starts from weights with checksum {self.checksum}; "
                "say where they are: --model.weights FILE."
            )
        return model

    def restored(self, shape: tuple[int, ...], n_classes: int, state: Mapping[str, Tensor]) -> nn.Module:
        model = self.network(n_classes)  # trained weights need no published ones
        model.load_state_dict(state)
        return model

    def published_state(self, model: nn.Module) -> dict[str, Tensor]:
        """The state dict of ``model`` under the names of published files, for other libraries."""
        return {self.published_name(name): value for name, value in model.state_dict().items()}


def load_published(spec: ImageNetwork, model: nn.Module, path: str) -> None:
    """Put a published state dict into ``model``; a head of another number of classes stays as it is."""
    found = {spec.our_name(name): value for name, value in read_weights(path).items()}
    wanted = model.state_dict()
    head = {name for name in wanted if name.startswith("head.")}
    if any(name in found and found[name].shape != wanted[name].shape for name in head):
        found = {name: value for name, value in found.items() if name not in head}
    counted = {name for name in wanted if name.endswith(COUNTER)}
    missing = [name for name in wanted if name not in found.keys() | head | counted]
    foreign = [name for name in found if name not in wanted]
    other = [name for name in found if name in wanted and found[name].shape != wanted[name].shape]
    for names, what in ((missing, "it lacks"), (foreign, "it also has"), (other, "another shape has")):
        if names:
            name = spec.published_name(names[0])
            raise DataError(f"{path} is not of {spec.name}: {what} {name!r} (and {len(names) - 1} more).")
    model.load_state_dict(wanted | found)
