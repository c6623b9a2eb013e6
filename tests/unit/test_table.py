"""Numbers and categories of a table become inputs, fitted on training alone."""

from __future__ import annotations

import math

import pytest
import torch

from rmix.datasets.table import Table
from rmix.errors import DataError, InvalidValueError


@pytest.fixture
def loaded(tmp_path):
    """Loads rows of (y, part, …) under the names given."""

    def load(names, rows, **options):
        lines = [f"y,part,{names}", *(",".join(map(str, row)) for row in rows)]
        (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
        return Table(file=str(tmp_path / "t.csv"), label="y", split="part", **options).load()

    return load


def rows(*values, rest=("", "")):
    """Training rows of these values, one validation and one test row of ``rest``."""
    train = [(i % 2, "train", value) for i, value in enumerate(values)]
    return [*train, (0, "val", rest[0]), (1, "test", rest[1])]


def test_numbers_are_standardised_by_training_and_a_missing_one_is_said_to_be_missing(loaded):
    """Of 1, 3 and 5: mean 3, variance (4 + 0 + 4) / 3."""
    bundle = loaded("age", rows(1, "", 3, 5, rest=("NA", 7)))
    unit = 1 / math.sqrt(8 / 3)
    expected = [[-2 * unit, 0], [0, 1], [0, 0], [2 * unit, 0]]
    torch.testing.assert_close(bundle.train.x, torch.tensor(expected))
    assert bundle.valid.x.tolist() == [[0, 1]]
    torch.testing.assert_close(bundle.test.x, torch.tensor([[4 * unit, 0]]))


def test_a_number_that_only_other_splits_lack_is_the_mean(loaded):
    bundle = loaded("age", rows(1, 3, rest=("", "3e0")))
    assert [split.x.tolist() for split in bundle.splits.values()] == [[[-1], [1]], [[0]], [[1]]]


def test_categories_are_those_of_training_and_an_unseen_one_is_all_zeros(loaded):
    bundle = loaded("city", rows("b", "a", "", "b", rest=("c", "?")))
    assert bundle.train.x.tolist() == [[0, 0, 1], [0, 1, 0], [1, 0, 0], [0, 0, 1]]  # missing, a, b
    assert (bundle.valid.x.tolist(), bundle.test.x.tolist()) == ([[0, 0, 0]], [[1, 0, 0]])
    assert bundle.train.x.dtype == torch.float32


def test_other_splits_do_not_change_what_is_fitted(loaded):
    one = loaded(
        "a,b", [(i % 2, "train", i, "xyz"[i % 3]) for i in range(6)] + [(0, "val", 1, "x"), (1, "test", 1, "x")]
    )
    other = loaded(
        "a,b",
        [(i % 2, "train", i, "xyz"[i % 3]) for i in range(6)] + [(0, "val", 1e6, "w"), (1, "test", "", "")],
    )
    assert torch.equal(one.train.x, other.train.x)
    assert one.shape == other.shape == (4,)


def test_the_commonest_categories_become_inputs(loaded):
    bundle = loaded("city", rows("c", "c", "b", "a", "b", "d"), most_categories=2)
    assert bundle.train.x.tolist() == [[0, 1], [0, 1], [1, 0], [0, 0], [1, 0], [0, 0]]


def test_columns_of_digits_may_be_categories_and_a_mixed_one_is(loaded):
    as_numbers, as_categories, mixed = (
        loaded("zip", rows(*values, rest=(1, 2)), categorical=names)
        for values, names in (((1, 2), ()), ((1, 2), ("zip",)), ((1, "2a"), ()))
    )
    assert as_numbers.train.x.tolist() == [[-1], [1]]
    assert as_categories.train.x.tolist() == [[1, 0], [0, 1]]
    assert (mixed.train.x.tolist(), mixed.test.x.tolist()) == ([[1, 0], [0, 1]], [[0, 0]])


def test_label_split_groups_dropped_and_constant_columns_are_no_inputs(loaded):
    data = [(y, part, "FM"[y], y, 5, 10 * y) for part in ("train", "val", "test") for y in (0, 1)]
    assert loaded("sex,id,same,age", data, group=("sex",), drop=("id",)).shape == (1,)
    assert loaded("sex,id,same,age", data, group=("sex", "y"), drop=("id",), group_inputs=True).shape == (3,)


def refusal(loaded, *arguments, **options):
    with pytest.raises(DataError) as caught:
        loaded(*arguments, **options)
    return str(caught.value).split("/")[-1]


def test_what_is_no_number_where_training_has_numbers(loaded):
    assert refusal(loaded, "age", rows(1, 2, rest=(3, "old"))) == (
        "t.csv row 5: column 'age' must be a number, got 'old'; or say --categorical age."
    )
    assert refusal(loaded, "age", rows("x", 2), numeric=("age",)).startswith("t.csv row 2: column 'age' must be a numb")
    assert refusal(loaded, "age", rows(1, "inf", rest=(1, 1)), numeric=("age",)).startswith("t.csv row 3: column 'age'")


def test_a_slip_does_not_turn_numbers_into_categories(loaded):
    """Nine of ten training values are numbers, or eight of nine, which are fewer than nine tenths."""
    assert refusal(loaded, "age", rows(*range(9), "o1d")) == (
        "t.csv row 11: column 'age' must be a number, got 'o1d'; or say --categorical age."
    )
    assert loaded("age", rows(*range(8), "o1d")).shape == (9,)
    assert loaded("age", rows(*range(9), "o1d"), categorical=("age",)).shape == (10,)


def test_an_id_is_no_input(loaded):
    data = [(y, part, 10 * i + y, y) for i, part in enumerate(("train", "val", "test")) for y in (0, 1)]
    assert loaded("number,age", data, id="number").shape == (1,)


def test_a_column_that_tells_rows_apart_is_refused(loaded):
    assert refusal(loaded, "name", rows(*(f"n{i}" for i in range(30)))) == (
        "t.csv: column 'name' has 30 distinct values in 30 training rows, so it tells rows apart rather than classes; "
        "leave it out with --drop name, or make it numbers."
    )


def test_a_table_without_inputs(loaded):
    assert refusal(loaded, "same", rows(1, 1)) == "t.csv: no column is left for the inputs, or none of them varies."
    assert "has no column 'agee'. Did you mean 'age'?" in refusal(loaded, "age", rows(1, 2), drop=("agee",))


def test_settings_are_checked():
    with pytest.raises(InvalidValueError, match=r"column \['a'\] cannot be numeric and categorical"):
        Table(numeric=("a",), categorical=("a",))
    with pytest.raises(InvalidValueError, match="most_categories must be >= 1, got 0"):
        Table(most_categories=0)
