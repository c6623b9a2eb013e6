"""`rmix show` and `rmix report` as a user types them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from test_reports_summary import TWO, made

from rmix.cli import main
from rmix.experiment.result import Result


def keep(store: Path, results: list[Result]) -> None:
    """As the store keeps them."""
    for result in results:
        folder = store / "runs" / result.id
        folder.mkdir(parents=True)
        (folder / "config.json").write_text(json.dumps(result.config))
        (folder / "result.json").write_text(result.to_json())


@pytest.fixture
def store(tmp_path: Path) -> Path:
    names = ("toy-erm-s0-aa", "toy-erm-s1-ab", "toy-iw-s0-ac")
    chosen = {"rule": "worst_group", "epoch": 0, "value": 0.5}
    runs = [*(replace(run, selected=chosen) for run in TWO), made("iw", correct=None)]
    keep(tmp_path / "store", [replace(run, id=name) for run, name in zip(runs, names, strict=True)])
    return tmp_path / "store"


def said(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str, str]:
    code = main([str(word) for word in words])
    out, err = capsys.readouterr()
    return code, out, err


@pytest.mark.parametrize("how", ["id", "prefix", "folder", "file"])
def test_show_by_any_name(capsys, store, how):
    folder = store / "runs" / "toy-erm-s0-aa"
    word = {"id": folder.name, "prefix": "toy-erm-s0", "folder": folder, "file": folder / "result.json"}[how]
    code, out, _ = said(capsys, "show", word, "--store", store)
    assert code == 0
    for text in ("erm on toy, seed 0", "big", "0.900", "0.600 ← worst", "used for selection", "training.lr"):
        assert text in out


def test_show_takes_several_and_says_why_one_failed(capsys, store):
    code, out, _ = said(capsys, "show", "toy-erm", "toy-iw", "--store", store)
    assert code == 0
    assert [out.count(f"{m} on toy, seed") for m in ("erm", "iw")] == [2, 1]
    assert "failed. The loss became nan." in out


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["show", "tuy-erm-s0-aa"], "has an id that begins with 'tuy-erm-s0-aa'. Did you mean 'toy-erm-s0-aa'?"),
        (["show", "no/where"], "no/where is neither a run (it has no config.json) nor a store"),
        (["report", "--baseline", "igmix"], "No baseline named 'igmix'."),
    ],
)
def test_mistakes_get_one_sentence(capsys, store, words, sentence):
    code, out, err = said(capsys, *words, "--store", store)
    assert (code, out) == (2, "")
    assert sentence in err
    assert "Traceback" not in err


def test_an_unfinished_and_a_damaged_run_are_named(capsys, store):
    folder = store / "runs" / "toy-iw-s0-ac"
    (folder / "result.json").write_text("{")
    assert "is not a result of this version" in said(capsys, "show", folder)[2]
    (folder / "result.json").unlink()
    assert "has not ended" in said(capsys, "show", folder)[2]
    assert said(capsys, "show", "toy-", "--store", store)[0] == 0  # those that have ended
    assert "has not ended" in said(capsys, "show", "toy-iw", "--store", store)[2]
    assert said(capsys, "report", store)[0] == 0  # a store may hold runs that are under way


def test_an_empty_store_is_said(capsys, tmp_path):
    (tmp_path / "runs").mkdir()
    assert "There are no finished runs in" in said(capsys, "report", tmp_path)[2]


@pytest.mark.parametrize(
    ("name", "sign"),
    [
        ("r.html", "<!DOCTYPE html>"),
        ("r.md", "# Mine"),
        ("r.csv", "dataset,method,"),
        ("r.tex", "\\begin{tabular}"),
        ("r.txt", "Seeds"),
    ],
)
def test_the_ending_of_the_file_says_the_format(capsys, store, tmp_path, name, sign):
    code, out, _ = said(capsys, "report", store, "--out", tmp_path / "made" / name, "--title", "Mine")
    assert code == 0
    assert "report of 3 runs" in out
    assert sign in (tmp_path / "made" / name).read_text(encoding="utf-8")


def test_a_report_of_some_runs_to_the_terminal(capsys, store):
    out = said(capsys, "report", "toy-erm", "--store", store, "--format", "csv", "--table", "runs")[1]
    assert len(out.splitlines()) == 1 + 2 * 3
    shown = said(capsys, "report", "--store", store)[1]
    assert "73.3 ± 9.4" in shown
    assert "Test accuracy of each group" in shown


def test_show_needs_a_name(capsys, store):
    code, _, err = said(capsys, "show", "--store", store)
    assert (code, err) == (2, "rmix: Which run? Say: rmix show RUN...; rmix report shows all runs of a store.\n")


def test_a_file_that_cannot_be_written_is_named(capsys, store):
    code, _, err = said(capsys, "report", store, "--format", "csv", "--out", store)
    assert (code, err) == (2, f"rmix: {store} cannot be read or written (Is a directory).\n")
