"""ResNet-18 and ResNet-50, of which published ImageNet files load."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor, nn

from rmix.models.base import Network
from rmix.models.image_network import ImageNetwork


@dataclass(frozen=True)
class ResNet(ImageNetwork):
    """A residual network for images; ``features`` are torchvision's layers before ``fc``, ``head`` is ``fc``."""

    fan = "fan_out"
    blocks: ClassVar[tuple[int, int, int, int]]
    bottleneck: ClassVar[bool]

    def network(self, n_classes: int) -> Network:
        layers: OrderedDict[str, nn.Module] = OrderedDict(
            conv1=nn.Conv2d(3, 64, 7, stride=2, padding=3, bias=False),
            bn1=nn.BatchNorm2d(64),
            relu=nn.ReLU(inplace=True),
            maxpool=nn.MaxPool2d(3, stride=2, padding=1),
        )
        block = Bottleneck if self.bottleneck else BasicBlock
        size = 64
        for i, count in enumerate(self.blocks):
            width = 64 * 2**i
            stage = []
            for j in range(count):
                stage.append(block(size, width, stride=2 if i and not j else 1))
                size = width * block.expansion
            layers[f"layer{i + 1}"] = nn.Sequential(*stage)
        layers |= {"avgpool": nn.AdaptiveAvgPool2d(1), "flatten": nn.Flatten()}
        last = ("features.layer3.", "features.layer4.", "head.")
        return Network(nn.Sequential(layers), nn.Linear(size, n_classes), (0, 5, 6, 7, len(layers)), last)

    def published_name(self, name: str) -> str:
        return name.removeprefix("features.").replace("head.", "fc.")

    def our_name(self, name: str) -> str:
        if name.startswith(("features.", "head.")):
            return name
        return name.replace("fc.", "head.") if name.startswith("fc.") else f"features.{name}"


@dataclass(frozen=True)
class ResNet18(ResNet):
    """ResNet-18.

    Args:
        weights: file of a published state dict (torchvision's names), in the format of torch or safetensors; its
            last layer is replaced where the number of classes differs. None = random initial weights.
        checksum: of the weights; filled in.
    """

    name: ClassVar[str] = "resnet18"
    blocks = (2, 2, 2, 2)
    bottleneck = False


@dataclass(frozen=True)
class ResNet50(ResNet):
    """ResNet-50, as torchvision has it (stride in the 3x3 convolutions).

    Args:
        weights: file of a published state dict (torchvision's names), in the format of torch or safetensors; its
            last layer is replaced where the number of classes differs. None = random initial weights.
        checksum: of the weights; filled in.
    """

    name: ClassVar[str] = "resnet50"
    blocks = (3, 4, 6, 3)
    bottleneck = True


class Residual(nn.Module):
    """Convolutions beside a shortcut; subclasses say which."""

    expansion: int
    downsample: nn.Module | None

    def residual(self, x: Tensor) -> Tensor:
        """What is added to the shortcut."""
        raise NotImplementedError

    def forward(self, x: Tensor) -> Tensor:
        shortcut = x if self.downsample is None else self.downsample(x)
        return (self.residual(x) + shortcut).relu()

    def shortcut(self, size: int, width: int, stride: int) -> nn.Module | None:
        """A 1x1 convolution where the shape changes."""
        if stride == 1 and size == width:
            return None
        return nn.Sequential(nn.Conv2d(size, width, 1, stride=stride, bias=False), nn.BatchNorm2d(width))


class BasicBlock(Residual):
    """Two 3x3 convolutions."""

    expansion = 1

    def __init__(self, size: int, width: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(size, width, 3, stride=stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.downsample = self.shortcut(size, width, stride)

    def residual(self, x: Tensor) -> Tensor:
        found: Tensor = self.bn2(self.conv2(self.bn1(self.conv1(x)).relu()))
        return found


class Bottleneck(Residual):
    """A 3x3 convolution between two of 1x1."""

    expansion = 4

    def __init__(self, size: int, width: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(size, width, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, stride=stride, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.conv3 = nn.Conv2d(width, 4 * width, 1, bias=False)
        self.bn3 = nn.BatchNorm2d(4 * width)
        self.downsample = self.shortcut(size, 4 * width, stride)

    def residual(self, x: Tensor) -> Tensor:
        narrow = self.bn2(self.conv2(self.bn1(self.conv1(x)).relu())).relu()
        found: Tensor = self.bn3(self.conv3(narrow))
        return found
