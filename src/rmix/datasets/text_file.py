"""Your own texts: a column of a CSV file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from rmix.datasets.own_file import OwnFile, Pieces
from rmix.datasets.texts import Texts


@dataclass(frozen=True)
class TextFile(OwnFile):
    """Your own texts: a CSV or Parquet file with a column of texts, a label, and groups where you have them.

    Task: to tell the values of the label column apart, from a text.
    Groups: The combinations of the group columns that occur; the label may be one of them. None without --group.
    Sizes: Yours. Splits come from a column, from files of their own, or are dealt by label x group with a seed.
    Source: A file of yours: comma-separated UTF-8 with a header (.gz too), or Parquet where pyarrow is installed.
    Licence: Yours.

    Args:
        text: column of the texts.
    """

    name: ClassVar[str] = "text"
    model: ClassVar[str] = "distilbert"
    text: str = "text"

    def inputs(self, pieces: Pieces) -> Mapping[str, Texts]:
        """The texts of each split, as they stand in the file."""
        return {
            name: Texts(map(piece.columns[self.text].__getitem__, piece.rows.tolist()))
            for name, piece in pieces.items()
        }
