"""Batches that carry their row numbers, whatever the items are made of."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.utils.data import DataLoader, Dataset, IterableDataset, Subset, TensorDataset

from rmix import WithIndex
from rmix.loop.rows import bundle_of

TEN = TensorDataset(torch.arange(10.0).view(10, 1), torch.arange(10) % 2)


class Items(Dataset[Any]):
    """Four items of one kind."""

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def __len__(self) -> int:
        return 4

    def __getitem__(self, row: int) -> Any:
        made = {"tuple": (row * 10, 0), "list": [row * 10, 0], "dict": {"x": row * 10, "labels": 0}, "bare": row * 10}
        return made[self.kind]


class AtOnce(Items):
    """Gives the items of a batch at once, and only so."""

    def __getitem__(self, row: int) -> Any:
        raise AssertionError("one at a time")

    def __getitems__(self, rows: list[int]) -> list[Any]:
        return [(row * 10, 0) for row in rows]


@pytest.mark.parametrize(
    ("kind", "third"),
    [("tuple", (20, 0, 2)), ("list", (20, 0, 2)), ("dict", {"x": 20, "labels": 0, "index": 2}), ("bare", (20, 2))],
)
def test_items_end_with_their_row(kind: str, third: Any) -> None:
    assert WithIndex(Items(kind))[2] == third


def test_a_row_counted_from_the_end_is_counted_from_the_start() -> None:
    assert WithIndex(Items("bare"))[-1] == (30, 3)


def test_items_of_a_batch_are_fetched_at_once_where_they_can() -> None:
    assert WithIndex(AtOnce("tuple")).__getitems__([3, 1]) == [(30, 0, 3), (10, 0, 1)]


@pytest.mark.parametrize("workers", [0, 2])
def test_batches_of_a_loader_carry_their_rows(workers: int) -> None:
    loader = DataLoader(WithIndex(TEN), batch_size=4, shuffle=True, num_workers=workers)
    rows: list[Tensor] = []
    for x, y, index in loader:
        assert index.dtype == torch.int64
        assert torch.equal(x[:, 0], index.float())
        assert torch.equal(y, index % 2)
        rows.append(index)
    assert torch.cat(rows).sort().values.tolist() == list(range(10))


def test_a_part_of_the_rows_is_numbered_as_it_is_wrapped() -> None:
    assert WithIndex(Subset(TEN, [7, 3]))[1][2] == 1
    assert Subset(WithIndex(TEN), [7, 3])[1][2] == 3


def test_a_stream_of_items_has_no_rows() -> None:
    class Endless(IterableDataset[int]):
        def __iter__(self) -> Iterator[int]:
            return iter(range(3))

        def __len__(self) -> int:
            return 3

    with pytest.raises(ValueError, match=r"WithIndex needs a map-style data set .* got Endless"):
        WithIndex(Endless())


def test_what_a_loop_says_of_its_rows_is_checked_as_any_data_set() -> None:
    bundle = bundle_of([0, 1, 1], [[True, True], [False, True], [False, False]], [1, 2, 3])
    assert bundle.train_counts == (1, 2)
    assert (bundle.n_classes, bundle.n_groups) == (2, 2)


@pytest.mark.parametrize(
    ("y", "group", "weight", "message"),
    [
        ([0.0, 1.0], None, None, r"y must be whole numbers, one a training row; got torch.float32"),
        ([0, 2], None, None, r"class 1 .* has no row"),
        ([0, 1], [0], None, r"2 labels but 1 rows of group"),
        ([0, 1], [0, -2], None, r"got -2 at row 1"),
        ([0, 1], None, [1.0, -1.0], r"Weights must be finite and >= 0; got -1.0 at row 1"),
        ([], None, None, r"empty"),
    ],
)
def test_bad_rows_are_refused(y: Any, group: Any, weight: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        bundle_of(y, group, weight)
