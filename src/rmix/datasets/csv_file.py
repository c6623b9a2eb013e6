"""Columns of a CSV file, read strictly: what cannot be read is refused with the file and the row.

Rows are counted as a spreadsheet shows them: the header is row 1.
"""

from __future__ import annotations

import csv
import gzip
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from io import TextIOWrapper
from itertools import islice
from pathlib import Path
from typing import BinaryIO, TextIO

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
            number = int(_whole(float(text)))
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
    if not number.is_integer() or abs(number) >= 2**63:
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
    with _opened(path) as file:
        found = _read(path, file, columns)
    if unique is not None:
        check_unique(unique, found)
    return found


def header_of(path: str | Path) -> list[str]:
    """Names of the columns of a CSV file."""
    path = Path(path)
    with _opened(path) as file:
        return [name.strip() for name in next(_rows(path, file), [""])]


@contextmanager
def _opened(path: Path) -> Iterator[TextIO]:
    """The file as text; an error of reading it says where."""
    if not path.is_file():
        raise DataError(f"There is no file {path}.")
    limit = csv.field_size_limit(sys.maxsize)  # a long text is no mistake
    try:
        with _bytes_of(path) as file:
            # plain utf-8 is faster where no byte-order mark has to be passed over
            encoding = "utf-8-sig" if file.read(3) == b"\xef\xbb\xbf" else "utf-8"
            file.seek(0)
            yield TextIOWrapper(file, encoding, newline="")
    except UnicodeDecodeError:
        line, byte = _not_utf8(path)
        raise DataError(f"{path} line {line} is not UTF-8 text (byte {byte:#x}); save it as UTF-8.") from None
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"{path} cannot be read ({getattr(error, 'strerror', None) or error}).") from None
    finally:
        csv.field_size_limit(limit)


def _bytes_of(path: Path) -> BinaryIO:
    return gzip.open(path) if path.suffix == ".gz" else path.open("rb", buffering=1 << 20)  # type: ignore[return-value]


def _not_utf8(path: Path) -> tuple[int, int]:
    """The first line that is not UTF-8, and its byte that is wrong."""
    with _bytes_of(path) as file:
        for number, line in enumerate(file, 1):
            try:
                line.decode()
            except UnicodeDecodeError as error:
                return number, line[error.start]
    raise AssertionError(f"{path} is UTF-8")


def _read(path: Path, file: TextIO, columns: Sequence[str] | None) -> Columns:
    rows = _rows(path, file)
    header = [name.strip() for name in next(rows, [])]
    if not header:
        raise DataError(f"{path} is empty: it has no header.")
    if len(header) == 1 and (other := next((mark for mark in ";\t|" if mark in header[0]), None)):
        raise DataError(f"{path} separates its columns by {other!r}; save it with commas.")
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
    try:
        yield from csv.reader(file, strict=True)  # strict: a quote that is never closed would swallow the rest
    except csv.Error as error:
        row = _whole_rows(file) + 1
        raise DataError(f"{path} row {row}: not valid CSV ({error}; a quote in a quoted text is doubled).") from None


def _whole_rows(file: TextIO) -> int:
    """Rows, the header included, before the one that is not valid."""
    file.seek(0)
    count = 0
    with suppress(csv.Error):
        for _ in csv.reader(file, strict=True):
            count += 1
    return count


def check_unique(name: str, *files: Columns) -> None:
    """Refuse a value of a column that stands twice, in one file or in two."""
    if len(set().union(*(file[name] for file in files))) == sum(map(len, files)):
        return
    first: dict[str, tuple[Columns, int]] = {}
    for file in files:
        for row, value in enumerate(file[name]):
            here = (file, row)
            there = first.setdefault(value, here)
            if there is not here:
                where = f"row {there[1] + there[0].first_row}"
                path = "" if there[0] is file else f"{there[0].path} "
                raise file.refused(row, f"{name or 'the number'} {value!r} stands in {path}{where} too.")
