"""Classifiers of texts from the hub of Hugging Face, or from a folder in its format."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, cast

import torch
from torch import Tensor, nn

from rmix.datasets.base import Bundle
from rmix.errors import InvalidValueError, require
from rmix.models.base import ModelSpec, Network
from rmix.models.packages import needed
from rmix.models.split import split
from rmix.models.text import files_of
from rmix.models.tokens import Tokens, strings_of
from rmix.models.weights import same_weights

FETCHED = ("*.json", "*.txt", "*.safetensors")


@dataclass(frozen=True)
class HuggingFace(ModelSpec):
    """A classifier of texts that transformers knows: ``hf:NAME`` of the hub, or ``hf:FOLDER``.

    Args:
        network: its name on the hub, which is fetched once by huggingface_hub; or a folder in the same format.
        max_length: tokens of a text that are read.
        checksum: of the files that are read; filled in.
    """

    name: ClassVar[str] = "hf"
    after_colon: ClassVar[str] = "network"
    network: str = ""
    max_length: int = 300
    checksum: str = ""

    def __post_init__(self) -> None:
        require(self.max_length >= 3, f"max_length must be >= 3 tokens, got {self.max_length} ({self.name})")
        if self.network:
            found = same_weights(self.folder, self.checksum, f"hf:{self.network}", files_of(self.folder))
            object.__setattr__(self, "checksum", found)

    @property
    def folder(self) -> Path:
        """Where its files are."""
        require(bool(self.network), "Which network? Say: --model hf:NAME or --model hf:FOLDER.")
        if Path(self.network).is_dir():
            return Path(self.network)
        hub = needed(f"hf:{self.network}", "huggingface_hub", "text")
        try:
            return Path(hub.snapshot_download(self.network, allow_patterns=list(FETCHED)))
        except Exception as error:  # no such name, no network, no permission: many errors, all of which mean the same
            why = (str(error) or type(error).__name__).splitlines()[0]
            raise InvalidValueError(f"hf:{self.network} is no folder, and cannot be fetched ({why[:120]}).") from error

    def prepare(self, bundle: Bundle) -> Bundle:
        return bundle.with_inputs(
            lambda name, x: Tokens(strings_of(f"hf:{self.network}", x), self.folder, self.max_length)
        )

    def build(self, shape: tuple[int, ...], n_classes: int) -> nn.Module:
        transformers = needed(f"hf:{self.network}", "transformers", "text")
        model = transformers.AutoModelForSequenceClassification.from_pretrained(
            self.folder, num_labels=n_classes, ignore_mismatched_sizes=True
        )
        positions = getattr(model.config, "max_position_embeddings", self.max_length)
        require(
            self.max_length <= positions,
            f"max_length must be <= {positions}, the positions of hf:{self.network}, got {self.max_length}.",
        )
        found = cast(Network, split(OfTokens(model), torch.ones(2, 5, 2, dtype=torch.int64)))
        found.undecayed = tuple(name for name, p in found.named_parameters() if p.ndim == 1)
        return found


class OfTokens(nn.Module):
    """Tokens and mask (n, length, 2) to logits (n, n_classes)."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model = model

    def forward(self, x: Tensor) -> Tensor:
        tokens, mask = x.unbind(-1)
        logits: Tensor = self.model(input_ids=tokens, attention_mask=mask).logits
        return logits
