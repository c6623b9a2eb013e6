"""What a model is: features, then a head."""

from __future__ import annotations

from typing import ClassVar

from torch import Tensor, nn

from rmix.datasets.base import Bundle


class Network(nn.Module):
    """Features, then a head; ``mix_points`` are the depths of ``features`` at which it may be mixed."""

    def __init__(self, features: nn.Sequential, head: nn.Module, mix_points: tuple[int, ...]) -> None:
        super().__init__()
        self.features = features
        self.head = head
        self.mix_points = mix_points

    def forward(self, x: Tensor) -> Tensor:
        logits: Tensor = self.head(self.features(x))
        return logits


class ModelSpec:
    """What a model is built from; subclasses are frozen dataclasses of sizes."""

    name: ClassVar[str]

    def prepare(self, bundle: Bundle) -> Bundle:
        """The data as this model takes them; a model of texts tokenises here."""
        return bundle

    def build(self, shape: tuple[int, ...], n_classes: int) -> nn.Module:
        """A fresh model for inputs of ``shape``; initial weights come from torch's generator."""
        raise NotImplementedError
