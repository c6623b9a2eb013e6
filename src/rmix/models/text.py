"""DistilBERT for texts, from a local folder, through transformers."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Literal

from torch import Tensor, nn

from rmix.datasets.base import Bundle
from rmix.errors import DataError, InvalidValueError, require
from rmix.models.base import Network
from rmix.models.encoder import Encoder
from rmix.models.packages import needed
from rmix.models.published import Published
from rmix.models.tokens import TOKENIZER_FILES, Tokens, make_tokenizer, of_like_length, strings_of
from rmix.models.weights import read_weights, same_weights

WEIGHTS = ("model.safetensors", "pytorch_model.bin")
ENCODER = "features.pooled.model."
OF_PRETRAINING = ("vocab_transform.", "vocab_layer_norm.", "vocab_projector.")  # of no use in a classifier


@dataclass(frozen=True)
class DistilBERT(Published):
    """DistilBERT of a local folder as its authors publish it: config.json, weights and vocabulary.

    Args:
        folder: the folder; not part of what a run is known by, which its checksum is.
        max_length: tokens of a text that are read.
        head: pre_classifier (a hidden layer with ReLU and dropout, as in transformers) or linear.
        checksum: of the files of the folder that are read; filled in.
    """

    name: ClassVar[str] = "distilbert"
    fresh = ("head.", "features.pre_classifier.")
    folder: str | None = field(default=None, compare=False, metadata={"plain": False})
    max_length: int = 300
    head: Literal["pre_classifier", "linear"] = "pre_classifier"
    checksum: str = ""

    def __post_init__(self) -> None:
        require(3 <= self.max_length <= 512, f"max_length must be 3 to 512 tokens, got {self.max_length} ({self.name})")
        if self.folder is not None:
            found = same_weights(self.path, self.checksum, self.name, files_of(self.path))
            object.__setattr__(self, "checksum", found)

    @property
    def path(self) -> Path:
        """The folder, or a sentence that it must be said."""
        if self.folder is None:
            which = f" (checksum {self.checksum})" if self.checksum else ""
            raise InvalidValueError(
                f"distilbert is read from a local folder{which}: --model.folder DIR, with config.json, "
                "model.safetensors or pytorch_model.bin, and tokenizer.json or vocab.txt."
            )
        return Path(self.folder)

    def prepare(self, bundle: Bundle) -> Bundle:
        words = make_tokenizer(self.path).get_vocab_size()
        known = json.loads((self.path / "config.json").read_text()).get("vocab_size", words)
        require(words <= known, f"The tokenizer in {self.folder} has {words} words, but the model knows {known}.")
        return bundle.with_inputs(lambda name, x: Tokens(strings_of(self.name, x), self.path, self.max_length))

    def build(self, shape: tuple[int, ...], n_classes: int) -> Network:
        model = self.network(n_classes)
        weights = next(self.path / name for name in WEIGHTS if (self.path / name).exists())
        unread = OF_PRETRAINING if self.head == "pre_classifier" else (*OF_PRETRAINING, "pre_classifier.")
        state = {name: value for name, value in read_weights(weights).items() if not name.startswith(unread)}
        self.load_published(model, {k: v for k, v in state.items() if not k.endswith("position_ids")}, str(weights))
        return model

    def network(self, n_classes: int) -> Network:
        """The layers, with initial weights."""
        transformers = needed(self.name, "transformers", "text")
        config = transformers.DistilBertConfig.from_dict(json.loads((self.path / "config.json").read_text()))
        require(
            self.max_length <= config.max_position_embeddings,
            f"max_length must be <= {config.max_position_embeddings}, the positions of {self.folder}, "
            f"got {self.max_length}.",
        )
        layers: OrderedDict[str, nn.Module] = OrderedDict(pooled=FirstToken(transformers.DistilBertModel(config)))
        if self.head == "pre_classifier":
            layers |= {
                "pre_classifier": nn.Linear(config.dim, config.dim),
                "relu": nn.ReLU(),
                "dropout": nn.Dropout(config.seq_classif_dropout),
            }
        head = nn.Linear(config.dim, n_classes)
        blocks = range(config.n_layers)[-2:]
        last = (*(f"{ENCODER}transformer.layer.{i}." for i in blocks), "features.pre_classifier.", "head.")
        model = Network(nn.Sequential(layers), head, tuple(sorted({1, len(layers)})), last)
        model.undecayed = tuple(name for name, p in model.named_parameters() if p.ndim == 1)
        return model

    def published_name(self, name: str) -> str:
        name = name.replace(ENCODER, "distilbert.").removeprefix("features.")
        return name.replace("head.", "classifier.")

    def our_name(self, name: str) -> str:
        if name.startswith("classifier."):
            return name.replace("classifier.", "head.")
        return f"features.{name}" if name.startswith("pre_classifier.") else ENCODER + name.removeprefix("distilbert.")


class FirstToken(nn.Module):
    """Tokens and mask (n, length, 2) to what the network makes of the first token, (n, dim)."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model = model

    def forward(self, x: Tensor) -> Tensor:
        tokens, mask = x.unbind(-1)
        hidden: Tensor = self.model(input_ids=tokens, attention_mask=mask).last_hidden_state
        return hidden[:, 0]


@dataclass(frozen=True)
class FrozenDistilBERT(Encoder):
    """What DistilBERT of a local folder makes of the first token of a text: 768 features.

    Args:
        folder: the folder, with config.json, weights and vocabulary.
        max_length: tokens of a text that are read.
        checksum: of the files of the folder that are read; filled in.
    """

    name: ClassVar[str] = "distilbert"
    folder: str | None = field(default=None, compare=False, metadata={"plain": False})
    max_length: int = 300
    checksum: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "checksum", self._spec.checksum)

    @property
    def _spec(self) -> DistilBERT:
        return DistilBERT(self.folder, self.max_length, "linear", self.checksum)

    def view(self, x: Any) -> Tokens:
        return Tokens(strings_of(self.name, x), self._spec.path, self.max_length)

    def network(self) -> nn.Module:
        return self._spec.build((), 2).features.eval()

    def batches(self, view: Tokens, rows: Tensor) -> Sequence[Tensor]:
        return of_like_length(view, rows)


def files_of(folder: Path) -> list[str]:
    """The files of the folder that a model is read from."""
    weights = next((name for name in WEIGHTS if (folder / name).exists()), WEIGHTS[0])
    for name in ("config.json", weights):
        if not (folder / name).exists():
            raise DataError(f"{folder} is no folder of a model: there is no {name}.")
    return [name for name in (*TOKENIZER_FILES, "config.json", weights) if (folder / name).exists()]
