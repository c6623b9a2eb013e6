"""Sensitive features, however they are held, make the groups."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from rmix.errors import DataError
from rmix.estimator.sensitive import attributes, group_rows

Y = np.array(["no", "yes", "no", "yes"])
SEX = ["F", "F", "M", "M"]
NAMES = ("sex=F, y=no", "sex=F, y=yes", "sex=M, y=no", "sex=M, y=yes")


def named(given: Any) -> tuple[str, ...]:
    return tuple(name.replace("attribute=", "sex=") for name in group_rows(given, Y).names)


@pytest.mark.parametrize(
    "given",
    [
        SEX,
        tuple(SEX),
        np.array(SEX),
        np.array(SEX, dtype=object),
        np.array(SEX)[:, None],
        pd.Series(SEX, name="sex"),
        pd.Series(SEX, name="sex", index=[7, 7, 3, 1]),
        pd.Series(SEX, name="sex", dtype="category"),
        pd.Series(SEX, name="sex", dtype="string"),
        pd.DataFrame({"sex": SEX}),
        {"sex": SEX},
    ],
    ids=lambda given: type(given).__name__,
)
def test_every_container_gives_the_same_groups(given: Any) -> None:
    assert named(given) == NAMES
    assert group_rows(given, Y).code.tolist() == [0, 1, 2, 3]


def test_several_columns_cross() -> None:
    """Only combinations that occur are groups; they are sorted by the first column, then the next, then the label."""
    frame = pd.DataFrame({"sex": ["F", "M", "F", "F"], "age": [30, 30, 60, 60]})
    found = group_rows(frame, np.array([1, 0, 0, 1]))
    assert found.names == ("sex=F, age=30, y=1", "sex=F, age=60, y=0", "sex=F, age=60, y=1", "sex=M, age=30, y=0")
    assert found.code.tolist() == [0, 3, 1, 2]
    assert found.member.tolist() == [
        [True, *[False] * 3],
        [*[False] * 3, True],
        [False, True, *[False] * 2],
        [False, False, True, False],
    ]


def test_without_the_label() -> None:
    found = group_rows(SEX, Y, by_label=False)
    assert found.names == ("attribute=F", "attribute=M")
    assert found.code.tolist() == [0, 0, 1, 1]


@pytest.mark.parametrize("missing", [None, float("nan"), pd.NA, pd.NaT, np.nan])
def test_a_missing_value_is_in_no_group(missing: Any) -> None:
    assert group_rows(["F", missing, "M", "M"], Y).code.tolist() == [0, -1, 1, 2]
    frame = pd.DataFrame({"sex": SEX, "race": ["a", "a", missing, "b"]})
    assert group_rows(frame, Y).code.tolist() == [0, 1, -1, 2]


def test_numbers_are_known_by_their_text() -> None:
    """A column with a hole is read as float by pandas, and must have the groups of the one without."""
    whole, holed = pd.Series([0, 1, 1, 1]), pd.Series([0, 1, None, 1])
    assert group_rows(holed, Y).names == ("attribute=0, y=no", "attribute=1, y=yes")
    assert set(group_rows(holed, Y).names) < set(group_rows(whole, Y).names)
    assert list(attributes([True, False, True, True], 4)["attribute"]) == ["True", "False", "True", "True"]


def test_what_cannot_be_groups() -> None:
    with pytest.raises(DataError, match=r"sensitive_features has 3 rows \(attribute\), but there are 4 labels"):
        group_rows(["F", "M", "M"], Y)
    with pytest.raises(DataError, match=r"None of the 4 rows has a value in every one"):
        group_rows([None] * 4, Y)
    with pytest.raises(DataError, match=r"one column an attribute, got ndarray of shape \(4, 1, 1\)"):
        group_rows(np.zeros((4, 1, 1)), Y)
    with pytest.raises(DataError, match=r"2,000 groups of 2,000 rows \(attribute has 2,000, y has 1 diff"):
        group_rows(np.linspace(0, 1, 2000), np.zeros(2000))
