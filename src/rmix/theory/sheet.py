"""A named table of numbers: what the command prints, writes and draws from."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Sheet:
    """Rows of one kind.

    Args:
        name: short and unique; of the file.
        title: what is shown.
        note: how to read it, with samples and seeds.
        naming: how many of the first columns say what a row is about; the others are about it.
        rows: instances of one dataclass, whose fields are the columns.
    """

    name: str
    title: str
    note: str
    naming: int
    rows: Sequence[Any]

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        return [f.name for f in fields(self.rows[0])]

    def column(self, name: str) -> list[Any]:
        """The values of one column."""
        return [getattr(row, name) for row in self.rows]

    def write(self, folder: Path) -> Path:
        """The table as a CSV file in ``folder``."""
        path = folder / f"{self.name}.csv"
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(self.columns)
            writer.writerows([getattr(row, name) for name in self.columns] for row in self.rows)
        return path
