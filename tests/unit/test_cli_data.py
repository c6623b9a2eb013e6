"""`rmix data`: what a data set is, and whether a copy of it is whole."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import pytest
from toys import bundle_of, split_of

from rmix.cli import main
from rmix.datasets import DATASETS
from rmix.datasets.on_disk import OnDisk
from rmix.datasets.texts import Texts
from rmix.errors import DataError


class Pictures(Texts):
    """Four files, of which the second and the last cannot be read."""

    def unreadable(self):
        yield from (None, "b.jpg is empty.", None, "d.jpg is cut off.")


@dataclass(frozen=True)
class Birds(OnDisk):
    """Two birds.

    Task: which bird.
    Groups: a and [b].
    Sizes: 2 and 2.
    Source: Nowhere.
    Files: birds.csv
    Licence: None.
    """

    name = "birds"
    title = "Birds"
    folders = ("birds_v1",)
    files: ClassVar = {"birds.csv": "four birds, 1 kB"}
    published: ClassVar = {"train": {"a": 2, "[b]": 2}, "test": {"a": 2, "[b]": 3}}
    published_rows: ClassVar = {"train": 4, "valid": 4}

    def load(self):
        if (self.folder() / "birds.csv").read_text() == "bad":
            raise DataError("birds.csv row 3: bad.")
        pictures = split_of([0, 1, 0, 1], [0, 0, 1, 1], Pictures("abcd"))
        test = split_of([0, 1, 0, 1, 1], [0, 0, 1, 1, 1])
        return bundle_of(name="birds", group_names=("a", "[b]"), train=pictures, test=test)


@pytest.fixture
def birds(monkeypatch, tmp_path):
    """The folder of two birds, as if they were a data set of the library."""
    monkeypatch.setitem(DATASETS, "birds", Birds)
    monkeypatch.setenv("COLUMNS", "150")
    (tmp_path / "birds_v1").mkdir()
    (tmp_path / "birds_v1" / "birds.csv").touch()
    return tmp_path


def said(capsys, *words):
    code = main(["data", *words])
    out, err = capsys.readouterr()
    return code, out, err


def test_describe_says_what_is_expected_without_a_copy(birds, capsys):
    code, out, _ = said(capsys, "describe", "birds")
    assert code == 0
    for part in (
        "Two birds.",
        "which bird.",
        "Nowhere.",
        "DIR/birds_v1",
        "four birds, 1 kB",
        "Published rows: train 4, valid 4",
        "root: rmix train birds",
    ):
        assert part in out
    assert [line.split()[1::2] for line in out.splitlines() if "│ [b]" in line] == [["[b]", "2", "3"]]


@pytest.mark.parametrize("name", ["moons", "civilcomments", "table", "text"])
def test_every_data_set_is_described(name, capsys):
    code, out, _ = said(capsys, "describe", name)
    assert (code, "Licence" in out) == (0, True)
    assert ("male, toxic" in out, "4,437" in out) == ((name == "civilcomments"),) * 2
    assert ("right, opens up" in out) == (name == "moons")


def test_check_reads_images_and_its_exit_code_says(birds, capsys):
    code, out, _ = said(capsys, "check", "birds", "--root", str(birds))
    assert code == 1
    assert f"Found in {birds / 'birds_v1'}." in out
    assert "b.jpg is empty.\nd.jpg is cut off.\nbirds: 4 / 4 / 5 rows, 2 classes, 2 groups; " in out
    assert out.endswith("; images that cannot be read: 2.\n")
    code, out, _ = said(capsys, "check", "birds", "--quick", "--root", str(birds))
    assert code == 0
    assert out.endswith("2 groups; no problem.\n")
    assert [line.split()[1::2] for line in out.splitlines() if "│ [b]" in line] == [["[b]", "2", "2", "3"]]


def test_check_compares_with_the_published_counts(birds, capsys, monkeypatch):
    monkeypatch.setattr(Birds, "published", {"train": {"a": 2, "[b]": 1500}, "test": {"c": 1}})
    monkeypatch.setattr(Birds, "published_rows", {"valid": 5})
    code, out, _ = said(capsys, "check", "birds", "--quick", "--root", str(birds))
    assert code == 1
    assert out.splitlines()[-5:] == [
        "'[b]' in split 'train' has 2 rows, published are 1,500.",
        "'c' in split 'test' has 0 rows, published are 1.",
        "Split 'valid' has 4 rows, published are 5.",
        "birds: 4 / 4 / 5 rows, 2 classes, 2 groups; counts that differ from the published ones: 3.",
        "So it is another version: results on it compare with one another, not with published ones.",
    ]


def test_check_of_a_missing_or_damaged_copy(birds, capsys):
    code, out, _ = said(capsys, "check", "birds", "--root", str(birds / "nowhere"))
    assert (code, len(out.splitlines())) == (1, 1)
    assert out.startswith(
        f"Birds is not in {birds / 'nowhere'} (looked for birds.csv, there and in birds_v1). See: rmix"
    )
    (birds / "birds_v1" / "birds.csv").write_text("bad")
    assert said(capsys, "check", "birds", "--root", str(birds))[:2] == (1, "birds.csv row 3: bad.\n")


def test_check_of_what_is_generated_and_of_your_own(tmp_path, capsys):
    code, out, _ = said(capsys, "check", "moons", "--noise", "0.2")
    assert (code, out.splitlines()[-1]) == (0, "moons: 1,216 / 400 / 2,000 rows, 2 classes, 4 groups; no problem.")
    file = tmp_path / "t.csv"
    file.write_text("y,age,sex\n" + "".join(f"{i % 2},{i},{'FM'[i % 3 == 0]}\n" for i in range(60)))
    code, out, _ = said(capsys, "check", "table", "--file", str(file), "--label", "y", "--group", "sex")
    assert code == 0
    assert "sex=F" in out
    assert out.endswith("table: 36 / 12 / 12 rows, 2 classes, 2 groups; no problem.\n")
    code, out, _ = said(capsys, "check", "table", "--file", str(file), "--label", "y")
    assert (code, "There are no groups." in out) == (0, True)


def test_groups_that_a_split_lacks_are_a_dash(birds, capsys, monkeypatch):
    hidden = bundle_of(train=split_of([0, 1]))
    assert hidden.train.group is None
    monkeypatch.setattr(Birds, "load", lambda self: hidden)
    monkeypatch.setattr(Birds, "published", {})
    monkeypatch.setattr(Birds, "published_rows", {})
    out = said(capsys, "check", "birds", "--root", str(birds))[1]
    assert [line.split()[1::2] for line in out.splitlines() if "│ a" in line] == [["a", "–", "2", "2"]]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["chek"], "No action of rmix data named 'chek'. Did you mean 'check'?"),
        (["check"], "Which data set? Say: rmix data check NAME; one of moons, digits"),
        (["describe", "moon"], "No data set named 'moon'. Did you mean 'moons'?"),
        (["check", "moon"], "No data set named 'moon'. Did you mean 'moons'?"),
    ],
)
def test_mistakes_get_one_sentence(words, sentence, capsys):
    code, out, err = said(capsys, *words)
    assert (code, out) == (2, "")
    assert sentence in err


def test_help(capsys):
    assert said(capsys, "--help")[1].startswith("usage: rmix data describe NAME")
    assert said(capsys)[0] == 0
