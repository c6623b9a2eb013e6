"""The networks of images of the package timm."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import nn

from rmix.errors import InvalidValueError, require, suggestion
from rmix.models.base import ModelSpec
from rmix.models.packages import needed
from rmix.models.split import split


@dataclass(frozen=True)
class Timm(ModelSpec):
    """A network of images of the package timm: ``timm:convnext_tiny``.

    Args:
        network: its name there.
        pretrained: start from the weights that timm fetches under this name, instead of random ones.
    """

    name: ClassVar[str] = "timm"
    after_colon: ClassVar[str] = "network"
    network: str = ""
    pretrained: bool = False

    def build(self, shape: tuple[int, ...], n_classes: int) -> nn.Module:
        require(bool(self.network), "Which network of timm? Say: --model timm:NAME.")
        require(len(shape) == 3, f"timm:{self.network} needs images (channels, height, width), got {shape}.")
        timm = needed(f"timm:{self.network}", "timm", extra="")
        if not timm.is_model(self.network):
            raise InvalidValueError(
                f"timm has no network {self.network!r}.{suggestion(self.network, timm.list_models())}"
            )
        model = timm.create_model(self.network, pretrained=self.pretrained, num_classes=n_classes, in_chans=shape[0])
        return split(model, torch.linspace(-1, 1, 2 * torch.Size(shape).numel()).view(2, *shape))
