"""Label, groups and splits of your own file."""

from __future__ import annotations

import gzip
import sys
from collections import Counter

import numpy as np
import pytest
import torch

from rmix.batch import Groups
from rmix.datasets.own_file import deal
from rmix.datasets.table import Table
from rmix.datasets.text_file import TextFile
from rmix.errors import DataError, InvalidValueError
from rmix.experiment.config import config_from
from rmix.experiment.run import train
from rmix.testing import check_card

ROWS = """\
income,age,sex,part
>50K,30,Female,train
<=50K,20,Male,train
<=50K,50,Female,Train
>50K,40,Male,training
<=50K,60,Male,val
>50K,60,Female,validation
>50K,60,Male,TEST
<=50K,60, Female ,test
"""


@pytest.fixture
def table(tmp_path):
    """Makes a table of a text, with options."""

    def make(text=ROWS, cls=Table, **options):
        (tmp_path / "people.csv").write_text(text)
        named = {key: str(tmp_path / value) for key, value in options.items() if key.endswith("_file")}
        return cls(**{"file": str(tmp_path / "people.csv"), "label": "income", **options, **named})

    return make


def refusal(dataset):
    with pytest.raises(DataError) as caught:
        dataset.load()
    return str(caught.value).split("/")[-1]


def test_label_groups_and_splits_by_hand(table):
    bundle = table(group=("sex", "income"), split="part").load()
    assert bundle.class_names == ("<=50K", ">50K")
    assert bundle.group_names == (
        "sex=Female, income<=50K",
        "sex=Female, income>50K",
        "sex=Male, income<=50K",
        "sex=Male, income>50K",
    )
    assert [split.y.tolist() for split in bundle.splits.values()] == [[1, 0, 0, 1], [0, 1], [1, 0]]
    assert [split.group.tolist() for split in bundle.splits.values()] == [[1, 2, 0, 3], [2, 1], [3, 0]]


def test_order_of_columns_rows_and_spelling_changes_no_name(table):
    """Names are in order of their values, not of the rows; blanks around values are not part of them."""
    head, *rows = ROWS.splitlines()
    one = table(group=("sex",), split="part").load()
    other = table("\n".join([head, *reversed(rows)]).replace(",Male", ", Male"), group=("sex",), split="part").load()
    assert one.group_names == other.group_names == ("sex=Female", "sex=Male")
    assert other.test.group.tolist() == one.test.group.tolist()[::-1]


def test_numbers_are_in_order_of_size(table):
    rows = [f"{y},{g},{p},{y}" for p in ("train", "val", "test") for y in "01" for g in (10, 9)]
    text = "\n".join(["income,site,part,age", *rows, "1,2,train,3", "0,x,train,4"])
    bundle = table(text, group=("site",), split="part").load()
    assert bundle.group_names == ("site=2", "site=9", "site=10", "site=x")


def test_files_of_their_own(table, tmp_path):
    (tmp_path / "test.csv.gz").write_bytes(gzip.compress(b"\xef\xbb\xbfage,sex,income\r\n20,Male,>50K\r\n"))
    (tmp_path / "valid.csv").write_text("sex,income,age\nFemale,<=50K,9\n")
    bundle = table(group=("sex",), valid_file="valid.csv", test_file="test.csv.gz", drop=("part",)).load()
    assert [len(split) for split in bundle.splits.values()] == [8, 1, 1]
    assert (bundle.valid.group.tolist(), bundle.test.group.tolist()) == ([0], [1])
    scaled = (20 - 47.5) / np.std([30, 20, 50, 40, 60, 60, 60, 60])
    assert bundle.test.x.tolist() == [[pytest.approx(scaled)]]


def test_parquet_is_read_as_the_csv(table, tmp_path):
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    columns = {
        "income": [1, 0, 1, 0, 1, 0, None, 0],
        "age": [0.5, 1.5, None, 2.0, 1.0, 3.0, 1.0, 2.0],
        "sex": ["F", "M", "F", "M", "F", "M", "F", "M"],
        "part": ["train"] * 4 + ["val"] * 2 + ["test"] * 2,
    }
    columns["income"][6] = 1
    parquet.write_table(arrow.table(columns), tmp_path / "people.parquet")
    lines = [",".join("" if v is None else str(v) for v in row) for row in zip(*columns.values(), strict=True)]
    text = table("\n".join([",".join(columns), *lines]), group=("sex",), split="part").load()
    other = Table(file=str(tmp_path / "people.parquet"), label="income", group=("sex",), split="part").load()
    assert text.checksum == other.checksum
    (tmp_path / "no.parquet").write_text("x")
    with pytest.raises(DataError, match=r"no\.parquet cannot be read as Parquet"):
        Table(file=str(tmp_path / "no.parquet"), label="income").load()


def test_parquet_without_its_package_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(DataError, match=r"a\.pq is a Parquet file, which needs pyarrow; pip install 'rmix\[parquet\]'"):
        Table(file="a.pq", label="income").load()


def test_cells_are_dealt_by_share_and_a_small_cell_leaves_a_row_for_training():
    cells = ["large"] * 100 + ["five"] * 5 + ["three"] * 3 + ["two"] * 2 + ["one"]
    rows = deal(cells, {"valid": 0.1, "test": 0.3}, np.random.default_rng(0))
    assert sorted(np.concatenate(list(rows.values()))) == list(range(len(cells)))
    dealt = {name: Counter(cells[row] for row in chosen) for name, chosen in rows.items()}
    assert dealt == {
        "train": {"large": 60, "five": 2, "three": 1, "two": 1, "one": 1},
        "valid": {"large": 10, "five": 1, "three": 1},
        "test": {"large": 30, "five": 2, "three": 1, "two": 1},
    }


def test_dealing_has_a_seed_and_leaves_what_a_column_says(table):
    text = "income,age,sex\n" + "".join(f"{i % 2},{i},{'FM'[i % 3 == 0]}\n" for i in range(60))
    one, again, other = (table(text, group=("sex",), seed=seed).load() for seed in (0, 0, 1))
    assert one.checksum == again.checksum != other.checksum
    assert [len(split) for split in one.splits.values()] == [36, 12, 12]
    given = table(ROWS.replace("TEST", "val").replace(",test", ",train"), split="part", shares=(0.2, 0.3)).load()
    assert sorted(given.valid.y.tolist()) == [0, 1, 1]  # as the column says; the test rows come from training
    assert [len(given.train), len(given.test)] == [3, 2]


def test_groups_may_be_missing_in_a_row_a_split_or_everywhere(table):
    text = ROWS.replace("20,Male", "20,?").replace(">50K,30,Female", ">50K,30,")
    bundle = table(text, group=("sex",), split="part").load()
    assert bundle.train.group.tolist() == [-1, -1, 0, 1]
    train_rows, rest = ROWS.splitlines()[1:5], ROWS.splitlines()[5:]
    hidden = [row.replace("Female", "").replace("Male", "") for row in train_rows]
    oblivious = table("\n".join([ROWS.splitlines()[0], *hidden, *rest]), group=("sex",), split="part").load()
    assert (oblivious.train.group, oblivious.train_counts) == (None, None)
    assert oblivious.valid.group.tolist() == [1, 0]
    assert oblivious.facts(Groups.TRAIN).group_counts is None
    assert table(split="part").load().n_groups == 0


def test_a_file_without_group_columns_has_no_groups_if_another_has(table, tmp_path):
    (tmp_path / "test.csv").write_text("age,part,income,sex\n1,x,>50K,M\n2,x,<=50K,F\n")
    text = "\n".join(row.rsplit(",", 2)[0] + ",x" for row in ROWS.splitlines()).replace("age,x", "age,part")
    bundle = table(text, group=("sex", "income"), test_file="test.csv").load()
    assert (bundle.train.group, bundle.valid.group, bundle.test.group.tolist()) == (None, None, [1, 0])


def test_an_id_that_stands_twice_is_refused_in_one_file_or_in_two(table, tmp_path):
    text = "income,age,id\n1,30,a\n0,40,b\n0,50,b\n"
    assert refusal(table(text, id="id")) == "people.csv row 4: id 'b' stands in row 3 too."
    text, other = text.replace("50,b", "50,c"), "id,age,income\nd,1,0\nb,2,1\n"
    (tmp_path / "test.csv").write_text(other)
    said = f"test.csv row 3: id 'b' stands in {tmp_path / 'people.csv'} row 3 too."
    with pytest.raises(DataError, match=said):
        table(text, id="id", test_file="test.csv").load()
    (tmp_path / "test.csv").write_text(other.replace("b", "e"))
    assert len(table(text, id="id", test_file="test.csv").load().test) == 2
    assert refusal(table(text, id="di")).startswith("people.csv has no column 'di'. Did you mean 'id'?")


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        (ROWS, {"label": "incme"}, "people.csv has no column 'incme'. Did you mean 'income'? Columns: income, "),
        (
            ROWS,
            {"group": ("sx",)},
            "people.csv has no column 'sx'. Did you mean 'sex'? Columns: income, age, ",
        ),
        (
            ROWS,
            {"split": "sex"},
            "row 2: column 'sex' must be train, valid (or val",
        ),
        (
            ROWS.replace("rain", "est"),
            {"split": "part"},
            "people.csv: no row is for training; column 'part' never says train.",
        ),
        (ROWS.replace(">50K,60,Male", ",60,Male"), {}, "people.csv row 8: the label 'income' is missing."),
        (
            ROWS.replace(">50K,60,Male", "50K,60,Male"),
            {"split": "part"},
            "people.csv row 8: label '50K' never stands in training, which has <=50K, >50K.",
        ),
        (
            ROWS.replace("<=", ">"),
            {"split": "part"},
            "people.csv: every training row has label '>50K', so there is nothing to learn.",
        ),
        ("income,age\n", {}, "people.csv has a header and no rows."),
        ("", {}, "people.csv is empty: it has no header."),
        (
            ROWS.replace("60,Male,TEST", "60,Other,TEST"),
            {"split": "part", "group": ("sex",)},
            "Group 2 ('sex=Other') has 1 rows in split 'test' and none in split 'train'; drop them",
        ),
        (
            "y,g\n" + "".join(f"{i % 2},{i}\n" for i in range(1001)),
            {"label": "y", "group": ("g",)},
            "people.csv: columns g make 1001 groups, more than 1000; put their values into a few classes first.",
        ),
        (
            "y,x\n" + "".join(f"{i // 2},1\n" for i in range(60)),
            {"label": "y"},
            "people.csv: column 'y' has 30 distinct values in 30 rows; a label is a class.",
        ),
    ],
)
def test_what_cannot_be_used_is_refused_in_a_sentence(table, text, options, message):
    assert message in refusal(table(text, **options))


def test_unseen_groups_may_be_allowed(table):
    text = ROWS.replace("60,Male,TEST", "60,Other,TEST")
    assert table(text, split="part", group=("sex",), unseen_groups=True).load().train_counts == (2, 2, 0)


def test_settings_are_checked(table):
    with pytest.raises(InvalidValueError, match="Data set 'table' needs --file"):
        Table().load()
    with pytest.raises(InvalidValueError, match="Data set 'text' needs --label"):
        TextFile(file="a.csv").load()
    with pytest.raises(InvalidValueError, match=r"shares must be two numbers > 0 .* got \(0\.5, 0\.5\)"):
        Table(shares=(0.5, 0.5))
    with pytest.raises(InvalidValueError, match="either --split COLUMN or files of their own"):
        table(split="part", test_file="people.csv").load()


def test_an_epoch_is_chosen_by_worst_group_only_where_groups_are_named(table):
    for group, rule in (((), "average"), (("sex",), "worst_group")):
        assert config_from({"dataset": table(group=group)}).selection == rule
    run = train(table(split="part"), "erm", training={"epochs": 1})
    assert run.result.selected["rule"] == "average"
    assert run.result.groups_used == {"fit": False, "select": False}


def test_selection_by_groups_that_validation_lacks_is_refused_before_training(table):
    text = ROWS.replace("Male,val", ",val").replace("Female,val", ",val")
    epochs = []
    with pytest.raises(DataError, match="selection 'worst_group' needs group labels in the validation split"):
        train(table(text, group=("sex",), split="part"), "erm", callbacks=[Watch(epochs)])
    assert epochs == []


class Watch:
    """Takes down the stages."""

    def __init__(self, seen):
        self.seen = seen

    def __getattr__(self, name):
        return lambda *_: self.seen.append(name)


def test_texts_stand_as_in_the_file(table):
    text = "y,text,part\n" + '0," a, ""b""\nNaN ",train\n1,NaN,train\n1,,val\n0,c,val\n1,d,test\n0,e,test\n'
    bundle = table(text, TextFile, label="y", split="part").load()
    assert bundle.train.x.strings == (' a, "b"\nNaN ', "NaN")
    assert bundle.valid.x.strings == ("", "c")
    assert torch.equal(bundle.test.y, torch.tensor([1, 0]))


def test_cards():
    check_card(Table())
    check_card(TextFile())
