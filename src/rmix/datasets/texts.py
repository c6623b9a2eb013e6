"""Inputs that are texts, to be turned into numbers by a model or an encoder."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from functools import cached_property
from typing import NoReturn

import numpy as np
from torch import Tensor

from rmix.errors import DataError


class Texts:
    """The texts of a split, in order; a missing text is an empty one.

    Example:
        >>> texts = Texts(["good", "bad"])
        >>> len(texts), texts.strings[1]
        (2, 'bad')
    """

    def __init__(self, strings: Iterable[str]) -> None:
        self.strings = tuple(strings)

    def __len__(self) -> int:
        return len(self.strings)

    def __getitem__(self, rows: Tensor, /) -> NoReturn:
        raise DataError(
            f"{len(self)} texts must be turned into numbers before a model can take them; "
            "say --model distilbert, or --features minilm."
        )

    @cached_property
    def checksum(self) -> str:
        """A hash of every text."""
        lengths = np.fromiter(map(len, self.strings), np.int64, len(self))
        digest = hashlib.sha256(lengths.tobytes())
        digest.update("".join(self.strings).encode("utf-8", "surrogatepass"))
        return digest.hexdigest()[:16]
