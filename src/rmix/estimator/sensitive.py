"""Sensitive features as scikit-learn users hold them, and the groups they make.

A value is known by its text, so that a column read as numbers and one read as strings are the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from rmix.errors import DataError

MISSING = ""  # text of a missing value: the row is in no group
MOST = 1000  # groups


@dataclass(frozen=True)
class Grouped:
    """Which group each row is in.

    Args:
        names: of the groups, sorted.
        code: (n,) int64 place in ``names``, -1 = in no group.
    """

    names: tuple[str, ...]
    code: np.ndarray

    @property
    def member(self) -> np.ndarray:
        """Membership, (n, n_groups) bool."""
        member: np.ndarray = self.code[:, None] == np.arange(len(self.names))
        return member


def group_rows(sensitive_features: Any, y: np.ndarray, *, by_label: bool = True) -> Grouped:
    """The groups of rows: every combination of the sensitive features that occurs, and of the label.

    Args:
        sensitive_features: one value a row (list, array, Series) or one column an attribute (array, DataFrame);
            a row with a missing value (None or nan) is in no group.
        y: labels (n,).
        by_label: groups are attribute x label; False: attribute alone.

    Example:
        >>> found = group_rows(["F", "M", None], np.array([1, 0, 1]))
        >>> found.names, found.code.tolist()
        (('attribute=F, y=1', 'attribute=M, y=0'), [0, 1, -1])
    """
    columns = attributes(sensitive_features, len(y))
    if by_label:
        columns["y"] = _texts(y)
    known = np.all([column != MISSING for column in columns.values()], axis=0)
    if not known.any():
        raise DataError(f"None of the {len(y)} rows has a value in every one of the sensitive features.")
    cells = {name: np.unique(column[known], return_inverse=True) for name, column in columns.items()}
    code = np.full(len(y), -1)
    place = np.zeros(int(known.sum()), dtype=np.int64)
    for values, inverse in cells.values():
        place = place * len(values) + inverse
    present, code[known] = np.unique(place, return_inverse=True)
    if len(present) > MOST:
        sizes = ", ".join(f"{name} has {len(values):,}" for name, (values, _) in cells.items())
        raise DataError(
            f"The sensitive features make {len(present):,} groups of {len(y):,} rows ({sizes} different values); "
            f"at most {MOST:,} are allowed: cut numbers into ranges."
        )
    places = np.unravel_index(present, [len(values) for values, _ in cells.values()])
    named = [[f"{name}={value}" for value in cells[name][0][at]] for name, at in zip(cells, places, strict=True)]
    return Grouped(tuple(", ".join(parts) for parts in zip(*named, strict=True)), code)


def attributes(sensitive_features: Any, n: int) -> dict[str, np.ndarray]:
    """Each attribute's values as texts (n,), by name; columns without a name are called attribute.

    Example:
        >>> {name: texts.tolist() for name, texts in attributes([("F", 1), ("M", 2)], 2).items()}
        {'attribute 0': ['F', 'M'], 'attribute 1': ['1', '2']}
    """
    columns = _columns(sensitive_features)
    for name, column in columns.items():
        if len(column) != n:
            raise DataError(f"sensitive_features has {len(column)} rows ({name}), but there are {n} labels.")
    return {name: _texts(column) for name, column in columns.items()}


def _columns(given: Any) -> dict[str, Any]:
    if hasattr(given, "columns") or isinstance(given, Mapping):
        return {str(name): given[name] for name in getattr(given, "columns", given)}
    name = getattr(given, "name", None)
    array = np.asarray(given) if hasattr(given, "shape") else np.array(given, dtype=object)  # a list may mix types
    if array.ndim == 1:
        return {"attribute" if name is None else str(name): array}
    if array.ndim == 2 and array.shape[1]:
        names = [f"attribute {i}" for i in range(array.shape[1])] if array.shape[1] > 1 else ["attribute"]
        return dict(zip(names, array.T, strict=True))
    raise DataError(
        f"sensitive_features must be one value a row or one column an attribute, got {type(given).__name__} "
        f"of shape {array.shape}."
    )


def _texts(column: Any) -> np.ndarray:
    known: dict[Any, str] = {}
    values = np.asarray(column, dtype=object).tolist()
    return np.array([known[v] if v in known else known.setdefault(v, _text(v)) for v in values], dtype=str)


def _text(value: Any) -> str:
    if value is None or type(value).__name__ == "NAType" or value != value:  # only nan differs from itself
        return MISSING
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
