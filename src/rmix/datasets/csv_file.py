"""Columns of a CSV file, read strictly: what cannot be read is refused with the file and the row.

Rows are counted as a spreadsheet shows them: the header is row 1.
"""

from __future__ import annotations

import csv
import gzip
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TextIO

import numpy as np

from rmix.errors import DataError, suggestion

CHUNK = 64  # rows turned into columns at once; few, so that they stay in the processor's cache
SAMPLE = 4096  # rows after which it is known whether a column has few distinct values
FIRST_ROW = 2  # of the data, under the header


@dataclass(frozen=True)
class Columns:
    """Columns of a file by name, as the strings that stand there.

    Example:
        >>> columns = Columns("birds.csv", {"y": ["0", "1", "x"]})
        >>> columns.integers("y")
        Traceback (most recent call last):
        rmix.errors.DataError: birds.csv row 4: column 'y' must be a whole number, got 'x'.
    """

    path: str | Path
    strings: dict[str, list[str]]
    first_row: int = FIRST_ROW

    def __len__(self) -> int:
        return len(next(iter(self.strings.values()), ()))

    def __getitem__(self, name: str) -> list[str]:
        if name not in self.strings:
            raise missing_column(self.path, name, self.strings)
        return self.strings[name]

    def integers(self, name: str, allowed: Iterable[int] | None = None) -> np.ndarray:
        """A column of whole numbers, (n,) int64; ``allowed`` are the only values it may hold."""
        known = None if allowed is None else set(allowed)

        def value(text: str) -> int:
            number = int(text) if text.lstrip("+-").isdecimal() else int(_whole(float(text)))
            if known is not None and number not in known:
                raise ValueError(text)
            return number

        what = "a whole number" if known is None else f"one of {', '.join(map(str, sorted(known)))}"
        return self._converted(name, value, what, np.int64)

    def numbers(self, name: str, *, required: bool = False) -> np.ndarray:
        """A column of numbers, (n,) float64; an empty field is nan, or refused where it is required."""

        def value(text: str) -> float:
            number = float(text) if text or required else np.nan
            if required and np.isnan(number):
                raise ValueError(text)
            return number

        return self._converted(name, value, "a number", np.float64)

    def places(self, name: str, meanings: Mapping[str, str]) -> dict[str, np.ndarray]:
        """Rows in which a column holds each of the ``meanings`` (what we call it: what stands there)."""
        column = self[name]
        codes = {text: code for code, text in enumerate(meanings.values())}
        for row, text in enumerate(column) if set(column) - set(codes) else ():
            if text not in codes:
                raise self.refused(row, f"column {name!r} must be one of {', '.join(codes)}, got {text!r}.")
        code = np.fromiter(map(codes.__getitem__, column), np.int64, len(column))
        return {ours: np.flatnonzero(code == codes[text]) for ours, text in meanings.items()}

    def _converted(self, name: str, value: Callable[[str], float], what: str, dtype: type[np.generic]) -> np.ndarray:
        column = self[name]
        values, bad = {}, set()  # each distinct string is converted once: many rows hold few of them
        for text in set(column):
            try:
                values[text] = value(text)
            except ValueError:
                bad.add(text)
        if bad:
            row = next(i for i, text in enumerate(column) if text in bad)
            raise self.refused(row, f"column {name!r} must be {what}, got {column[row]!r}.")
        return np.fromiter(map(values.__getitem__, column), dtype, len(column))

    def refused(self, row: int, why: str) -> DataError:
        """The error that says why ``row`` (of the data, from 0) cannot be used."""
        return DataError(f"{self.path} row {row + self.first_row}: {why}")


def _whole(number: float) -> float:
    if not number.is_integer():
        raise ValueError(number)
    return number


def missing_column(path: str | Path, name: str, known: Iterable[str]) -> DataError:
    """The error that names the columns there are."""
    known = list(known)
    return DataError(f"{path} has no column {name!r}.{suggestion(name, known)} Columns: {', '.join(known)}.")


def read_csv(path: str | Path, columns: Sequence[str] | None = None, *, unique: str | None = None) -> Columns:
    """The named columns of a CSV file (``.gz`` too), all of them where none is named.

    Comma-separated UTF-8, with or without a byte-order mark, any line ends, quoted line breaks.

    Args:
        path: the file; its first row names the columns.
        columns: which of them are read, in any order.
        unique: a column in which no value may stand twice.
    """
    path = Path(path)
    if columns is not None and unique is not None:
        columns = list(dict.fromkeys([*columns, unique]))
    try:
        with _opened(path) as file:
            found = _read(path, file, columns)
    except UnicodeDecodeError as error:
        raise DataError(f"{path} is not UTF-8 text (byte {error.object[error.start]:#x}); save it as UTF-8.") from None
    except OSError as error:
        raise DataError(f"{path} cannot be read ({error.strerror or error}).") from None
    if unique is not None:
        _check_unique(found, unique)
    return found


def header_of(path: str | Path) -> list[str]:
    """Names of the columns of a CSV file."""
    path = Path(path)
    with _opened(path) as file:
        return next(_rows(path, file), [""])


def _opened(path: Path) -> TextIO:
    if not path.is_file():
        raise DataError(f"There is no file {path}.")
    if path.suffix == ".gz":
        return gzip.open(path, "rt", encoding="utf-8-sig", newline="")
    with path.open("rb") as file:
        marked = file.read(3) == b"\xef\xbb\xbf"
    return path.open(encoding="utf-8-sig" if marked else "utf-8", newline="", buffering=1 << 20)  # plain is faster


def _read(path: Path, file: TextIO, columns: Sequence[str] | None) -> Columns:
    rows = _rows(path, file)
    header = next(rows, [])
    if not header:
        raise DataError(f"{path} is empty: it has no header.")
    if len(set(header)) < len(header):
        twice = next(name for name in header if header.count(name) > 1)
        raise DataError(f"{path} row 1: column {twice!r} stands there twice.")
    names = list(header if columns is None else columns)
    for name in names:
        if name not in header:
            raise missing_column(path, name, header)
    strings = _columns(path, rows, header, names)
    if not strings[names[0]]:
        raise DataError(f"{path} has a header and no rows.")
    return Columns(path, strings)


def _columns(path: Path, rows: Iterator[list[str]], header: list[str], names: list[str]) -> dict[str, list[str]]:
    places = [header.index(name) for name in names]
    strings: dict[str, list[str]] = {name: [] for name in names}
    # Few distinct values stand in most columns: one string object for each saves most of the memory.
    shared: dict[str, dict[str, str] | None] = {name: {} for name in names}
    done = 0
    while chunk := list(islice(rows, CHUNK)):
        if set(map(len, chunk)) != {len(header)} and not _trim(path, chunk, rows, len(header), done):
            break
        done += len(chunk)
        by_place = list(zip(*chunk, strict=True))
        for name, place in zip(names, places, strict=True):
            seen, values = shared[name], by_place[place]
            strings[name].extend(values if seen is None else map(seen.setdefault, values, values))
            if seen is not None and done > SAMPLE and len(seen) > done // 2:
                shared[name] = None
    return strings


def _trim(path: Path, chunk: list[list[str]], rows: Iterator[list[str]], width: int, done: int) -> bool:
    """Drop blank lines at the end of the file; any other row of another length is refused."""
    place = next(i for i, row in enumerate(chunk) if len(row) != width)
    if not any(chunk[place:]) and not any(rows):
        del chunk[place:]
        return bool(chunk)
    raise Columns(path, {}).refused(
        done + place, f"{len(chunk[place])} fields, where the header has {width}." if chunk[place] else "it is blank."
    )


def _rows(path: Path, file: TextIO) -> Iterator[list[str]]:
    reader = csv.reader(file, strict=True)  # strict: a quote that is never closed would swallow the rest
    try:
        yield from reader
    except csv.Error as error:
        raise DataError(f"{path} line {reader.line_num}: not a valid CSV file ({error}).") from None


def _check_unique(columns: Columns, name: str) -> None:
    column = columns[name]
    if len(set(column)) == len(column):
        return
    first: dict[str, int] = {}
    for row, value in enumerate(column):
        if first.setdefault(value, row) != row:
            raise columns.refused(row, f"{name} {value!r} stands in row {first[value] + FIRST_ROW} too.")
