"""A run as data."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import pytest
from toys import TWO_STAGES, small

from rmix.experiment.result import Result
from rmix.experiment.run import run_config
from rmix.metrics import GroupTable

BLANK = Result(
    id="moons-erm-s3-0",
    config={"dataset": {"name": "moons"}, "method": {"name": "erm"}, "seed": 3},
    class_names=("down", "up"),
    group_names=("a", "b"),
    train_counts=(30, 10),
    groups_used={"fit": False, "select": True},
    history={"main": [{"epoch": 0, "loss": 0.5, "valid": GroupTable((1, 2), (2, 2), 3, 4).to_json()}]},
    selected={"rule": "worst_group", "epoch": 0, "value": 0.5},
    test=GroupTable((1, 4), (2, 4), 5, 6),
)


def there_and_back(result: Result) -> Result:
    again = Result.from_json(result.to_json())
    assert again.to_json() == result.to_json()
    return again


def test_json_round_trip() -> None:
    assert there_and_back(BLANK) == BLANK
    failed = replace(BLANK, test=None, train_counts=None, history={}, failure="The loss became nan.")
    assert there_and_back(failed) == failed


def test_a_real_run_makes_the_round_trip_and_is_strict_json() -> None:
    result = run_config(small(TWO_STAGES)).result
    again = there_and_back(result)
    assert (again.test, again.history, again.described) == (result.test, result.history, result.described)

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is not JSON")

    json.loads(result.to_json(), parse_constant=refuse)


def test_the_two_averages() -> None:
    """Groups 50 % and 100 %: 5 of 6 rows, and 30/40 * 0.5 + 10/40 * 1."""
    assert BLANK.test.average == pytest.approx(5 / 6)
    assert BLANK.adjusted_average == pytest.approx(0.625)


def test_no_adjusted_average_without_a_test_table_or_training_groups() -> None:
    assert math.isnan(replace(BLANK, test=None).adjusted_average)
    assert math.isnan(replace(BLANK, train_counts=None).adjusted_average)
    assert math.isnan(replace(BLANK, test=GroupTable((), (), 5, 6)).adjusted_average)


def test_shortcuts() -> None:
    assert (BLANK.method, BLANK.seed) == ("erm", 3)
