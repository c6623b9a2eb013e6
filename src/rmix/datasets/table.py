"""Your own table: numbers and categories become inputs."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor

from rmix.datasets.csv_file import missing_column
from rmix.datasets.own_file import A_FEW, OwnFile, Piece, Pieces, as_number, in_order
from rmix.errors import DataError, require

log = logging.getLogger(__name__)
MOSTLY = 0.9  # share of numbers from which on a column is one of numbers
Encode = Callable[[Piece], np.ndarray]  # -> (n, k)


@dataclass(frozen=True)
class Table(OwnFile):
    """Your own table: a CSV or Parquet file with a label column, and group columns where you have them.

    Task: to tell the values of the label column apart.
    Groups: The combinations of the group columns that occur; the label may be one of them. None without --group.
    Sizes: Yours. Splits come from a column, from files of their own, or are dealt by label x group with a seed.
    Source: A file of yours: comma-separated UTF-8 with a header (.gz too), or Parquet where pyarrow is installed.
    Licence: Yours.

    All other columns are inputs. A column of numbers is standardised, with a second input that says where a
    value is missing; any other becomes one input for each of its categories. Where nine tenths of the
    training values are numbers all must be, since the others are slips more often than categories.
    Everything is fitted on the training rows alone: a category they lack is all zeros.

    Args:
        drop: columns that are no inputs.
        numeric: columns that must be numbers.
        categorical: columns of numbers that are names of categories.
        most_categories: the commonest categories of a column that become inputs; the rest are all zeros.
        group_inputs: group columns are inputs too; every method then sees in the inputs what it may not be told.
    """

    name: ClassVar[str] = "table"
    model: ClassVar[str] = "mlp"
    drop: tuple[str, ...] = ()
    numeric: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()
    most_categories: int = 50
    group_inputs: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self.most_categories >= 1, f"most_categories must be >= 1, got {self.most_categories}")
        both = sorted(set(self.numeric) & set(self.categorical))
        require(not both, f"column {both[:1]} cannot be numeric and categorical")

    def inputs(self, pieces: Pieces) -> Mapping[str, Tensor]:
        """The encoded columns of each split, (n, k) float32."""
        encoders = [encode for name in self._names(pieces["train"]) for encode in self._fitted(pieces["train"], name)]
        path = pieces["train"].columns.path
        if not encoders:
            raise DataError(f"{path}: no column is left for the inputs, or none of them varies.")
        x = {
            name: torch.from_numpy(np.hstack([encode(piece) for encode in encoders]).astype(np.float32))
            for name, piece in pieces.items()
        }
        numeric = sum(isinstance(encode, Number) for encode in encoders)
        log.info(
            "%s: %d columns of numbers and %d of categories make %d inputs.",
            path,
            numeric,
            len(encoders) - numeric,
            x["train"].shape[1],
        )
        return x

    def _names(self, train: Piece) -> list[str]:
        there = train.columns.strings
        for name in (*self.drop, *self.numeric, *self.categorical):
            if name not in there:
                raise missing_column(train.columns.path, name, there)
        kept_out = {self.label, self.split, self.id, *self.drop, *(() if self.group_inputs else self.group)}
        return [name for name in there if name not in kept_out]

    def _fitted(self, train: Piece, name: str) -> list[Encode]:
        """How a column is encoded; nothing where it is the same in every training row."""
        values = train[name]
        present = [value for value in values if value]
        if len(set(values)) < 2:
            return []
        if name in self.numeric or (name not in self.categorical and _of_numbers(present)):
            return [Number.fit(train, name, missing=len(present) < len(values))]
        _check_categories(train, name, len(set(present)))
        common = [value for value, _ in Counter(sorted(values)).most_common(self.most_categories)]
        return [Category(name, tuple(sorted(common, key=in_order)))]


def _of_numbers(present: list[str]) -> bool:
    number = {value: as_number(value) is not None for value in set(present)}
    return bool(present) and sum(map(number.__getitem__, present)) >= MOSTLY * len(present)


def _check_categories(train: Piece, name: str, distinct: int) -> None:
    if distinct > max(A_FEW, len(train) // 2):
        raise DataError(
            f"{train.columns.path}: column {name!r} has {distinct} distinct values in {len(train)} training rows, "
            f"so it tells rows apart rather than classes; leave it out with --drop {name}, or make it numbers."
        )


@dataclass(frozen=True)
class Number:
    """A column of numbers, standardised; a missing one is the mean, and said to be missing."""

    name: str
    mean: float
    scale: float
    missing: bool  # some training row lacks it

    @classmethod
    def fit(cls, train: Piece, name: str, *, missing: bool) -> Number:
        """Mean and deviation of the training rows that have it."""
        value = numbers(train, name)
        return cls(name, float(np.nanmean(value)), float(np.nanstd(value)) or 1.0, missing)

    def __call__(self, piece: Piece) -> np.ndarray:
        value = numbers(piece, self.name)
        absent = np.isnan(value)
        scaled = np.where(absent, 0.0, (value - self.mean) / self.scale)
        return np.stack([scaled, absent], axis=1) if self.missing else scaled[:, None]


@dataclass(frozen=True)
class Category:
    """A column of categories: one input for each that training has, a missing value being one."""

    name: str
    categories: tuple[str, ...]

    def __call__(self, piece: Piece) -> np.ndarray:
        place = {value: k for k, value in enumerate(self.categories)}
        code = np.array([place.get(value, -1) for value in piece[self.name]])
        found: np.ndarray = code[:, None] == np.arange(len(place))
        return found


def numbers(piece: Piece, name: str) -> np.ndarray:
    """A column as numbers, nan where missing."""
    column = piece[name]
    known = {value: as_number(value) if value else np.nan for value in set(column)}
    for row, value in enumerate(column):
        if known[value] is None:
            why = f"column {name!r} must be a number, got {value!r}; or say --categorical {name}."
            raise piece.refused(row, why)
    return np.array([known[value] for value in column], dtype=np.float64)
