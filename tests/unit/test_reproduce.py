"""The paper's tables beside ours: the right runs, the right numbers, and what was not run says so."""

from __future__ import annotations

from math import isnan

import pytest
from test_reports_summary import made

from rmix.cli import main
from rmix.cli.reproduce import FIGURES, TABLES
from rmix.experiment.config import config_from
from rmix.experiment.result import Result
from rmix.methods import METHODS
from rmix.metrics import GroupTable
from rmix.studies.paper import paper_cells, paper_tables
from rmix.studies.reproduce import QUICK, SHORT, Reproduction, cells_of, shortened
from rmix.studies.uncertainties import TwoSources


def run(dataset: str, method: str, correct: tuple[int, ...], seed: int = 0, **changes: object) -> Result:
    """90 and 10 training rows; two groups of 100 test rows."""
    test = GroupTable(correct, (100, 100), sum(correct), 200)
    return made(method, seed, dataset={"name": dataset}, test=test, train_counts=(90, 10), **changes)


def row(table: Reproduction, dataset: str, line: str, measure: str) -> dict[str, object]:
    frame = table.frame()
    places = list(zip(frame["dataset"], frame["line"], frame["measure"], strict=True))
    at = places.index((dataset, line, measure))
    return {name: column[at] for name, column in frame.items()}


def test_the_tables_are_the_papers() -> None:
    tables = paper_tables()
    assert set(tables) == set(TABLES)
    assert tables["group_aware"]["Ours"]["civilcomments"]["worst"] == 73.3
    assert tables["group_oblivious"]["JTT"]["waterbirds"]["worst_sd"] is None
    assert len(paper_cells("group_aware")) == 11 * 5
    for cells in map(paper_cells, tables):
        for cell in cells:
            numbers = cell.numbers
            if "gap" in numbers:  # the tables of the paper agree with themselves up to rounding
                assert numbers["average"] - numbers["worst"] == pytest.approx(numbers["gap"], abs=0.21), cell


@pytest.mark.parametrize("table", TABLES)
def test_every_line_of_a_table_is_one_of_our_methods(table: str) -> None:
    cells = cells_of(table)
    assert all(cell.method in METHODS for cell in cells)
    assert len({(cell.line, cell.dataset) for cell in cells}) == len(cells)


def test_the_interval_of_the_paper_by_hand() -> None:
    # 90.0 ± 1.1 of three seeds: 4.3027 * 1.1 / sqrt(3) = 2.7325, and 0.05 of rounding
    cell = next(c for c in paper_cells("group_oblivious") if (c.line, c.dataset) == ("Ours", "waterbirds"))
    assert cell.interval("worst") == pytest.approx((0.90 - 0.027325 - 0.0005, 0.90 + 0.027325 + 0.0005), abs=1e-5)
    # ten seeds of Camelyon17: 2.2622 * 5.9 / sqrt(10) = 4.2207
    far = next(c for c in paper_cells("group_oblivious") if (c.line, c.dataset) == ("Ours", "camelyon17"))
    assert far.interval("average")[1] == pytest.approx(0.751 + 0.042207 + 0.0005, abs=1e-5)
    assert isnan(far.estimate("worst").mean)


def test_ours_stand_beside_the_papers() -> None:
    table = Reproduction(
        "group_oblivious", [run("waterbirds", "rmix", (97, 91)), run("waterbirds", "rmix", (97, 85), 1)]
    )
    found = row(table, "waterbirds", "Ours", "worst")
    assert found["ours"] == pytest.approx(0.88)
    assert found["paper"] == pytest.approx(0.90)
    assert found["difference"] == pytest.approx(-0.02)
    assert (found["inside"], found["seeds"]) == (True, 2)
    outside = Reproduction("group_oblivious", [run("waterbirds", "rmix", (97, 80))])
    assert row(outside, "waterbirds", "Ours", "worst")["inside"] is False


def test_what_was_not_run_says_so() -> None:
    table = Reproduction("group_oblivious", [run("waterbirds", "rmix", (97, 91))])
    (erm,) = [r for r in table.table().rows if r[:3] == ("waterbirds", "ERM", "worst")]
    assert erm[3:] == ("not run", "63.7 ± 1.9", "–", "–", "0")
    assert row(table, "celeba", "Ours", "worst")["inside"] is None


def test_waterbirds_averages_are_compared_with_their_own_kind() -> None:
    # raw (90 + 50) / 200 = 0.70; weighted as in training 0.9 * 0.90 + 0.1 * 0.50 = 0.86
    runs = [run("waterbirds", method, (90, 50)) for method in ("erm", "rmix")]
    table = Reproduction("group_oblivious", [*runs, run("celeba", "erm", (90, 50))])
    assert row(table, "waterbirds", "ERM", "average")["ours"] == pytest.approx(0.86)
    assert row(table, "waterbirds", "ERM", "gap")["ours"] == pytest.approx(0.36)
    assert row(table, "waterbirds", "Ours", "average")["ours"] == pytest.approx(0.70)
    assert row(table, "celeba", "ERM", "average")["ours"] == pytest.approx(0.70)


def test_selection_tells_the_lines_of_validation_labels_apart() -> None:
    with_labels = run("celeba", "rmix", (99, 85))
    without = run("celeba", "rmix", (99, 70), id="other", config=with_labels.config | {"selection": "average"})
    table = Reproduction("validation_labels", [with_labels, without])
    assert row(table, "celeba", "with", "worst")["ours"] == pytest.approx(0.85)
    assert row(table, "celeba", "without", "worst")["ours"] == pytest.approx(0.70)
    cells = {(cell.line, cell.selection) for cell in cells_of("validation_labels")}
    assert cells == {("with", "worst_group"), ("without", "average")}


def test_failed_runs_are_not_counted() -> None:
    failed = made("rmix", dataset={"name": "celeba"}, correct=None)
    assert row(Reproduction("group_oblivious", [failed]), "celeba", "Ours", "worst")["seeds"] == 0


def test_the_figure_shows_every_data_set() -> None:
    figure = Reproduction("ablation", [run("celeba", "rmix", (99, 85))]).figure()
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["waterbirds", "celeba", "civilcomments"]
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()][-1] == "Ours/aware"


@pytest.mark.parametrize("method", METHODS)
def test_every_method_can_be_shortened(method: str) -> None:
    short = shortened(config_from({"dataset": "digits", "method": method}))
    assert (short.training.epochs, short.first.epochs) == (2, 2)


def _uncertain(ensemble: int, counts: list[list[int]]) -> Result:
    described = {"main": {"uncertainty": {"values": [0.0, 1.0], "counts": counts}}}
    return made("rmix", settings={"ensemble": ensemble}, described=described)


def test_two_sources_are_told_apart() -> None:
    both = TwoSources([_uncertain(0, [[9, 1], [1, 3]]), _uncertain(5, [[10, 0], [2, 2]])])
    assert both.means["one trajectory"] == {"big": 0.1, "small": 0.75}
    assert both.means["ensemble"] == {"big": 0.0, "small": 0.5}
    assert "From ensemble: big 0.00; small 0.50." in both.text
    frame = both.frame()
    assert frame["source"] == ["one trajectory"] * 4 + ["ensemble"] * 3
    assert len(both.figure().axes) == 4


@pytest.mark.slow
def test_a_smoke_run_of_a_table(capsys, tmp_path):
    words = ["reproduce", "validation_labels", "--smoke", "--seeds", "1", "--out", str(tmp_path / "o")]
    assert main(words) == 0
    out = capsys.readouterr().out
    assert "made up" in out
    assert "not run" not in out
    text = (tmp_path / "o" / "validation_labels.md").read_text()
    assert "| celeba | without | worst |" in text
    assert len((tmp_path / "o" / "validation_labels.csv").read_text().splitlines()) == 1 + 2 * 2 * 3
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "o").rglob("result.json")}
    assert main(words) == 0
    assert {path: path.stat().st_mtime_ns for path in before} == before  # nothing is trained again
    assert len(before) == 4


@pytest.mark.parametrize("name", FIGURES)
def test_a_smoke_run_of_a_figure(name, capsys, tmp_path):
    dataset = "moons" if name == "ensemble" else "waterbirds"
    words = ["reproduce", name, "--smoke", "--seeds", "1", "--datasets", dataset, "--out", str(tmp_path)]
    assert main(words) == 0
    assert (tmp_path / f"{name}-{dataset}.svg").read_text().startswith("<svg role=")
    assert len((tmp_path / f"{name}-{dataset}.csv").read_text().splitlines()) > 4


def test_a_cell_that_fails_is_said_and_stops_no_other(capsys, tmp_path, monkeypatch):
    monkeypatch.setitem(SHORT, "eta", -1.0)
    words = ["reproduce", "group_oblivious", "--smoke", "--seeds", "1", "--datasets", "waterbirds"]
    assert main([*words, "--methods", "erm", "rmix", "--out", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert "Not run: " in out
    assert "eta" in out


def test_runs_that_failed_are_said_and_end_in_an_error(capsys, tmp_path, monkeypatch):
    monkeypatch.setitem(QUICK, "lr", 1e30)
    words = ["reproduce", "validation_labels", "--smoke", "--seeds", "1", "--datasets", "waterbirds"]
    assert main([*words, "--out", str(tmp_path)]) == 1
    assert "Failed: waterbirds rmix, seed 0: The loss became" in capsys.readouterr().out


def test_data_that_are_not_there_are_said(capsys, tmp_path):
    assert main(["reproduce", "group_oblivious", "--root", str(tmp_path), "--out", str(tmp_path / "o")]) == 0
    out = capsys.readouterr().out
    assert "not run" in out
    assert "Not run: " in out
    assert not list((tmp_path / "o").rglob("result.json"))


def test_a_misspelt_name_gets_a_suggestion(capsys):
    assert main(["reproduce", "group_awear"]) == 2
    assert "No table or figure of the paper named 'group_awear'. Did you mean 'group_aware'?" in capsys.readouterr().err
