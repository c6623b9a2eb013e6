"""Settings of a data set under short names, on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rmix.cli import main
from rmix.cli.dataset_options import as_it_is, gathered, short
from rmix.cli.train import Form, parse
from rmix.datasets import FourMoons, Table


@pytest.fixture
def file(tmp_path):
    rows = [f"{i % 2},{i % 7},{'FM'[i % 3 == 0]},{'AB'[i % 5 == 0]}" for i in range(120)]
    (tmp_path / "t.csv").write_text("\n".join(["y,age,sex,race", *rows]))
    return str(tmp_path / "t.csv")


def test_short_and_long_names_are_the_same_setting():
    short_form, _ = parse(["moons", "erm", "--sizes", "9", "9", "2", "2", "--noise", "0.1"], Form())
    long_form, _ = parse(["moons", "erm", "--dataset.sizes", "9", "9", "2", "2", "--dataset.noise=0.1"], Form())
    assert short_form == long_form
    assert short_form.dataset == FourMoons(sizes=(9, 9, 2, 2), noise=0.1)
    assert type(short_form.dataset) is FourMoons


def test_a_name_that_something_else_has_stays_long():
    config, _ = parse(["moons", "erm", "--seed", "3", "--dataset.seed", "4"], Form())
    assert (config.seed, config.dataset.seed) == (3, 4)
    config, _ = parse(["table", "rmix", "--drop", "a", "--alpha", "0.7"], Form())
    assert (config.dataset.drop, config.method.alpha) == (("a",), 0.7)


def test_a_setting_of_several_values_may_be_said_several_times():
    words = ["--group=sex", "--lr", "0.5", "--dataset.group", "race", "--label", "y"]
    assert gathered(Table(), words) == ["--lr", "0.5", "--label", "y", "--group", "sex", "--dataset.group", "race"]
    for said in (["--group", "sex", "--group", "race"], ["--group", "sex", "race"], ["--group=sex", "--group=race"]):
        assert parse(["table", "erm", *said], Form())[0].dataset.group == ("sex", "race")


def test_short_undone():
    table = Table(file="a.csv", group=("b",))
    assert as_it_is(short(table, {"seed"})) == table


@pytest.mark.parametrize(("group", "rule"), [([], "average"), (["--group", "sex"], "worst_group")])
def test_selection_goes_by_what_was_named(group, rule):
    assert parse(["table", "erm", "--label", "y", *group], Form())[0].selection == rule
    assert parse(["table", "erm", *group, "--selection", "last"], Form())[0].selection == "last"


def test_a_table_is_trained_from_the_command_line(file, tmp_path, capsys):
    out = tmp_path / "runs"
    words = ["train", "table", "group_dro", "--file", file, "--label", "y", "--group", "sex", "--group", "y"]
    assert main([*words, "--epochs", "1", "--out", str(out)]) == 0
    shown = capsys.readouterr().out
    assert "sex=F, y=0" in shown
    assert "fitting and selection" in shown
    config = json.loads(next(out.glob("runs/*/config.json")).read_text())
    assert config["dataset"]["group"] == ["sex", "y"]


def test_groups_that_are_known_in_the_test_alone(file, tmp_path, capsys):
    """Nobody knows the shares of training then, by which an adjusted average would weigh."""
    rows = [line.rsplit(",", 2)[0] for line in Path(file).read_text().splitlines()]
    (tmp_path / "train.csv").write_text("\n".join(rows))
    words = ["--file", str(tmp_path / "train.csv"), "--test-file", file, "--label", "y", "--group", "sex"]
    words = ["train", "table", "erm", *words, "--epochs", "1", "--out", str(tmp_path / "runs")]
    assert main(words) == 2
    assert "use selection 'average' or 'last'" in capsys.readouterr().err
    assert main([*words, "--selection", "average"]) == 0
    shown = capsys.readouterr().out
    assert "· worst group" in shown
    assert "adjusted" not in shown
    assert "Group labels were used for nothing." in shown


def test_mistakes_get_one_sentence(file, tmp_path, capsys):
    words = ["train", "table", "erm", "--file", file, "--label", "why", "--out", str(tmp_path / "runs")]
    assert main(words) == 2
    assert capsys.readouterr().err == (
        f"rmix: {file} has no column 'why'. Did you mean 'y'? Columns: y, age, sex, race.\n"
    )
    assert not (tmp_path / "runs").exists()
