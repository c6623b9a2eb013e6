"""Models with features and a head. One file and one line here to add one."""

from rmix.models.base import ModelSpec, Network
from rmix.models.densenet import DenseNet121
from rmix.models.efficientnet import EfficientNetLite0
from rmix.models.encoder import Encoder
from rmix.models.features import embed
from rmix.models.frozen_networks import FrozenDenseNet121, FrozenResNet18, FrozenResNet50
from rmix.models.hugging_face import HuggingFace
from rmix.models.minilm import MiniLM
from rmix.models.mlp import MLP
from rmix.models.own_module import OwnModule
from rmix.models.resnet import ResNet18, ResNet50
from rmix.models.small_cnn import SmallCNN
from rmix.models.text import DistilBERT, FrozenDistilBERT
from rmix.models.timm import Timm

MODELS: dict[str, type[ModelSpec]] = {
    cls.name: cls for cls in (DenseNet121, DistilBERT, HuggingFace, MLP, ResNet18, ResNet50, SmallCNN, Timm)
}
ENCODERS: dict[str, type[Encoder]] = {
    cls.name: cls
    for cls in (EfficientNetLite0, MiniLM, FrozenDenseNet121, FrozenDistilBERT, FrozenResNet18, FrozenResNet50)
}

__all__ = [
    "ENCODERS",
    "MLP",
    "MODELS",
    "DenseNet121",
    "DistilBERT",
    "EfficientNetLite0",
    "Encoder",
    "HuggingFace",
    "MiniLM",
    "ModelSpec",
    "Network",
    "OwnModule",
    "ResNet18",
    "ResNet50",
    "SmallCNN",
    "Timm",
    "embed",
]
