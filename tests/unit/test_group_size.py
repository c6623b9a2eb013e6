"""exp(C / sqrt(n_g)), and what every rule by group does with odd groups."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from toys import facts_of, finished, make_batch, split_of

from rmix.batch import Groups
from rmix.datasets.base import Bundle, least_populous
from rmix.errors import HiddenGroupsError, InvalidValueError
from rmix.recipe import Facts
from rmix.weightings import GroupSize, InverseFrequency

quick = settings(max_examples=60, deadline=None, derandomize=True)


def test_capacity_given() -> None:
    """exp(2 / sqrt(4)) = e, exp(2 / sqrt(16)) = sqrt(e)."""
    weights = GroupSize(capacity=2.0).by_size(np.array([4, 16]))
    assert weights.tolist() == pytest.approx([math.e, math.sqrt(math.e)], rel=1e-15)


def test_capacity_zero_is_no_weight() -> None:
    assert GroupSize(capacity=0.0).by_size(np.array([7, 900, 3])).tolist() == [1.0, 1.0, 1.0]


def test_capacity_solved_from_the_ratio_by_hand() -> None:
    """C (1/1 - 1/2) = log 9, so C = 2 log 9 and the weights are exp(2 log 9) = 81 and exp(log 9) = 9."""
    weights = GroupSize(ratio=9.0).by_size(np.array([1, 4]))
    assert weights.tolist() == pytest.approx([81.0, 9.0], rel=1e-12)


@quick
@given(sizes=st.lists(st.integers(20, 10**6), min_size=2, max_size=8, unique=True), ratio=st.floats(1, 3))
def test_the_solved_ratio_is_reached_and_smaller_groups_weigh_more(sizes: list[int], ratio: float) -> None:
    sizes[1] = 4 * sizes[0]  # far enough apart that the exponent stays small
    weights = GroupSize(ratio=ratio).by_size(np.array(sizes))
    assert weights.max() / weights.min() == pytest.approx(ratio, rel=1e-9)
    assert (np.diff(weights[np.argsort(sizes)]) <= 0).all()


def test_equal_groups() -> None:
    assert GroupSize(ratio=1.0).by_size(np.array([5, 5])).tolist() == [1.0, 1.0]
    assert GroupSize(capacity=0.0).by_size(np.array([5, 5])).tolist() == [1.0, 1.0]
    with pytest.raises(
        InvalidValueError, match=r"ratio of 10.0 cannot be reached: every group has 5 rows; use ratio=1"
    ):
        GroupSize(ratio=10.0).by_size(np.array([5, 5]))


def test_overflow_shows_the_numbers() -> None:
    with pytest.raises(InvalidValueError) as error:
        GroupSize(capacity=400.0).by_size(np.array([16, 3498]))
    assert str(error.value) == (
        "exp(C / sqrt(n_g)) overflows: C = 400 and n_g = 16 give exp(100.0); use a smaller capacity or ratio."
    )
    solved = GroupSize(ratio=10.0)
    with pytest.raises(InvalidValueError, match=r"n_g = 10000 give"):
        solved.by_size(np.array([10000, 10001]))  # nearly equal groups need an enormous C
    just = GroupSize(capacity=80.0).by_size(np.array([1]))
    assert np.isfinite(just.astype(np.float32)).all()


def looked_up(rule: Any, facts: Facts, group: list[int], weight: list[float] | None = None) -> list[float]:
    batch = make_batch([0] * len(group), group=group, weight=weight)
    return finished(rule.prepare(facts))(batch).tolist()


def test_a_group_absent_from_training_changes_no_weight() -> None:
    """Sizes 4, 0, 16: the empty group is neither divided by nor counted."""
    with_gap = looked_up(GroupSize(capacity=2.0), facts_of([4, 0, 16]), [0, 2])
    assert with_gap == pytest.approx([math.e, math.sqrt(math.e)])
    assert looked_up(GroupSize(ratio=9.0), facts_of([1, 0, 4]), [0, 2]) == pytest.approx([81.0, 9.0])
    assert looked_up(InverseFrequency(), facts_of([30, 0, 10]), [0, 2]) == [0.5, 1.5]


def test_rows_in_no_group_weigh_one() -> None:
    assert looked_up(GroupSize(capacity=2.0), facts_of([4, 16], n=23), [0, -1, 1]) == pytest.approx(
        [math.e, 1.0, math.sqrt(math.e)]
    )


def test_weights_multiply_those_the_rows_have() -> None:
    assert looked_up(InverseFrequency(), facts_of([30, 10]), [0, 1, 1], [2.0, 1.0, 0.0]) == [1.0, 1.5, 0.0]


def test_mean_one_by_hand() -> None:
    """Weights 0.5 of 30 rows, 1.5 of 10 and 1 of 10 in no group: (15 + 15 + 10) / 50 = 0.8."""
    assert looked_up(InverseFrequency("mean_one"), facts_of([30, 10], n=50), [0, 1, -1]) == pytest.approx(
        [0.5 / 0.8, 1.5 / 0.8, 1 / 0.8]
    )


@pytest.mark.parametrize(("sizes", "ratio"), [((600, 8), 20.0), ((22, 21, 21), 22 / 21), ((9, 9), 1.0), ((7,), 1.0)])
def test_by_default_weights_are_as_unequal_as_the_groups_are_and_no_more_than_twenty_times(
    sizes: tuple[int, ...], ratio: float
) -> None:
    weight = GroupSize().by_size(np.array(sizes))
    assert weight.max() / weight.min() == pytest.approx(ratio)
    assert weight.max() <= 50  # near 1, of groups that are nearly alike, too


OVERLAP = [[True, False], [True, True], [True, True], [True, False], [False, False]]


def overlapping() -> Bundle:
    """Four rows in group 0, two of them in group 1 as well, one row in none."""
    split = split_of([0, 1, 0, 1, 0], group=OVERLAP)
    return Bundle("overlap", split, split, split, ("no", "yes"), ("all", "few"))


def test_overlapping_groups_take_the_least_populous() -> None:
    """Members 4 and 2, so rows 1 and 2 are filed under group 1 and group 0 keeps two rows."""
    bundle = overlapping()
    facts = bundle.facts(Groups.TRAIN)
    assert (facts.group_counts, facts.group_rows) == ((4, 2), (2, 2))
    assert bundle.rows(Groups.TRAIN).group.tolist() == [0, 1, 1, 0, -1]
    group = bundle.rows(Groups.TRAIN).group.tolist()
    few = math.exp(2 / math.sqrt(2))
    assert looked_up(GroupSize(capacity=2.0), facts, group) == pytest.approx([math.e, few, few, math.e, 1.0])


@pytest.mark.parametrize("rule", [GroupSize("mean_one", capacity=2.0), InverseFrequency("mean_one")])
def test_mean_one_over_training_rows_with_overlapping_groups(rule: Any) -> None:
    bundle = overlapping()
    group = bundle.rows(Groups.TRAIN).group.tolist()
    assert np.mean(looked_up(rule, bundle.facts(Groups.TRAIN), group)) == pytest.approx(1.0, rel=1e-12)


@quick
@given(member=st.lists(st.lists(st.booleans(), min_size=3, max_size=3), min_size=1, max_size=12))
def test_least_populous_is_a_group_of_the_row_and_none_of_its_groups_is_smaller(member: list[list[bool]]) -> None:
    matrix = np.array(member)
    size = matrix.sum(0)
    for row, filed in zip(matrix, least_populous(matrix), strict=True):
        if filed < 0:
            assert not row.any()
        else:
            assert row[filed]
            assert size[filed] == size[row].min()


def test_groups_must_be_known() -> None:
    assert GroupSize().groups == InverseFrequency().groups == Groups.TRAIN
    with pytest.raises(HiddenGroupsError):
        next(GroupSize().prepare(Facts(4, 2, (2, 2))))


def test_weights_come_in_the_type_of_the_batch() -> None:
    weighting = finished(GroupSize(capacity=2.0).prepare(facts_of([4, 16])))
    batch = make_batch([0, 1], group=[0, 1])
    assert weighting(batch).dtype == torch.float64
    assert weighting.describe(np.zeros((0, 2), dtype=bool)) == {
        "weight_by_group": pytest.approx([math.e, math.sqrt(math.e)])
    }
