"""Your own data in a file: label, groups and splits are columns that you name."""

from __future__ import annotations

import logging
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from rmix.datasets.base import Bundle, DataSet, Split
from rmix.datasets.csv_file import Columns, check_unique, read_csv
from rmix.datasets.parquet_file import read_parquet
from rmix.errors import DataError, require
from rmix.streams import stream

log = logging.getLogger(__name__)
SPLITS = ("train", "valid", "test")
SPELLINGS = {  # what may stand in a split column, in any case; the numbers are those of published metadata
    **dict.fromkeys(("train", "training", "0"), "train"),
    **dict.fromkeys(("valid", "val", "validation", "dev", "1"), "valid"),
    **dict.fromkeys(("test", "testing", "2"), "test"),
}
MOST_GROUPS = 1000
A_FEW = 20  # distinct values that need no second look


@dataclass(frozen=True, eq=False)
class Piece:
    """The rows of one split, in a file.

    ``piece["sex"]`` are their values without blanks around them, empty where missing.
    """

    columns: Columns
    rows: np.ndarray  # (n,) int64, of the file
    missing: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, name: str) -> list[str]:
        column = self.columns[name]
        tidy = {text: "" if text.strip() in self.missing else text.strip() for text in set(column)}
        return [tidy[column[row]] for row in self.rows.tolist()]

    def only(self, chosen: np.ndarray) -> Piece:
        """Some of its rows."""
        return Piece(self.columns, self.rows[chosen], self.missing)

    def refused(self, row: int, why: str) -> DataError:
        """The error that says why a row of this piece cannot be used."""
        return self.columns.refused(int(self.rows[row]), why)


Pieces = Mapping[str, Piece]


@dataclass(frozen=True)
class OwnFile(DataSet):
    """A file whose columns are named by the user; subclasses say what the inputs are.

    Args:
        file: the table; or its training rows, where other splits have files of their own.
        label: column of the class.
        group: columns whose combinations are the groups.
        split: column that says train, valid or test.
        valid_file: the validation rows, in a file of the same columns.
        test_file: the test rows, likewise.
        shares: shares of the rows dealt to validation and to test, where neither column nor file says.
        missing: what stands for a missing value, besides nothing at all.
        unseen_groups: allow groups in validation or test that training has no row of.
        id: column in which no value may stand twice, in one file or in two.
        seed: of the dealing.
    """

    file: str = ""
    label: str = ""
    group: tuple[str, ...] = ()
    split: str = ""
    valid_file: str = ""
    test_file: str = ""
    shares: tuple[float, float] = (0.2, 0.2)
    missing: tuple[str, ...] = ("", "?", "NA", "N/A", "NaN", "nan", "null")
    unseen_groups: bool = False
    id: str = ""
    seed: int = 0

    def __post_init__(self) -> None:
        require(
            len(self.shares) == 2 and min(self.shares) > 0 and sum(self.shares) < 1,
            f"shares must be two numbers > 0 (validation, test) that leave rows for training, got {self.shares}",
        )

    @property
    def selection(self) -> str:
        return "worst_group" if self.group else "average"

    def inputs(self, pieces: Pieces) -> Mapping[str, Any]:
        """The inputs of each split; what is fitted is fitted on training."""
        raise NotImplementedError

    def read(self, path: str) -> Columns:
        """All columns of one of its files."""
        return read_columns(path)

    def load(self) -> Bundle:
        for option, value in (("file", self.file), ("label", self.label)):
            require(bool(value), f"Data set {self.name!r} needs --{option}: rmix train {self.name} METHOD --{option} …")
        pieces = self._pieces()
        class_names, y = labels_of(pieces, self.label)
        group_names, group = groups_of(pieces, self.group)
        x = self.inputs(pieces)
        train, valid, test = (Split(x[name], y[name], group[name]) for name in SPLITS)
        return Bundle(self.name, train, valid, test, class_names, group_names, self.unseen_groups)

    def _pieces(self) -> dict[str, Piece]:
        paths = {"train": self.file, "valid": self.valid_file, "test": self.test_file}
        read = {path: self.read(path) for path in dict.fromkeys(paths.values()) if path}
        if self.id:
            check_unique(self.id, *read.values())
        whole = {name: self._whole(read[path]) for name, path in paths.items() if path}
        self._check_columns(whole)
        if self.split:
            require(len(whole) == 1, "Say either --split COLUMN or files of their own for the splits, not both.")
            whole = by_column(whole["train"], self.split)
        return self._with_dealt(whole)

    def _whole(self, columns: Columns) -> Piece:
        return Piece(columns, np.arange(len(columns)), ("", *self.missing))

    def _check_columns(self, files: Pieces) -> None:
        groups = {name for name in self.group if name != self.label}
        known = any(groups <= piece.columns.strings.keys() for piece in files.values())
        for piece in files.values():
            without = known and not groups & piece.columns.strings.keys()  # no group is known here, but elsewhere
            for name in (self.label, *(() if without else self.group)):
                piece.columns[name]  # or it says what is missing

    def _with_dealt(self, pieces: dict[str, Piece]) -> dict[str, Piece]:
        """Validation and test, where there is none, dealt from the training rows."""
        shares = {name: share for name, share in zip(("valid", "test"), self.shares, strict=True) if name not in pieces}
        if not shares:
            return pieces
        train = pieces["train"]
        known = [name for name in dict.fromkeys((self.label, *self.group)) if name in train.columns.strings]
        cells = list(zip(*(train[name] for name in known), strict=True))
        dealt = deal(cells, shares, stream(self.seed, self.name, "deal"))
        log.info(
            "%s: %s, dealt from the rows of %s (seed %d).",
            train.columns.path,
            ", ".join(f"{len(rows)} rows for {name}" for name, rows in dealt.items()),
            " × ".join(known),
            self.seed,
        )
        return {**pieces, **{name: train.only(rows) for name, rows in dealt.items()}}


def read_columns(path: str | Path) -> Columns:
    """All columns of a CSV file (``.gz`` too), or of a Parquet file."""
    return read_parquet(path) if Path(path).suffix in (".parquet", ".pq") else read_csv(path)


def by_column(whole: Piece, column: str) -> dict[str, Piece]:
    """The splits that a column names; those without a row are left out."""
    values = [SPELLINGS.get(value.lower(), value) for value in whole[column]]
    for row, value in enumerate(values):
        if value not in SPLITS:
            why = f"column {column!r} must be train, valid (or val, validation, dev) or test, got {value!r}."
            raise whole.refused(row, why)
    found = np.array(values)
    if "train" not in values:
        raise DataError(f"{whole.columns.path}: no row is for training; column {column!r} never says train.")
    return {name: whole.only(np.flatnonzero(found == name)) for name in SPLITS if name in set(values)}


def deal(cells: Sequence[Hashable], shares: Mapping[str, float], rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Rows of each split: its share of every cell, rounded; training keeps the rest, and one row at least.

    A cell of three rows has one in each split; of two, the second is for test.

    Example:
        >>> rows = deal([0] * 8 + [1], {"valid": 0.25, "test": 0.25}, np.random.default_rng(0))
        >>> {name: len(chosen) for name, chosen in rows.items()}
        {'train': 5, 'valid': 2, 'test': 2}
    """
    split = np.full(len(cells), "train")
    place: dict[Hashable, list[int]] = {}
    for row, cell in enumerate(cells):
        place.setdefault(cell, []).append(row)
    for rows in place.values():
        left = rng.permutation(rows)
        for name in reversed(list(shares)):
            count = min(max(1, int(len(rows) * shares[name] + 0.5)), len(left) - 1)
            split[left[:count]] = name
            left = left[count:]
    return {name: np.flatnonzero(split == name) for name in ("train", *shares)}


def labels_of(pieces: Pieces, label: str) -> tuple[tuple[str, ...], dict[str, Tensor]]:
    """Names of the classes, in order, and the class of each row."""
    values = {name: piece[label] for name, piece in pieces.items()}
    known = set(values["train"])
    for name, piece in pieces.items():
        for row in (i for i, value in enumerate(values[name]) if not value or value not in known):
            if not values[name][row]:
                raise piece.refused(row, f"the label {label!r} is missing.")
            some = ", ".join(sorted(known, key=in_order)[:A_FEW])
            raise piece.refused(row, f"label {values[name][row]!r} never stands in training, which has {some}.")
    path, n = pieces["train"].columns.path, len(pieces["train"])
    if len(known) < 2:
        raise DataError(f"{path}: every training row has label {known.pop()!r}, so there is nothing to learn.")
    if len(known) > max(A_FEW, n // 2):
        raise DataError(f"{path}: column {label!r} has {len(known)} distinct values in {n} rows; a label is a class.")
    names = tuple(sorted(known, key=in_order))
    code = {value: y for y, value in enumerate(names)}
    return names, {name: torch.tensor([code[value] for value in column]) for name, column in values.items()}


def groups_of(pieces: Pieces, columns: Sequence[str]) -> tuple[tuple[str, ...], dict[str, Tensor | None]]:
    """Names of the groups (the combinations that some row has) and the group of each row.

    A row in which one of the columns is missing is in no group; a split without any value has no groups.
    """
    rows = {
        name: list(zip(*(piece[column] for column in columns), strict=True)) if _has(piece, columns) else []
        for name, piece in pieces.items()
    }
    found = {row for of_split in rows.values() for row in of_split if all(row)}
    if len(found) > MOST_GROUPS:
        raise DataError(
            f"{pieces['train'].columns.path}: columns {', '.join(columns)} make {len(found)} groups, more than "
            f"{MOST_GROUPS}; put their values into a few classes first."
        )
    ordered = sorted(found, key=lambda row: [in_order(value) for value in row])
    code = {row: g for g, row in enumerate(ordered)}
    coded = {name: [code.get(row, -1) for row in of_split] for name, of_split in rows.items()}
    return (
        tuple(", ".join(map(group_name, columns, row)) for row in ordered),
        {name: torch.tensor(group) if max(group, default=-1) >= 0 else None for name, group in coded.items()},
    )


def _has(piece: Piece, columns: Sequence[str]) -> bool:
    return bool(columns) and all(column in piece.columns.strings for column in columns)


def group_name(column: str, value: str) -> str:
    """How a value is written in the name of a group.

    Example:
        >>> group_name("sex", "Female"), group_name("income", ">50K")
        ('sex=Female', 'income>50K')
    """
    return f"{column}{value}" if value[0] in "<>≤≥" else f"{column}={value}"


def in_order(value: str) -> tuple[bool, float, str]:
    """Sorts numbers by size, before words by the alphabet."""
    number = as_number(value)
    return (number is None, number or 0.0, value)


def as_number(value: str) -> float | None:
    """The finite number that a value is, or None."""
    try:
        number = float(value)
    except ValueError:
        return None
    return number if np.isfinite(number) else None
