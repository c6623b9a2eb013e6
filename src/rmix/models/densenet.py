"""DenseNet-121, of which published ImageNet files load."""

from __future__ import annotations

import re
from collections import OrderedDict
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn

from rmix.models.base import Network
from rmix.models.image_network import ImageNetwork

GROWTH = 32  # channels that a layer adds
NARROW = 4 * GROWTH  # channels between the two convolutions of a layer
BLOCKS = (6, 12, 24, 16)
OLD_NAME = re.compile(r"(\.denselayer\d+\.(?:norm|conv))\.([12]\.)")  # of files from before 2018: norm.1 is norm1


@dataclass(frozen=True)
class DenseNet121(ImageNetwork):
    """DenseNet-121.

    Args:
        weights: file of a published state dict (torchvision's names, the old ones too), in the format of torch or
            safetensors; its last layer is replaced where the number of classes differs. None = random initial weights.
        checksum: of the weights; filled in.
    """

    name: ClassVar[str] = "densenet121"
    fan = "fan_in"

    def network(self, n_classes: int) -> Network:
        layers: OrderedDict[str, nn.Module] = OrderedDict(
            conv0=nn.Conv2d(3, 64, 7, stride=2, padding=3, bias=False),
            norm0=nn.BatchNorm2d(64),
            relu0=nn.ReLU(inplace=True),
            pool0=nn.MaxPool2d(3, stride=2, padding=1),
        )
        size, mix_points = 64, [0]
        for i, count in enumerate(BLOCKS, 1):
            names = (f"denselayer{j + 1}" for j in range(count))
            dense = (DenseLayer(size + j * GROWTH) for j in range(count))
            layers[f"denseblock{i}"] = nn.Sequential(OrderedDict(zip(names, dense, strict=True)))
            size += count * GROWTH
            if i < len(BLOCKS):
                layers[f"transition{i}"] = transition(size)
                size //= 2
                mix_points.append(len(layers))
        layers["norm5"] = nn.BatchNorm2d(size)
        layers |= {"relu5": nn.ReLU(inplace=True), "pool5": nn.AdaptiveAvgPool2d(1), "flatten": nn.Flatten()}
        last = ("features.denseblock4.", "head.")
        return Network(nn.Sequential(layers), nn.Linear(size, n_classes), (*mix_points, len(layers)), last)

    def published_name(self, name: str) -> str:
        return name.replace("head.", "classifier.")

    def our_name(self, name: str) -> str:
        return OLD_NAME.sub(r"\1\2", name).replace("classifier.", "head.")


class DenseLayer(nn.Module):
    """Adds channels made of all before it."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.norm1 = nn.BatchNorm2d(size)
        self.conv1 = nn.Conv2d(size, NARROW, 1, bias=False)
        self.norm2 = nn.BatchNorm2d(NARROW)
        self.conv2 = nn.Conv2d(NARROW, GROWTH, 3, padding=1, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        narrow = self.conv1(self.norm1(x).relu())
        return torch.cat([x, self.conv2(self.norm2(narrow).relu())], dim=1)


def transition(size: int) -> nn.Sequential:
    """Half the channels and half the side."""
    parts: list[tuple[str, nn.Module]] = [
        ("norm", nn.BatchNorm2d(size)),
        ("relu", nn.ReLU(inplace=True)),
        ("conv", nn.Conv2d(size, size // 2, 1, bias=False)),
        ("pool", nn.AvgPool2d(2)),
    ]
    return nn.Sequential(OrderedDict(parts))
