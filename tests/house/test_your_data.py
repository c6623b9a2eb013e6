"""The page about your own data does what it says."""

import os
import shlex
from pathlib import Path

import pytest
from pages import ROOT, code_of, commands_of, files_of

from rmix.cli import main
from rmix.cli.train import Form, parse

PAGE = ROOT / "docs" / "your_data.md"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with the file that the page makes, and its configuration."""
    monkeypatch.chdir(tmp_path)
    exec(compile(code_of(PAGE), "your_data.md", "exec"), {})
    files_of(PAGE, tmp_path)
    return tmp_path


def test_every_command_runs(folder, capsys):
    said = {}
    for line in commands_of(PAGE, "bash"):
        program, *words = shlex.split(line)
        assert (program, main(words)) == ("rmix", 0), line
        said[line] = capsys.readouterr().out
    first, rmix, erm, oblivious, texts, folders, images, listed, card = said.values()
    assert "1 columns of numbers and 2 of categories make" in " ".join(first.split())
    assert "city=small, moved=yes" in first
    assert "Group labels were used for selection." in rmix
    assert "erm on table" in erm
    assert "Group labels were used for nothing." in oblivious
    assert "city=small, moved=no" in texts
    assert "class=circle, group=meadow" in folders
    assert "400 / 100 / 100 rows, 2 classes, 4 groups; no problem." in folders
    assert "rmix on images" in images
    assert "shape=circle, ground=meadow" in listed
    assert "male, toxic" in card
    made = {"people.csv", "people.toml", "shapes", "shapes.csv", "cache", "runs"}
    assert {path.name for path in folder.iterdir()} == made
    assert len(os.listdir(folder / "runs" / "runs")) == 4


def test_commands_that_need_weights_or_data_have_options_that_exist(folder):
    words = [shlex.split(line)[1:] for line in commands_of(PAGE, "console")]
    assert [command for command, *_ in words] == ["train", "train", "data"]
    config, _ = parse(words[0][1:], Form())
    assert (config.dataset.text, config.features.name) == ("note", "minilm")
    config, _ = parse(words[1][1:], Form())
    assert (config.dataset.file, config.features.side) == ("shapes", 64)
    assert main(words[2]) == 1  # there is no copy here, and it says so


def test_the_mistakes_of_the_page_are_said_as_written(folder, capsys):
    rows = Path("people.csv").read_text().splitlines()
    broken = rows.copy()
    cells = broken[16].split(",")
    broken[16] = ",".join([*cells[:2], "old", *cells[3:]])
    Path("people.csv").write_text("\n".join(broken))
    Path("test.csv").write_text("\n".join([*rows[:2], rows[2].rsplit(",", 1)[0] + ",maybe"]))
    Path("good.csv").write_text("\n".join(rows))
    train = ["train", "table", "erm", "--drop", "note", "--label", "moved", "--file"]
    errors = []
    for words in (
        [*train, "people.csv", "--label", "move"],
        [*train, "people.csv"],
        [*train, "good.csv", "--test-file", "test.csv"],
    ):
        assert main(words) == 2
        errors.append(capsys.readouterr().err.strip())
    Path("people.csv").write_bytes("\n".join(rows).encode().replace(b"pilot", b"pil\xe9t"))
    main([*train, "people.csv"])
    errors.append(capsys.readouterr().err.strip())
    assert errors == commands_of(PAGE, "text")
