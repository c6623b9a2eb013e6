"""Models with features and a head. One file and one line here to add one."""

from rmix.models.base import ModelSpec, Network
from rmix.models.efficientnet import EfficientNetLite0
from rmix.models.encoder import Encoder
from rmix.models.features import embed
from rmix.models.minilm import MiniLM
from rmix.models.mlp import MLP
from rmix.models.small_cnn import SmallCNN

MODELS: dict[str, type[ModelSpec]] = {cls.name: cls for cls in (MLP, SmallCNN)}
ENCODERS: dict[str, type[Encoder]] = {cls.name: cls for cls in (EfficientNetLite0, MiniLM)}

__all__ = [
    "ENCODERS",
    "MLP",
    "MODELS",
    "EfficientNetLite0",
    "Encoder",
    "MiniLM",
    "ModelSpec",
    "Network",
    "SmallCNN",
    "embed",
]
