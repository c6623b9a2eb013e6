"""Texts as the token numbers that a pretrained network takes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from rmix.errors import DataError

TOKENISED = 4096  # texts at once
BATCH = 64  # texts embedded at once
TOKENIZER_FILES = ("tokenizer.json", "vocab.txt", "tokenizer_config.json")


def strings_of(what: str, x: Any) -> tuple[str, ...]:
    """The texts of a split, or a sentence that there are none."""
    strings = getattr(x, "strings", None)
    if strings is None:
        shape = f"numbers of shape {tuple(x.shape[1:])}" if isinstance(x, Tensor) else type(x).__name__
        raise DataError(f"{what} needs texts, got {shape}.")
    return tuple(strings)


class Tokens:
    """Texts as numbers: rows to (n, length, 2) int64 of tokens and mask, padded to the longest of the rows.

    Args:
        strings: the texts.
        folder: with ``tokenizer.json``, or ``vocab.txt`` of a BERT.
        max_length: tokens of a text that are read, the special ones included.
    """

    def __init__(self, strings: tuple[str, ...], folder: Path, max_length: int) -> None:
        self.strings, self.folder, self.max_length = strings, folder, max_length

    def __len__(self) -> int:
        return len(self.strings)

    def __getitem__(self, rows: Tensor, /) -> Tensor:
        lengths = self.lengths[rows.numpy()]
        x = torch.zeros(len(rows), int(lengths.max(initial=1)), 2, dtype=torch.int64)  # what is masked is not read
        for i, (row, length) in enumerate(zip(rows.tolist(), lengths.tolist(), strict=True)):
            start = self._starts[row]
            x[i, :length, 0] = torch.from_numpy(self._tokens[start : start + length])
            x[i, :length, 1] = 1
        return x

    @cached_property
    def lengths(self) -> np.ndarray:
        """Tokens of each text, (n,)."""
        return np.diff(self._starts)

    @cached_property
    def checksum(self) -> str:
        """A hash of the texts and of how they become numbers."""
        files = [self.folder / name for name in TOKENIZER_FILES]
        read = [hashlib.sha256(file.read_bytes()).hexdigest() for file in files if file.exists()]
        return hashlib.sha256(repr((self.strings, read, self.max_length)).encode()).hexdigest()[:16]

    @property
    def _tokens(self) -> np.ndarray:
        return self._read[0]

    @property
    def _starts(self) -> np.ndarray:
        return self._read[1]

    @cached_property
    def _read(self) -> tuple[np.ndarray, np.ndarray]:
        """All tokens one after the other, and where each text starts, (n + 1,): texts differ much in length."""
        tokenizer = make_tokenizer(self.folder)
        tokenizer.no_padding()
        tokenizer.enable_truncation(self.max_length)
        found: list[np.ndarray] = []
        for i in range(0, len(self), TOKENISED):
            chunk = tokenizer.encode_batch_fast(self.strings[i : i + TOKENISED])
            found += [np.array(each.ids, np.int32) for each in chunk]
        starts = np.cumsum([0, *map(len, found)])
        return np.concatenate([*found, np.empty(0, np.int32)]), starts


def make_tokenizer(folder: Path) -> Any:
    """The tokenizer of a folder, read from its files and from nowhere else."""
    from tokenizers import BertWordPieceTokenizer, Tokenizer

    if (folder / "tokenizer.json").exists():
        return Tokenizer.from_file(str(folder / "tokenizer.json"))
    if not (folder / "vocab.txt").exists():
        raise DataError(f"There is no tokenizer in {folder} (looked for tokenizer.json and vocab.txt).")
    settings = folder / "tokenizer_config.json"
    lower = json.loads(settings.read_text()).get("do_lower_case", True) if settings.exists() else True
    return BertWordPieceTokenizer(str(folder / "vocab.txt"), lowercase=lower)._tokenizer


def of_like_length(tokens: Tokens, rows: Tensor, size: int = BATCH) -> Sequence[Tensor]:
    """Rows in batches of texts of like length, so that little is padded."""
    return torch.split(rows[torch.from_numpy(tokens.lengths)[rows].argsort()], size)
