"""Differences on the same seeds, against arithmetic by hand."""

from __future__ import annotations

from math import isnan

import pytest
from test_reports_summary import made

from rmix.errors import UnknownNameError
from rmix.reports import Paired
from rmix.reports.series import baseline_of

# worst groups: erm 0.6 and 0.4, iw 0.8 and 0.8, mixup 0.4 and (seed 1 missing)
RUNS = [
    *(made("erm", seed, (9, right)) for seed, right in enumerate((3, 2))),
    *(made("iw", seed, (9, 4)) for seed in (0, 1)),
    made("mixup", 0, (9, 2)),
]


def test_differences_are_taken_seed_by_seed() -> None:
    frame = Paired.against(RUNS, "erm").frame()
    assert frame["method"] == ["iw", "mixup"]
    assert frame["difference"] == pytest.approx([(0.2 + 0.4) / 2, -0.2])
    # standard deviation 0.1414, over sqrt(2) is 0.1; times 12.706 is 1.2706
    assert frame["low"][0] == pytest.approx(0.3 - 1.2706, abs=1e-4)
    assert frame["high"][0] == pytest.approx(0.3 + 1.2706, abs=1e-4)
    assert isnan(frame["low"][1])
    assert frame["verdict"] == ["tie", "–"]
    assert frame["seeds"] == [2, 1]


def test_an_interval_above_zero_is_better_below_it_worse() -> None:
    runs = [made("a", seed, (9, 1)) for seed in (0, 1)] + [made("b", seed, (9, 3)) for seed in (0, 1)]
    assert Paired.against(runs, "a").frame()["verdict"] == ["better"]
    assert Paired.against(runs, "b").frame()["verdict"] == ["worse"]


def test_markdown_by_hand() -> None:
    lines = Paired.against(RUNS, "erm").markdown().splitlines()
    assert lines[2] == "| toy | iw | erm | +30.0 | -97.1 to +157.1 | tie | 2 |"
    assert lines[3] == "| toy | mixup | erm | -20.0 | – | – | 1 |"


def test_the_figure_names_both_methods() -> None:
    (axes,) = Paired.against(RUNS, "erm").figure().axes
    assert [label.get_text() for label in axes.get_yticklabels()] == ["iw − erm", "mixup − erm"]
    assert "iw minus erm +30.0 (tie)" in Paired.against(RUNS, "erm").text


def test_a_baseline_must_have_been_run() -> None:
    assert baseline_of(RUNS, None) == "erm"
    assert baseline_of(RUNS, "iw") == "iw"
    with pytest.raises(UnknownNameError, match=r"No baseline named 'imw'. Did you mean 'iw'"):
        baseline_of(RUNS, "imw")
    assert not any(Paired.against(RUNS[2:], baseline_of(RUNS[2:], None)).frame().values())
