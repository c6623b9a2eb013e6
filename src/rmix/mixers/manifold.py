"""Manifold mixup: mix hidden features instead of inputs (Verma et al., 2019)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Literal

import numpy as np
from torch import nn

from rmix.batch import Batch, Groups, Mixed
from rmix.errors import InvalidValueError, require
from rmix.mixers.mixup import Mixup
from rmix.recipe import Forward, Mixer

LAYERS = ("penultimate", "random")


def cut_model(model: nn.Module, depth: int | None) -> tuple[Forward, Forward]:
    """The model before and after ``depth`` layers of its features; None = all of them."""
    features, head = getattr(model, "features", None), getattr(model, "head", None)
    if not isinstance(features, nn.Module) or not isinstance(head, nn.Module):
        raise InvalidValueError(
            f"Manifold mixup needs a model with modules `features` and `head`, got {type(model).__name__}."
        )
    if depth is None:
        return features, head
    assert isinstance(features, nn.Sequential)  # only such models offer depths
    return features[:depth], nn.Sequential(features[depth:], head)


@dataclass(frozen=True)
class Manifold(Mixer):
    """Run ``mixer`` on hidden features.

    Args:
        mixer: what is done to the features.
        layer: "penultimate" (what the published code does: the input of the head), or "random": a
            depth among those the model offers in ``mix_points``, drawn for each batch.
    """

    mixer: Mixer = field(default_factory=Mixup)
    layer: Literal["penultimate", "random"] = "penultimate"
    name: ClassVar[str] = "manifold"

    def __post_init__(self) -> None:
        require(self.layer in LAYERS, f"layer must be one of {LAYERS}, got {self.layer!r} (Manifold)")

    @property
    def groups(self) -> Groups:
        """What the wrapped mixer sees."""
        return self.mixer.groups

    def where(self, model: nn.Module, rng: np.random.Generator) -> tuple[Forward, Forward]:
        if self.layer == "penultimate":
            return cut_model(model, None)
        points: tuple[int, ...] = getattr(model, "mix_points", ())
        if not points:
            raise InvalidValueError(
                f"layer='random' needs a model with `mix_points`, the depths of its features at which "
                f"it may be mixed; {type(model).__name__} has none. Use layer='penultimate'."
            )
        return cut_model(model, int(rng.choice(points)))

    def __call__(self, batch: Batch, rng: np.random.Generator) -> Mixed:
        return self.mixer(batch, rng)
