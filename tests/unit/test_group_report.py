"""The report of a classifier: counted by hand, printed, drawn, in a notebook."""

from __future__ import annotations

from math import isnan

import pytest

from rmix.estimator import GroupReport
from rmix.metrics import GroupTable

REPORT = GroupReport(GroupTable((90, 1, 0), (100, 4, 0), 95, 110), ("a=<b>", "c", "empty"), known=("a=<b>", "empty"))


def test_numbers() -> None:
    """Wilson's interval of 90 of 100 is 82.6 to 94.5 (Newcombe's tables)."""
    frame = REPORT.frame()
    assert frame["group"] == ["a=<b>", "c", "empty"]
    assert frame["rows"] == [100, 4, 0]
    assert frame["correct"] == [90, 1, 0]
    assert frame["accuracy"][:2] == [0.9, 0.25]
    assert (frame["low"][0], frame["high"][0]) == (pytest.approx(0.8256, abs=1e-4), pytest.approx(0.9448, abs=1e-4))
    assert all(isnan(frame[name][2]) for name in ("accuracy", "low", "high"))
    assert (REPORT.worst, REPORT.average) == (0.25, 95 / 110)


def test_text() -> None:
    assert str(REPORT).splitlines() == [
        "Group     Rows  Accuracy (%)  95 % interval",
        "a=<b>      100          90.0   82.6 to 94.5",
        "c            4          25.0    4.6 to 69.9  worst",
        "empty        0             –              –",
        "all rows   110          86.4   78.7 to 91.6",
        "No row given to fit was in group 'c', which has 4 here.",
        "Rows in no group, as a value is missing: 6.",
    ]


def test_notebook() -> None:
    page = REPORT._repr_html_()
    cells = [row.split("</td>") for row in page.split("<tr>")[2:]]
    texts = [[cell.rpartition(">")[2] for cell in row] for row in cells]
    assert texts[0][:4] == ["a=&lt;b&gt;", "100", "90.0", "82.6 to 94.5"]
    assert ["bold" in "".join(row) for row in cells] == [False, True, False, False]
    assert "<p>Rows in no group, as a value is missing: 6.</p>" in page


def test_figure_shows_the_numbers_of_the_frame() -> None:
    (axes,) = REPORT.figure().axes
    drawn = {line.get_label(): line for line in axes.lines}
    (dots,) = [line for line in axes.lines if line.get_marker() == "o" and len(line.get_xdata()) == 2]
    assert list(dots.get_xdata()) == [90.0, 25.0]
    assert list(drawn["worst group"].get_xdata()) == [25.0]
    assert list(drawn["worst group"].get_ydata()) == [1]
    assert list(drawn["all 110 rows"].get_xdata()) == [100 * 95 / 110] * 2
    assert [label.get_text() for label in axes.get_yticklabels()] == ["a=<b> (100)", "c (4)", "empty (0)"]


def test_a_classifier_without_groups_has_no_unseen_ones() -> None:
    assert GroupReport(GroupTable((1,), (1,), 1, 1), ("a",)).unseen == ()
    assert REPORT.unseen == ("c",)


def test_other_names_for_the_same_groups_are_one_question() -> None:
    renamed = GroupReport(GroupTable((1, 1), (1, 1), 2, 2), ("sex=F", "sex=M"), known=("attribute=F", "attribute=M"))
    assert str(renamed).splitlines()[-1] == (
        "Fit was given none of these groups, but such as 'attribute=F': are the columns called alike?"
    )
