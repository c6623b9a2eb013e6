"""Texts as the token numbers that a pretrained network takes."""

from __future__ import annotations

import hashlib
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from rmix.errors import DataError


def strings_of(what: str, x: Any) -> tuple[str, ...]:
    """The texts of a split, or a sentence that there are none."""
    strings = getattr(x, "strings", None)
    if strings is None:
        shape = f"numbers of shape {tuple(x.shape[1:])}" if isinstance(x, Tensor) else type(x).__name__
        raise DataError(f"{what} needs texts, got {shape}.")
    return tuple(strings)


class Tokenized:
    """Texts, tokenised when they are read: rows to (n, length, 2) int64 of token numbers and mask.

    Args:
        strings: the texts.
        tokenizer: file ``tokenizer.json``.
        max_length: tokens of a text that are read, the special ones included.
    """

    def __init__(self, strings: tuple[str, ...], tokenizer: Path, max_length: int) -> None:
        self.strings, self.tokenizer, self.max_length = strings, tokenizer, max_length

    def __len__(self) -> int:
        return len(self.strings)

    @cached_property
    def _tokenizer(self) -> Any:
        from tokenizers import Tokenizer

        found = Tokenizer.from_file(str(self.tokenizer))
        found.enable_truncation(self.max_length)
        found.enable_padding()
        return found

    def __getitem__(self, rows: Tensor, /) -> Tensor:
        found = self._tokenizer.encode_batch([self.strings[row] for row in rows.tolist()])
        return torch.tensor([[e.ids, e.attention_mask] for e in found]).transpose(1, 2)

    @cached_property
    def checksum(self) -> str:
        """A hash of the texts and of how they are read; the tokenizer is part of the encoder's weights."""
        return hashlib.sha256(repr((self.strings, self.max_length)).encode()).hexdigest()[:16]
