"""The table, against arithmetic by hand."""

from __future__ import annotations

from math import isnan, sqrt
from typing import Any

import pytest
from rich.console import Console

from rmix.experiment.result import Result
from rmix.metrics import GroupTable
from rmix.reports import Summary
from rmix.reports.estimate import Estimate

GROUPS = ("big", "small")


def made(method: str = "erm", seed: int = 0, correct: tuple[int, ...] | None = (9, 3), **changes: Any) -> Result:
    """A result of two groups, 10 and 5 rows in test, 30 and 10 in training; ``correct=None`` is a failed run."""
    settings = changes.pop("settings", {})
    dataset = changes.pop("dataset", {"name": "toy"})
    test = None if correct is None else GroupTable(correct, (10, 5), sum(correct), 15)
    fields: dict[str, Any] = {
        "id": f"{dataset}-{method}-{settings}-{seed}",
        "config": {
            "dataset": dataset,
            "method": {"name": method, **settings},
            "training": {"lr": 0.1},
            "selection": "worst_group",
            "seed": seed,
        },
        "class_names": ("no", "yes"),
        "group_names": GROUPS,
        "train_counts": (30, 10),
        "groups_used": {"fit": method == "iw", "select": True},
        "history": {},
        "selected": {},
        "test": test,
        "failure": None if test else "The loss became nan.",
    }
    return Result(**fields | changes)


def ungrouped(seed: int = 0, right: int = 6) -> Result:
    """A result on data without groups."""
    nothing = {"group_names": (), "train_counts": None, "groups_used": {"fit": False, "select": False}}
    return made(seed=seed, test=GroupTable((), (), right, 10), **nothing)


# Seed 0: groups 9/10 and 3/5, all 12/15. Seed 1: groups 5/10 and 5/5, all 10/15.
TWO = [made(seed=0, correct=(9, 3)), made(seed=1, correct=(5, 5))]


def row(results: list[Result], at: int = 0) -> dict[str, Any]:
    return {name: column[at] for name, column in Summary(results).frame().items()}


def test_frame_by_hand() -> None:
    found = row(TWO)
    assert found["average"] == pytest.approx((12 / 15 + 10 / 15) / 2)
    assert found["average_std"] == pytest.approx((2 / 15) / sqrt(2))
    # Training shares are 3/4 and 1/4: 0.75 * 0.9 + 0.25 * 0.6 = 0.825 and 0.75 * 0.5 + 0.25 * 1.0 = 0.625.
    assert found["adjusted_average"] == pytest.approx(0.725)
    assert found["adjusted_average_std"] == pytest.approx(0.2 / sqrt(2))
    assert found["worst"] == pytest.approx(0.55)  # 0.6 and 0.5, of different groups
    assert found["worst_std"] == pytest.approx(0.1 / sqrt(2))
    # Student's t at 97.5 % and one degree of freedom is 12.706: 0.55 ± 12.706 * (0.1 / sqrt(2)) / sqrt(2)
    assert (found["worst_low"], found["worst_high"]) == pytest.approx((0.55 - 0.6353, 0.55 + 0.6353), abs=1e-4)
    assert found["gap"] == pytest.approx(((0.8 - 0.6) + (10 / 15 - 0.5)) / 2)
    assert (found["groups_fit"], found["groups_select"], found["seeds"], found["failed"]) == ("no", "yes", 2, 0)


NUMBERS = "73.3 ± 9.4 | 72.5 ± 14.1 | 55.0 ± 7.1, big | -8.5 to 118.5 | 18.3 ± 2.4"


def test_markdown_by_hand() -> None:
    lines = Summary(TWO).markdown().splitlines()
    assert lines[2] == "| toy | erm | no | yes | " + NUMBERS + " | 2 |"
    assert [line.count("|") for line in lines] == [11, 11, 11]


def test_name_of_the_group_most_often_worst() -> None:
    assert row(TWO)["worst_group"] == "big"  # one each: the first of equals
    assert row([*TWO, made(seed=2, correct=(10, 4))])["worst_group"] == "small"  # two of three


def test_one_seed_has_no_spread() -> None:
    found = Summary([made()])
    assert "±" not in found.markdown()
    assert "| 80.0 |" in found.markdown()
    assert isnan(found.frame()["worst_std"][0])


def test_failed_runs_are_counted_and_in_no_mean() -> None:
    found = Summary([*TWO, made(seed=2, correct=None)])
    assert found.frame()["failed"] == [1]
    assert found.frame()["worst"] == Summary(TWO).frame()["worst"]
    assert found.markdown().endswith("| 2 (1 failed) |\n")


def test_a_method_that_only_failed_keeps_its_row() -> None:
    found = Summary([made("iw", correct=None)])
    assert found.markdown().splitlines()[2] == "| toy | iw | yes | yes | – | – | – | – | – | 0 (1 failed) |"


def test_without_groups_only_the_average_is_known() -> None:
    line = Summary([ungrouped(0, 6), ungrouped(1, 8)]).markdown().splitlines()[2]
    assert line == "| toy | erm | no | no | 70.0 ± 14.1 | – | – | – | – | 2 |"


def test_order_is_that_of_the_results() -> None:
    results = [made("rmix"), made("erm"), made("rmix", seed=1), made("erm", dataset={"name": "other"})]
    frame = Summary(results).frame()
    assert list(zip(frame["dataset"], frame["method"], strict=True)) == [
        ("toy", "rmix"),
        ("toy", "erm"),
        ("other", "erm"),
    ]
    assert frame["seeds"] == [2, 1, 1]


def test_the_same_run_twice_counts_once() -> None:
    assert Summary([*TWO, *TWO]).frame() == Summary(TWO).frame()


def test_methods_that_differ_in_settings_are_told_apart() -> None:
    results = [made("rmix", settings={"eta": eta, "alpha": 0.5}) for eta in (5.0, 20.0)]
    assert Summary([*results, made("erm")]).frame()["method"] == ["rmix (eta=5.0)", "rmix (eta=20.0)", "erm"]


def test_settings_of_training_tell_methods_apart_too() -> None:
    slow = made(id="slow", config=made().config | {"training": {"lr": 0.01}})
    assert Summary([made(), slow]).frame()["method"] == ["erm (training.lr=0.1)", "erm (training.lr=0.01)"]


def test_the_same_setting_on_another_data_set_is_not_a_difference() -> None:
    results = [made("rmix", settings={"eta": 5.0}), made("rmix", settings={"eta": 9.0}, dataset={"name": "other"})]
    assert Summary(results).frame()["method"] == ["rmix", "rmix"]


def test_data_sets_of_one_name_are_told_apart() -> None:
    results = [made(dataset={"name": "toy", "noise": noise}) for noise in (0.1, 0.3)]
    assert Summary(results).frame()["dataset"] == ["toy (noise=0.1)", "toy (noise=0.3)"]


def test_markdown_keeps_names_inside_their_cell() -> None:
    assert "| a\\|b &lt;i&gt; &amp; c |".replace("&gt;", ">") in Summary([made("a|b <i> & c")]).markdown()


def test_terminal_table_fits_in_eighty_columns_and_shows_brackets() -> None:
    console = Console(width=80)
    with console.capture() as captured:
        console.print(Summary([*TWO, made("[bold]x"), made(seed=2, correct=None)]).rich())
    shown = captured.get()
    for text in ("73.3 ± 9.4", "72.5 ± 14.1", "55.0 ± 7.1", "-8.5 to 118.5", "big", "18.3 ± 2.4", "[bold]x", "Seeds"):
        assert text in shown
    assert "(1" in shown
    assert "failed)" in shown
    assert "…" not in shown
    assert max(map(len, shown.splitlines())) <= 80


def test_an_unknown_value_makes_the_mean_unknown() -> None:
    assert Estimate.of([0.5, float("nan")]).text == "–"


def test_zero_is_never_negative() -> None:
    assert Estimate.of([-0.0]).text == "0.0"
