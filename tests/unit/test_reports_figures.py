"""The numbers behind the figures, and that figures can be drawn from anything."""

from __future__ import annotations

from math import isnan, sqrt
from typing import Any

import matplotlib
import numpy as np
import pytest
from test_reports_summary import made, ungrouped

from rmix.errors import InvalidValueError
from rmix.experiment.result import Result
from rmix.reports import Boundary, Curves, Picture, TrainAccuracy, UncertaintyDensity
from rmix.reports.style import GROUPS, METHODS, group_looks, looks, method_looks
from rmix.reports.uncertainty import GRID, density


def epoch(*correct: int) -> dict[str, Any]:
    table = {"correct": correct, "total": (10, 5), "rows_correct": sum(correct), "rows": 15}
    return {"loss": 1.0, "valid": table}


def history(*epochs: tuple[int, int]) -> dict[str, Any]:
    return {"notes": [epoch(0, 0)], "main": [epoch(*correct) for correct in epochs]}


def noted(seed: int, small_right: int, counts: list[list[int]]) -> Result:
    """A run whose first stage took notes for two epochs."""
    described = {
        "notes": {"train_correct": [[15, 0], [30, small_right]], "train_total": [30, 10]},
        "main": {"uncertainty": {"values": [0.0, 0.5, 1.0], "counts": counts}},
    }
    return made("rmix", seed, described=described, history=history((9, 3)))


def surfaced(chance: list[list[float]], **changes: Any) -> Result:
    surface = {"x": [0.0, 1.0, 2.0], "y": [0.0, 1.0], "chance": chance}
    return made(surface=surface, **changes)


RIGHT = [[0.1, 0.4, 0.9], [0.2, 0.6, 0.8]]
NOTED = [noted(0, 4, [[20, 10, 0], [1, 2, 7]]), noted(1, 8, [[30, 0, 0], [0, 0, 10]])]


def test_curves_follow_the_worst_group_of_each_seed() -> None:
    runs = [made(history=history((9, 3), (6, 5))), made(seed=1, history=history((2, 4), (10, 4)))]
    frame = Curves(runs).frame()
    assert frame["method"] == ["erm", "erm"]
    assert frame["epoch"] == [1, 2]
    assert frame["mean"] == pytest.approx([(0.6 + 0.2) / 2, (0.6 + 0.8) / 2])
    assert frame["std"] == pytest.approx([0.4 / sqrt(2), 0.2 / sqrt(2)])
    assert frame["seeds"] == [2, 2]


def test_curves_of_one_seed_have_no_spread() -> None:
    assert isnan(Curves([made(history=history((9, 3)))]).frame()["std"][0])


def test_curves_without_groups_follow_the_average() -> None:
    valid = {"correct": (), "total": (), "rows_correct": 7, "rows": 10}
    result = ungrouped()
    result.history["main"] = [{"valid": valid}]
    curves = Curves([result])
    assert curves.frame()["mean"] == [0.7]
    assert curves.title == "Average accuracy along training"


def test_a_failed_run_leaves_no_curve() -> None:
    assert Curves([made(correct=None, history=history((9, 3)))]).frame()["epoch"] == []


def test_curves_say_in_words_where_each_method_ends() -> None:
    assert "erm ends at 60.0 %" in Curves([made(history=history((9, 1), (9, 3)))]).text


def test_training_accuracy_by_group() -> None:
    frame = TrainAccuracy(NOTED).frame()
    assert frame["group"] == ["big", "big", "small", "small"]
    assert frame["mean"] == pytest.approx([0.5, 1.0, 0.0, 0.6])  # (4 + 8) / 2 of 10 in the last epoch
    assert frame["std"] == pytest.approx([0, 0, 0, 0.4 / sqrt(2)])


def test_a_group_without_training_rows_has_no_line() -> None:
    result = noted(0, 0, [[1, 0, 0], [0, 0, 0]])
    result.described["notes"]["train_total"] = [30, 0]
    assert set(TrainAccuracy([result]).frame()["group"]) == {"big"}


def test_uncertainty_adds_up_over_seeds() -> None:
    frame = UncertaintyDensity(NOTED).frame()
    rows = list(zip(frame["group"], frame["uncertainty"], frame["rows"], strict=True))
    assert rows == [("big", 0.0, 50), ("big", 0.5, 10), ("small", 0.0, 1), ("small", 0.5, 2), ("small", 1.0, 17)]
    assert frame["share"] == pytest.approx([50 / 60, 10 / 60, 0.05, 0.1, 0.85])


def test_uncertainty_in_words() -> None:
    # small: (2 * 0.5 + 17) / 20 = 0.9; big: 10 * 0.5 / 60 = 0.083
    assert UncertaintyDensity(NOTED).text.endswith("Mean uncertainty: big 0.08; small 0.90.")


@pytest.mark.parametrize("rows", [{0.0: 3}, {1.0: 1}, {0.5: 2}, {0.0: 5, 0.02: 1, 1.0: 9}])
def test_densities_keep_all_their_mass_between_0_and_1(rows: dict[float, int]) -> None:
    assert np.trapezoid(density(rows), GRID) == pytest.approx(1, abs=1e-3)


def test_density_is_highest_where_the_rows_are() -> None:
    assert GRID[density({0.25: 9, 0.75: 1}).argmax()] == pytest.approx(0.25)


def test_boundary_gives_the_grid_of_the_first_finished_seed() -> None:
    failed = made(correct=None, surface=None)
    frame = Boundary([failed, surfaced(RIGHT, seed=1), surfaced([[0.0] * 3] * 2, seed=2)]).frame()
    assert frame["seed"] == [1] * 6
    assert frame["x"] == [0, 1, 2, 0, 1, 2]
    assert frame["y"] == [0, 0, 0, 1, 1, 1]
    assert frame["chance"] == [0.1, 0.4, 0.9, 0.2, 0.6, 0.8]


def test_boundary_draws_no_points_of_data_other_than_that_of_the_run() -> None:
    moons = {"dataset": {"name": "moons"}, "environment": {"data": "another checksum"}}
    assert Boundary([surfaced(RIGHT, **moons)]).clouds == []
    assert Boundary([surfaced(RIGHT)]).clouds == []  # no data set is called toy


def test_boundary_draws_the_points_of_the_run_with_small_groups_last() -> None:
    from rmix.datasets import FourMoons

    sizes = [3, 40, 5, 20]
    checksum = FourMoons(sizes=tuple(sizes)).load().checksum
    moons = {"dataset": {"name": "moons", "sizes": sizes}, "environment": {"data": checksum}}
    clouds = Boundary([surfaced(RIGHT, **moons)]).clouds
    assert [len(cloud.x) for cloud in clouds] == [40, 20, 5, 3]
    assert [cloud.small for cloud in clouds] == [False, False, True, True]  # below a quarter of 40
    assert clouds[0].label == "right, opens up (40)"


@pytest.mark.parametrize(
    ("picture", "panels"),
    [
        (Curves([made(history=history((9, 3))), made("iw", history=history((9, 3), (9, 4)))]), 2),
        (TrainAccuracy(NOTED), 1),
        (UncertaintyDensity([noted(0, 4, [[1, 0, 0], [0, 0, 0]])]), 2),  # one value only, and no rows at all
        (Boundary([surfaced(RIGHT), surfaced([[0.9] * 3] * 2, method="iw")]), 2),  # one predicts one class everywhere
    ],
)
def test_figures_can_be_drawn(picture: Picture, panels: int) -> None:
    figure = picture.figure()
    figure.draw_without_rendering()
    assert sum(axes.get_visible() for axes in figure.axes) == panels
    assert picture.title
    assert picture.caption
    assert picture.text


@pytest.mark.parametrize("picture", [Curves([]), TrainAccuracy([made()]), UncertaintyDensity([]), Boundary([made()])])
def test_a_figure_without_numbers_is_refused(picture: Picture) -> None:
    assert not any(picture.frame().values())
    with pytest.raises(InvalidValueError, match="no numbers"):
        picture.figure()


def test_the_users_matplotlib_settings_neither_matter_nor_change() -> None:
    with matplotlib.rc_context({"axes.linewidth": 7.0, "font.size": 31.0}):
        figure = Curves([made(history=history((9, 3)))]).figure()
        assert matplotlib.rcParams["font.size"] == 31.0
    assert figure.axes[0].title.get_fontsize() == 9
    assert figure.axes[0].spines["left"].get_linewidth() == 0.8


def test_a_dollar_sign_in_a_name_is_no_formula() -> None:
    figure = Curves([made(method=r"a$\nosuchsymbol$", history=history((9, 3)))]).figure()
    figure.draw_without_rendering()  # reading it as a formula would raise


def test_a_look_is_never_used_twice() -> None:
    names = [str(i) for i in range(3 * len(METHODS))]
    assert len(set(looks(names, METHODS).values())) == len(names)
    assert group_looks(names)["0"] == (GROUPS[0], "solid")


def test_a_method_keeps_its_look_on_every_data_set() -> None:
    other = {"dataset": {"name": "other"}}
    found = method_looks([made("erm"), made("iw"), made("iw", **other), made("erm", **other)])
    assert found == {"erm": (METHODS[0], "solid"), "iw": (METHODS[1], "solid")}
