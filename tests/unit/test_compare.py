"""`rmix compare`: what is planned, what is said, and what is shown meanwhile."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console
from test_cli import FAST, said
from toys import SMALL_MOONS, TWO_STAGES, bundle_of, small, split_of

from rmix.cli.follow import View, follow
from rmix.errors import DataError, InvalidValueError, UnknownNameError
from rmix.experiment.config import config_from
from rmix.experiment.events import EventLog
from rmix.experiment.store import Store
from rmix.methods import METHODS, RMix
from rmix.studies import Grid
from rmix.studies.plan import fitting, seeds_from, with_methods
from rmix.studies.watch import Running, Watch
from rmix.training.callbacks import Moment

BASE = config_from({"dataset": "moons", "training": {"epochs": 2}})
HIDDEN = bundle_of(train=split_of([0, 1, 0, 1]))


def test_methods_come_with_the_recipe_of_the_data_set() -> None:
    erm, jtt, rmix = with_methods(BASE, ["erm", "jtt", "rmix", "erm"])
    assert (erm.method.name, jtt.method, rmix.method) == (
        "erm", config_from({"dataset": "moons", "method": "jtt"}).method, RMix(eta=50.0, mix_prob=0.5, alpha=0.5)
    )  # fmt: skip
    assert all(config.training == BASE.training for config in (erm, jtt, rmix))


def test_a_method_of_the_file_keeps_its_settings() -> None:
    base = config_from({"dataset": "moons", "method": {"name": "rmix", "eta": 3.0}})
    (kept, given) = with_methods(base, ["rmix", RMix(eta=4.0)])
    assert (kept.method.eta, given.method.eta) == (3.0, 4.0)  # type: ignore[attr-defined]


def test_all_is_every_method() -> None:
    assert [config.method.name for config in with_methods(BASE, ["all"])] == list(METHODS)
    with pytest.raises(UnknownNameError, match=r"No method named 'rmxi'. Did you mean 'rmix'"):
        with_methods(BASE, ["erm", "rmxi"])


def test_seeds_are_counted_from_the_first() -> None:
    assert list(seeds_from(0, 2)) == [0, 1]
    with pytest.raises(InvalidValueError, match="seeds must be >= 1, got 0"):
        seeds_from(0, 0)


def test_methods_that_need_groups_are_left_out_where_there_are_none() -> None:
    erm, dro = with_methods(BASE, ["erm", "group_dro"])
    assert fitting([erm, dro], bundle_of()) == ([erm, dro], [])
    note = "group_dro is left out: it reads group labels in training, which toy has not."
    assert fitting([erm, dro], HIDDEN) == ([erm], [note])
    with pytest.raises(InvalidValueError, match=f"No method is left. {note}"):
        fitting([dro], HIDDEN)


def test_selection_by_groups_that_are_not_there_is_refused_before_training() -> None:
    blind = bundle_of(train=split_of([0, 1]), valid=split_of([0, 1]))
    with pytest.raises(DataError, match="use --selection average or last"):
        fitting([BASE], blind)
    average = replace(BASE, selection="average")
    assert fitting([average], blind) == ([average], [])


def write(log: EventLog, epoch: int) -> None:
    valid = {"correct": [3, 1], "total": [4, 4], "rows_correct": 4, "rows": 8}
    log.on_epoch(Moment("main", epoch, 8), {"epoch": epoch, "loss": 0.5, "valid": valid})


def test_what_runs_is_told_by_its_events(tmp_path: Path) -> None:
    store = Store(tmp_path)
    for run in ("old", "new", "idle", "gone"):
        store.folder(run).mkdir()
    write(EventLog(store.folder("old")), 3)
    watch = Watch(store, ["old", "new", "idle", "gone"])
    assert watch.running(["old", "new", "idle"]) == []  # killed long ago; not begun
    log = EventLog(store.folder("new"))
    log.on_start(None)
    assert watch.running(["old", "new"]) == [Running("new", None)]
    log.on_stage(Moment("notes", 0, 5), reused=False)
    assert watch.running(["new"]) == [Running("new", "notes", 0, 5)]
    for epoch in range(40):
        write(log, epoch)
    with log.path.open("a") as file:
        file.write('{"time": 1, "event": "ep')  # seen while it is being written
    (running,) = watch.running(["new"])
    assert running == Running("new", "main", 40, 8, 0.25, "worst")
    gone = EventLog(store.folder("gone"))
    gone.on_start(None)
    gone.on_end(None)
    assert watch.running(["gone"]) == []


def test_an_epoch_without_groups_shows_its_average(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.folder("run").mkdir()
    watch = Watch(store, ["run"])
    valid = {"correct": [], "total": [], "rows_correct": 3, "rows": 4}
    EventLog(store.folder("run")).on_epoch(Moment("main", 1, 4), {"epoch": 0, "loss": 0.5, "valid": valid})
    assert watch.running(["run"]) == [Running("run", "main", 1, 4, 0.75, "average")]
    assert Running("run", "main", 1, 4, 0.75).share == 0.25


def test_each_run_has_a_line_and_all_have_a_bar(tmp_path: Path) -> None:
    grid = Grid([small(), small(TWO_STAGES)], tmp_path)
    view = View(grid)
    for run in grid.runs:
        grid.store.folder(run).mkdir()
    EventLog(grid.store.folder(grid.runs[0])).on_start(None)
    write(EventLog(grid.store.folder(grid.runs[1])), 3)
    console = Console(file=io.StringIO(), width=100)
    console.print(view.render())
    lines = console.file.getvalue().splitlines()  # type: ignore[attr-defined]
    assert lines[0].split() == ["erm,", "seed", "0", "begins"]
    assert lines[1].split() == ["rmix,", "seed", "0", "stage", "main", "epoch", "4/8", "validation", "worst", "0.250"]
    assert "0 of 2 runs, " in lines[2]


def test_time_left_is_of_what_was_not_done_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One of four had ended; one more took 60 s, so the two that are left take 120 s."""
    list(Grid([small()], tmp_path).train())
    now = [1000.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    grid = Grid([small(seed=seed) for seed in range(4)], tmp_path)
    view = View(grid)
    grid.ended[grid.runs[1]] = grid.ended[grid.runs[0]]
    now[0] += 60
    assert view.headline() == "2 of 4 runs, 2 min left"
    assert view.headline(underway=1.0) == "2 of 4 runs, 30 s left"


def test_without_a_terminal_there_are_plain_lines(tmp_path: Path) -> None:
    console = Console(file=io.StringIO(), width=200)
    follow(Grid([small(), small(selection="last", method=RMix(window=9))], tmp_path), console)
    first, second = console.file.getvalue().splitlines()  # type: ignore[attr-defined]
    assert first.startswith("1 of 2 runs, ")
    assert "left: erm, seed 0: worst_group 0." in first
    assert second.startswith("2 of 2 runs: rmix, seed 0 failed: The window of 9 epochs from epoch 0")
    assert "\x1b" not in console.file.getvalue()  # type: ignore[attr-defined]


def test_on_a_terminal_the_lines_move(tmp_path: Path) -> None:
    console = Console(file=io.StringIO(), width=100, force_terminal=True)
    follow(Grid([small()], tmp_path), console)
    assert "of 1 runs" in console.file.getvalue()  # type: ignore[attr-defined]


COMPARE = ["compare", "moons", *FAST, "--jobs", "1", "--seeds", "2"]


def test_compare_ends_in_a_table_and_a_page(capsys, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    words = [*COMPARE, "--methods", "erm", "rmix", "--out", str(tmp_path / "runs")]
    code, out, err = said(capsys, *words)
    assert code == 0, err
    assert "4 of 4 runs: rmix, seed 1: worst_group 0." in out
    assert "Report with figures:" in out
    assert "<svg" in (tmp_path / "runs" / "report.html").read_text()
    results = [json.loads(path.read_text()) for path in (tmp_path / "runs").glob("runs/*/result.json")]
    assert sorted((r["config"]["method"]["name"], r["config"]["seed"]) for r in results) == [
        ("erm", 0), ("erm", 1), ("rmix", 0), ("rmix", 1)
    ]  # fmt: skip
    assert all(r["config"]["training"]["epochs"] == 2 for r in results)
    page = tmp_path / "runs" / "report.html"
    written = page.read_bytes()
    page.write_text("as it was")
    code, out, _ = said(capsys, *words)
    assert code == 0
    assert "All 4 runs had ended before; here they are." in out
    assert page.read_text() == "as it was"  # drawn once
    said(capsys, *words[:-4], "erm", "--out", str(tmp_path / "runs"))
    assert page.read_text().count("<svg")  # other results, another page
    said(capsys, *words)
    assert page.read_bytes() == written


def test_a_failure_is_said_at_the_end_with_exit_code_1(capsys, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    code, out, _ = said(capsys, *COMPARE, "--methods", "jtt", "erm", "--out", str(tmp_path))
    assert code == 1
    flat = " ".join(out.split())
    assert flat.endswith(
        "jtt, seed 0 failed: epoch (T) must be at most 2, the epochs of the first stage; got 3 (jtt) "
        "jtt, seed 1 failed: epoch (T) must be at most 2, the epochs of the first stage; got 3 (jtt) "
        "The same command tries failed runs again."
    )
    assert "(2 failed)" in flat


@pytest.mark.parametrize(("words", "sentence"), [
    (["compare"], "Which data set? Say: rmix compare DATASET, or name it in --config."),
    (["compare", "moons", "erm"], "rmix compare takes DATASET, got 'moons erm'."),
    (["compare", "moons", "--methods", "ermm"], "No method named 'ermm'. Did you mean 'erm'?"),
    (["compare", "moons", "--executor", "dask"], "--executor dask needs --scheduler ADDRESS"),
    (["compare", "moons", "--scheduler", "tcp://x:1"], "--scheduler is for --executor dask."),
    (["compare", "moons", "--jobs", "-1"], "jobs must be >= 0 (0 = one a core), got -1"),
])  # fmt: skip
def test_mistakes_get_one_sentence(capsys, words, sentence, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    code, _, err = said(capsys, *words, "--out", str(tmp_path / "out"))
    assert code == 2
    assert sentence in err
    assert not (tmp_path / "out" / "runs").exists() or not list((tmp_path / "out" / "runs").iterdir())


def test_the_data_set_of_a_comparison_has_its_options(capsys, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    said(capsys, *COMPARE, "--methods", "erm", "--selection", "average", "--out", str(tmp_path))
    (path, _) = sorted(tmp_path.glob("runs/*/config.json"))
    config = json.loads(path.read_text())
    assert config["dataset"]["sizes"] == [40, 40, 4, 4]
    assert config["selection"] == "average"
    assert SMALL_MOONS.sizes != (40, 40, 4, 4)
