"""Models with features and a head. One file and one line here to add one."""

from rmix.models.base import ModelSpec, Network
from rmix.models.mlp import MLP
from rmix.models.small_cnn import SmallCNN

MODELS: dict[str, type[ModelSpec]] = {cls.name: cls for cls in (MLP, SmallCNN)}

__all__ = ["MLP", "MODELS", "ModelSpec", "Network", "SmallCNN"]
