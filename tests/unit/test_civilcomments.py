"""CivilComments in the layout of WILDS, twelve comments of it."""

from __future__ import annotations

import pytest
import torch

from rmix.batch import Groups
from rmix.datasets.civilcomments import FILE, GROUP_NAMES, IDENTITIES, CivilComments
from rmix.errors import DataError, InvalidValueError
from rmix.testing import check_card

HEADER = f",id,comment_text,split,created,toxicity,{','.join(IDENTITIES)},identity_any"


def comment(text="a comment", split="train", toxicity="0.1", any_identity="", **mentions):
    values = [str(mentions.get(name, "0.0")) for name in IDENTITIES]
    return [text, split, "2017-01-01", toxicity, *values, any_identity or ("1.0" if mentions else "0.0")]


# Splits unordered; rows 0 to 5 of training are lines 0, 2, 3, 5, 6 and 8.
COMMENTS = [
    comment("first", male="0.5", black="1"),  # exactly 0.5 counts; two identities
    comment("late", "test", "0.5", female="0.5", LGBTQ=1, muslim=1, other_religions=1, christian=1, male=1),
    comment('"he said ""no"",\r\nand left"', toxicity="0.5", white="0.49999", any_identity="0.0"),  # toxic, nobody
    comment("", toxicity="0.8", black="0.7"),  # no text
    comment("between", "val", "0.9", white="1.0", black=""),  # nobody was asked whether black is mentioned
    comment("NaN", toxicity="0.7", male="0.9", black="0.9"),
    comment(toxicity="0.2", black="0.9"),
    comment("between", "val", "0.2", white="1.0"),
    comment("ends", toxicity="0.0", white="1", female="1"),
    comment("after", "test", "0.4", black="0.6"),
]


def written(folder, comments=COMMENTS, header=HEADER, mark=b"", end="\n"):
    """The file, with a first column that numbers the comments, and an id."""
    rows = [",".join([str(i), str(1000 + i), *comment]) for i, comment in enumerate(comments)]
    (folder / FILE).write_bytes(mark + end.join([header, *rows, ""]).encode())
    return CivilComments(root=str(folder))


@pytest.fixture
def every_group():
    """Comments of every group for training, so that no group of the other splits is unseen there."""
    return [comment("x", toxicity=t, **{name: "1"}) for name in IDENTITIES for t in ("0.0", "1.0")]


def test_splits_labels_and_overlapping_groups_by_hand(tmp_path, every_group):
    bundle = written(tmp_path, COMMENTS + every_group).load()
    assert {name: len(split) for name, split in bundle.splits.items()} == {"train": 22, "valid": 2, "test": 2}
    assert bundle.train.x.strings[:6] == ("first", 'he said "no",\r\nand left', "", "NaN", "a comment", "ends")
    assert bundle.train.y[:6].tolist() == [0, 1, 1, 1, 0, 0]
    member = [[GROUP_NAMES[g] for g in row.nonzero().flatten().tolist()] for row in bundle.train.group[:6]]
    assert member == [
        ["male, non-toxic", "black, non-toxic"],
        [],
        ["black, toxic"],
        ["male, toxic", "black, toxic"],
        ["black, non-toxic"],
        ["female, non-toxic", "white, non-toxic"],
    ]
    assert bundle.test.group.sum(1).tolist() == [6, 1]
    assert bundle.valid.group.nonzero().tolist() == [[0, 15], [1, 14]]
    assert (bundle.n_groups, bundle.class_names) == (16, ("non-toxic", "toxic"))


def test_groups_shown_in_training_are_a_named_choice(tmp_path, every_group):
    """``every_group`` adds one comment to each of the sixteen; the rest is the six comments above."""
    written(tmp_path, COMMENTS + every_group)

    def facts(shown):
        bundle = CivilComments(root=str(tmp_path), shown=shown).load()
        return bundle.facts(Groups.TRAIN), bundle.rows(Groups.TRAIN).group[:6].tolist()

    paper, filed = facts("least_populous")
    assert len(paper.group_counts) == 16
    # male 2 of either label; black 3 of either label; a comment of both is filed under male
    assert [paper.group_counts[GROUP_NAMES.index(f"{who}, non-toxic")] for who in ("male", "black")] == [2, 3]
    assert filed == [0, -1, 13, 1, 12, 2]
    black, filed = facts("black")
    assert filed == [2, 1, 3, 3, 2, 0]
    assert black.group_counts == black.group_rows == (8, 8, 3, 3)
    anyone, filed = facts("identity_any")
    assert filed == [2, 1, 3, 3, 2, 2]
    assert anyone.group_counts == (0, 1, 11, 10)


def test_the_choice_changes_what_is_shown_and_not_what_is_counted(tmp_path, every_group):
    written(tmp_path, COMMENTS + every_group)
    bundles = [CivilComments(root=str(tmp_path), shown=shown).load() for shown in ("least_populous", "black")]
    assert bundles[0].train_counts == bundles[1].train_counts
    assert bundles[0].checksum != bundles[1].checksum
    assert bundles[1].rows(Groups.NONE).group is None
    assert bundles[1].facts(Groups.NONE).group_counts is None
    assert torch.equal(bundles[0].test.group, bundles[1].test.group)


def test_a_byte_order_mark_and_windows_line_ends_change_nothing(tmp_path, every_group):
    plain = written(tmp_path, COMMENTS + every_group).load()
    other = written(tmp_path, COMMENTS + every_group, mark=b"\xef\xbb\xbf", end="\r\n").load()
    assert plain.checksum == other.checksum


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"toxicity": ""}, "row 12: column 'toxicity' must be a number, got ''."),
        ({"toxicity": "nan"}, "row 12: column 'toxicity' must be a number, got 'nan'."),
        ({"male": "yes"}, "row 12: column 'male' must be a number, got 'yes'."),
        ({"split": "dev"}, "row 12: column 'split' must be one of train, val, test, got 'dev'."),
    ],
)
def test_a_bad_value_is_refused_with_file_and_row(tmp_path, every_group, change, sentence):
    dataset = written(tmp_path, [*COMMENTS, comment(**change), *every_group])
    with pytest.raises(DataError) as caught:
        dataset.load()
    assert str(caught.value) == f"{tmp_path / FILE} {sentence}"


def test_a_missing_column_and_an_index_that_stands_twice(tmp_path):
    with pytest.raises(DataError, match=r"has no column 'toxicity'\. Did you mean 'toxicty'\?"):
        written(tmp_path, header=HEADER.replace("toxicity", "toxicty")).load()
    text = written(tmp_path, COMMENTS[:3]).folder() / FILE
    text.write_text(text.read_text().replace("\n1,1001", "\n0,1001"))
    with pytest.raises(DataError, match="row 3: the number '0' stands in row 2 too"):
        CivilComments(root=str(tmp_path)).load()


def test_the_choice_of_groups_is_checked():
    with pytest.raises(InvalidValueError, match=r"shown must be one of .*, identity_any, got 'white'"):
        CivilComments(shown="white")


def test_published_counts_add_up():
    """148,304 mentions in training, 17.6 % of them toxic; 448,000 comments in all."""
    counts = CivilComments.published["train"]
    assert (len(counts), sum(counts.values())) == (16, 148304)
    assert sum(v for name, v in counts.items() if name.endswith(", toxic")) == 26031
    assert sum(CivilComments.published_rows.values()) == 448000
    check_card(CivilComments())
