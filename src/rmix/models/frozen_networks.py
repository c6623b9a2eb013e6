"""The networks of images as encoders: features of a published file."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from torch import nn

from rmix.errors import InvalidValueError
from rmix.models.densenet import DenseNet121
from rmix.models.encoder import Encoder
from rmix.models.image_network import ImageNetwork
from rmix.models.image_tensors import images_for
from rmix.models.resnet import ResNet18, ResNet50

IMAGENET_MEAN, IMAGENET_STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


@dataclass(frozen=True)
class FrozenNetwork(Encoder):
    """What a network of images gives its head; subclasses say which network."""

    of: ClassVar[type[ImageNetwork]]
    side: int = 224
    weights: str | None = field(default=None, compare=False, metadata={"plain": False})
    checksum: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "checksum", self.of(self.weights, self.checksum).checksum)

    def view(self, x: Any) -> Any:
        return images_for(self.name, x, self.side, IMAGENET_MEAN, IMAGENET_STD)

    def network(self) -> nn.Module:
        if self.weights is None:
            raise InvalidValueError(f"Features of {self.name} need its trained weights: --features.weights FILE.")
        return self.of(self.weights, self.checksum).build((3, self.side, self.side), 2).features.eval()


@dataclass(frozen=True)
class FrozenResNet18(FrozenNetwork):
    """ResNet-18 of a published file: 512 features of an image.

    Args:
        side: images are resized to side x side pixels.
        weights: file of the state dict, in the format of torch or safetensors.
        checksum: of the weights; filled in.
    """

    name: ClassVar[str] = "resnet18"
    of = ResNet18


@dataclass(frozen=True)
class FrozenResNet50(FrozenNetwork):
    """ResNet-50 of a published file: 2,048 features of an image.

    Args:
        side: images are resized to side x side pixels.
        weights: file of the state dict, in the format of torch or safetensors.
        checksum: of the weights; filled in.
    """

    name: ClassVar[str] = "resnet50"
    of = ResNet50


@dataclass(frozen=True)
class FrozenDenseNet121(FrozenNetwork):
    """DenseNet-121 of a published file: 1,024 features of an image.

    Args:
        side: images are resized to side x side pixels.
        weights: file of the state dict, in the format of torch or safetensors.
        checksum: of the weights; filled in.
    """

    name: ClassVar[str] = "densenet121"
    of = DenseNet121
