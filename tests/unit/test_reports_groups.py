"""Every group with its counts and interval, against arithmetic by hand."""

from __future__ import annotations

from math import isnan

import pytest
from rich.console import Console
from test_reports_summary import TWO, made, ungrouped

from rmix.errors import InvalidValueError
from rmix.metrics import GroupTable
from rmix.reports import GroupAccuracy, Runs
from rmix.reports.estimate import wilson


def test_wilson_by_hand() -> None:
    # half of 4 rows, z² = 3.8415: middle (0.5 + 3.8415/8) / (1 + 3.8415/4) = 0.98018 / 1.96036 = 0.5,
    # half width 1.96 * sqrt(0.25/4 + 3.8415/64) / 1.96036 = 1.95996 * 0.35005 / 1.96036 = 0.34998
    assert wilson(0.5, 4) == pytest.approx((0.15002, 0.84998), abs=2e-5)
    # all right: the upper end is one, the lower n / (n + z²)
    assert wilson(1.0, 10) == pytest.approx((10 / 13.8415, 1.0), abs=1e-5)
    assert wilson(0.0, 10) == pytest.approx((0.0, 3.8415 / 13.8415), abs=1e-5)
    assert all(map(isnan, wilson(float("nan"), 0)))


def test_wilson_agrees_with_another_implementation() -> None:
    from scipy.stats import binomtest

    for right, rows in ((3, 7), (55, 56), (812, 1057)):
        theirs = binomtest(right, rows).proportion_ci(method="wilson")
        assert wilson(right / rows, rows) == pytest.approx((theirs.low, theirs.high), abs=1e-12)


def test_frame_by_hand() -> None:
    frame = GroupAccuracy([*TWO, made("iw", correct=(10, 4))]).frame()
    assert frame["method"] == ["erm", "erm", "iw", "iw"]
    assert frame["group"] == ["big", "small"] * 2
    assert frame["train_rows"] == [30, 10] * 2
    assert frame["test_rows"] == [10, 5] * 2
    assert frame["accuracy"] == pytest.approx([0.7, 0.8, 1.0, 0.8])  # (0.9 + 0.5) / 2 and (0.6 + 1) / 2
    assert frame["seeds"] == [2, 2, 1, 1]
    assert frame["worst"] == [True, False, False, True]  # of erm: one run each, the first of equals
    # two seeds do not make ten test rows twenty
    assert (frame["low"][0], frame["high"][0]) == pytest.approx(wilson(0.7, 10))


def test_a_group_without_rows_is_unknown_and_not_zero() -> None:
    empty = made(test=GroupTable((9, 0), (10, 0), 9, 10))
    table = GroupAccuracy([empty]).table()
    assert table.rows[1][3:] == ("10", "0", "–", "–", "")
    GroupAccuracy([empty]).figure()


def test_a_failed_method_keeps_its_rows() -> None:
    frame = GroupAccuracy([made("iw", correct=None)]).frame()
    assert all(map(isnan, frame["accuracy"]))
    assert frame["worst"] == [False, False]


def test_unlabelled_training_rows_are_unknown() -> None:
    report = GroupAccuracy([made(train_counts=None)])
    assert report.table().rows[0][3] == "–"
    assert isnan(report.frame()["train_rows"][0])


def test_without_groups_there_is_nothing() -> None:
    report = GroupAccuracy([ungrouped()])
    assert not any(report.frame().values())
    with pytest.raises(InvalidValueError, match="no numbers for this figure"):
        report.figure()


def test_the_figure_has_a_dot_a_group_and_method() -> None:
    (axes,) = GroupAccuracy([*TWO, made("iw", correct=(10, 4))]).figure().axes
    dots = [line for line in axes.lines if line.get_marker() == "o"]
    assert [line.get_xdata().tolist() for line in map(_as_array, dots)] == [
        pytest.approx([70.0, 80.0]),
        pytest.approx([100.0, 80.0]),
    ]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["big", "small"]


def test_too_many_dots_become_cells() -> None:
    """Nine methods and eight groups: rows from top to bottom, each number in the colour of its cell."""
    names = tuple("abcdefgh")
    tables = [GroupTable((m, *[5] * 7), [10] * 8, 35 + m, 80) for m in range(9)]
    runs = [made(f"method{m}", test=table, group_names=names, train_counts=(5,) * 8) for m, table in enumerate(tables)]
    report = GroupAccuracy([*runs, made("failed", correct=None, group_names=names, train_counts=(5,) * 8)])
    (axes,) = report.figure().axes
    written = [[text.get_text() for text in axes.texts[8 * m : 8 * m + 8]] for m in range(10)]
    assert written == [[f"{10 * m}", *["50"] * 7] for m in range(9)] + [["–"] * 8]
    assert [axes.texts[8 * m].get_color() for m in (4, 6, 9)] == ["white", "black", "black"]
    assert axes.collections[0].get_array()[:9, 0].tolist() == pytest.approx([10.0 * m for m in range(9)])
    assert [label.get_text() for label in axes.get_yticklabels()] == [f"method{m}" for m in range(9)] + ["failed"]
    assert [label.get_text() for label in axes.get_xticklabels()] == list(names)
    assert axes.yaxis_inverted()
    assert len(GroupAccuracy(runs[:8]).figure().axes[0].texts) == 0  # 64 dots can be followed


def _as_array(line):  # type: ignore[no-untyped-def]
    import numpy as np

    line.set_xdata(np.asarray(line.get_xdata()))
    return line


def test_the_terminal_table_fits_and_says_each_data_set_once() -> None:
    console = Console(width=80)
    with console.capture() as captured:
        console.print(GroupAccuracy(TWO).table().rich())
    shown = captured.get()
    assert shown.count("toy") == 1
    assert "70.0 ± 28.3" in shown
    assert "worst" in shown
    assert "…" not in shown


def test_a_long_name_is_whole_on_a_narrow_terminal() -> None:
    runs = [made(settings={"a_setting_of_a_long_name": value}) for value in (1, 2)]
    console = Console(width=60)
    with console.capture() as captured:
        console.print(GroupAccuracy(runs).table().rich())
    assert "…" not in captured.get()


def test_runs_give_the_counts_of_every_run() -> None:
    frame = Runs([*TWO, made(seed=2, correct=None)]).frame()
    assert frame["group"] == ["big", "small", "all rows"] * 2
    assert frame["seed"] == [0, 0, 0, 1, 1, 1]
    assert frame["correct"] == [9, 3, 12, 5, 5, 10]
    assert frame["test_rows"] == [10, 5, 15] * 2
    assert frame["groups_select"] == [True] * 6
