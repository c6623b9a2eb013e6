"""Which row is which: batches that carry their row numbers, and checks of what a loop hands over."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import Dataset, IterableDataset

from rmix.datasets import Bundle, Split
from rmix.errors import DataError, InvalidValueError


class WithIndex(Dataset[Any]):
    """A map-style data set whose items end with their row number, or have it under the key ``index``.

    Wrap the data set that the loader reads, whatever it is made of: row numbers count its items in order.

    Example:
        >>> from torch.utils.data import TensorDataset
        >>> rows = WithIndex(TensorDataset(torch.zeros(3, 2), torch.tensor([0, 1, 0])))
        >>> rows[2]
        (tensor([0., 0.]), tensor(0), 2)
    """

    def __init__(self, rows: Any) -> None:
        mapped = hasattr(rows, "__getitem__") and hasattr(rows, "__len__")
        if not mapped or isinstance(rows, IterableDataset):
            raise InvalidValueError(
                "WithIndex needs a map-style data set (with __getitem__ and __len__), whose rows can be numbered; "
                f"got {type(rows).__name__}."
            )
        self.rows = rows

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: int) -> Any:
        row = index + len(self) if index < 0 else index
        return numbered(self.rows[row], row)

    def __getitems__(self, indices: Sequence[int]) -> list[Any]:
        """Items of a batch, fetched at once where the wrapped data set can."""
        fetch = getattr(self.rows, "__getitems__", None)
        if fetch is None:
            return [self[index] for index in indices]
        return [numbered(item, index) for item, index in zip(fetch(indices), indices, strict=True)]


def numbered(item: Any, index: int) -> Any:
    """An item with its row number.

    Example:
        >>> numbered({"text": "a", "label": 1}, 7)
        {'text': 'a', 'label': 1, 'index': 7}
    """
    if isinstance(item, Mapping):
        return {**item, "index": index}
    return (*item, index) if isinstance(item, tuple | list) else (item, index)


def bundle_of(y: Any, group: Any, weight: Any) -> Bundle:
    """The training rows of a loop, checked as those of any data set; their inputs are the loop's affair."""
    labels, groups = whole_numbers(y, "y"), None if group is None else whole_numbers(group, "group")
    split = Split(labels, labels, groups, None if weight is None else torch.as_tensor(weight))
    n_classes = 1 + int(labels.max()) if labels.numel() else 1
    n_groups = 0 if groups is None else count_of(groups)
    return Bundle("of this loop", split, split, split, names(n_classes), names(n_groups))


def membership(group: Any) -> np.ndarray:
    """Which rows are in which groups, (n, n_groups) bool, from either way to write groups.

    Example:
        >>> membership([0, 1, -1]).tolist()
        [[True, False], [False, True], [False, False]]
    """
    groups = whole_numbers(group, "group")
    member = Split(groups, groups, groups).member(count_of(groups))
    assert member is not None
    return member


def count_of(groups: Tensor) -> int:
    """How many groups there are."""
    return groups.shape[1] if groups.dim() == 2 else 1 + int(groups.max())


def names(count: int) -> tuple[str, ...]:
    """Numbers as names."""
    return tuple(map(str, range(count)))


def whole_numbers(values: Any, what: str) -> Tensor:
    """Whole numbers, or membership of groups, as a tensor of int64 or bool on the CPU."""
    tensor = torch.as_tensor(values).detach().cpu()
    if tensor.numel() and (tensor.is_floating_point() or tensor.is_complex()):
        raise DataError(f"{what} must be whole numbers, one a training row; got {tensor.dtype}.")
    return tensor if tensor.dtype == torch.bool and tensor.dim() == 2 else tensor.long()


def check_index(index: Tensor, n: int) -> None:
    """Row numbers (b,) must be whole and count the ``n`` training rows; the values are looked at on the CPU only."""
    if index.dim() != 1 or index.is_floating_point() or index.dtype == torch.bool:
        raise InvalidValueError(
            "index must be a vector of whole numbers, the rows of the batch as rmix.WithIndex gives them; "
            f"got {index.dtype} of shape {tuple(index.shape)}."
        )
    if index.is_cpu and len(index):
        least, largest = (int(value) for value in index.aminmax())
        bad = least if least < 0 else largest
        if not 0 <= bad < n:
            raise InvalidValueError(
                f"index must be 0 … {n - 1}, the rows of the training labels that were given; got {bad}. "
                "Wrap the data set that the loader reads: rmix.WithIndex(train)."
            )


def check_lengths(**columns: Any) -> None:
    """What a loop hands over must be of as many rows as it has row numbers."""
    n = len(columns["index"])
    for name, value in columns.items():
        if isinstance(value, Tensor) and len(value) != n:
            raise InvalidValueError(f"A batch has {n} row numbers (index) but {len(value)} rows of {name}.")


def check_classes(y: Tensor, index: Tensor, known: Tensor) -> None:
    """The classes (b,) of a batch must be those that its row numbers have in ``known`` (n,)."""
    wrong = (known[index.cpu()] != y.cpu()).nonzero().flatten()
    if len(wrong):
        place = int(wrong[0])
        row = int(index[place])
        raise InvalidValueError(
            f"Row {row} is of class {int(known[row])} in the y that was given first and of class {int(y[place])} in "
            "the batch; index must count rows in the order of that y."
        )
