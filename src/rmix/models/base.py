"""What a model is: features, then a head."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import torch
from torch import Tensor, nn

from rmix.datasets.base import Bundle


class Network(nn.Module):
    """Features, then a head.

    Args:
        features: layers that give (n, d) or more dimensions.
        head: of features to logits.
        mix_points: depths of ``features`` at which it may be mixed, where these are an nn.Sequential.
        last: prefixes of the names of the last layers' parameters, for methods that look at these alone; () = all.
    """

    def __init__(
        self, features: nn.Module, head: nn.Module, mix_points: tuple[int, ...], last: tuple[str, ...] = ()
    ) -> None:
        super().__init__()
        self.features = features
        self.head = head
        self.mix_points = mix_points
        self.last = last
        self.undecayed: tuple[str, ...] = ()  # names of parameters without weight decay

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

    def restored(self, shape: tuple[int, ...], n_classes: int, state: Mapping[str, Tensor]) -> nn.Module:
        """The model with trained weights."""
        model = self.build(shape, n_classes)
        model.load_state_dict(state)
        return model


def in_float32(bundle: Bundle) -> Bundle:
    """The data in the precision of the weights; NumPy makes float64 of everything."""
    if isinstance(bundle.train.x, Tensor) and bundle.train.x.dtype == torch.float64:
        return bundle.with_inputs(lambda split, x: x.float())
    return bundle
