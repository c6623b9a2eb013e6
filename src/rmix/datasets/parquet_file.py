"""Columns of a Parquet file, as strings, so that they take the same way as those of a CSV file."""

from __future__ import annotations

from pathlib import Path

from rmix.datasets.csv_file import Columns
from rmix.errors import DataError


def read_parquet(path: str | Path) -> Columns:
    """All columns; a missing value is an empty string."""
    try:
        import pyarrow as arrow
        from pyarrow import parquet
    except ImportError:
        raise DataError(f"{path} is a Parquet file, which needs pyarrow; pip install 'rmix[parquet]'.") from None
    if not Path(path).is_file():
        raise DataError(f"There is no file {path}.")
    try:
        table = parquet.read_table(path)
    except (arrow.ArrowException, OSError) as error:
        raise DataError(f"{path} cannot be read as Parquet ({str(error).splitlines()[0]}).") from None
    if not table.num_rows:
        raise DataError(f"{path} has no rows.")
    return Columns(path, {name: _as_strings(table.column(name).to_pylist()) for name in table.column_names})


def _as_strings(values: list[object]) -> list[str]:
    return ["" if value is None else str(value) for value in values]
