"""Camelyon17 in the layout of WILDS."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from image_sets import HIDDEN, write_camelyon17

from rmix.datasets import Camelyon17
from rmix.errors import DataError, InvalidValueError
from rmix.testing import check_card

# (slide, split, tumour): hospitals 0, 3 and 4 train; 1 validates, 2 tests
PATCHES = [(slide, 0, k) for slide in (0, 20, 21, 35, 49, 12) for k in (0, 1)]
PATCHES += [(3, 1, 1), (44, 1, 0), (35, 0, 1), (13, 1, 0)]


def load(folder: Path, **settings: object):
    return Camelyon17(root=str(folder), **{**HIDDEN, **settings}).load()


def test_hospitals_are_splits_and_slides_are_groups(tmp_path: Path) -> None:
    bundle = load(write_camelyon17(tmp_path / "camelyon17_v1.0", PATCHES).parent)
    assert bundle.train.group.tolist() == [0, 0, 35, 35, 49, 49, 35]
    assert bundle.train.y.tolist() == [0, 1, 0, 1, 0, 1, 1]
    assert bundle.valid.group.tolist() == [12, 12, 13], "all of hospital 1, whatever their stored split"
    assert bundle.test.group.tolist() == [20, 20, 21, 21]
    assert bundle.n_groups == 50
    assert bundle.group_names[35] == "slide 35"
    assert (bundle.train_counts[0], bundle.train_counts[35]) == (2, 3)
    assert bundle.shape == (3, 96, 96)


def test_groups_may_be_hospitals_and_validation_of_the_training_hospitals(tmp_path: Path) -> None:
    bundle = load(write_camelyon17(tmp_path, PATCHES), group="hospital", id_valid=True)
    assert bundle.train.group.tolist() == [0, 0, 3, 3, 4, 4, 3]
    assert bundle.valid.group.tolist() == [0, 4]
    assert bundle.test.group.tolist() == [2] * 4
    assert bundle.train_counts == (2, 0, 0, 3, 2)
    assert bundle.group_names == tuple(f"hospital {h}" for h in range(5))
    said = Camelyon17(root=str(tmp_path), id_valid=True).differences(bundle)
    assert said[1] == "Split 'valid' has 2 rows, published are 33,560."


def test_patients_have_three_digits_also_after_a_spreadsheet(tmp_path: Path) -> None:
    folder = write_camelyon17(tmp_path, PATCHES)
    path = folder / "metadata.csv"
    before = load(folder)
    assert before.train.x.paths[0] == "patches/patient_000_node_0/patch_patient_000_node_0_x_0_y_0.png"
    lines = [line.split(",") for line in path.read_text().splitlines()]
    stripped = [[words[0], words[1].lstrip("0") or "0", *words[2:]] for words in lines[1:]]
    path.write_text("\n".join(",".join(words) for words in [lines[0], *stripped]) + "\n")
    after = load(folder)
    assert after.train.x.paths == before.train.x.paths
    assert after.checksum == before.checksum


def test_a_patch_that_is_listed_twice_is_refused(tmp_path: Path) -> None:
    path = write_camelyon17(tmp_path, PATCHES) / "metadata.csv"
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines, "99," + lines[3].split(",", 1)[1]]) + "\n")
    with pytest.raises(
        DataError, match=rf"metadata.csv row {len(lines) + 1}: image 'patches/.*png' stands in row 4 too"
    ):
        load(tmp_path)


def test_selection_is_by_the_published_average(tmp_path: Path) -> None:
    assert Camelyon17().selection == "average"


def test_the_choice_of_groups_is_checked() -> None:
    with pytest.raises(InvalidValueError, match="group must be one of slide, hospital, got 'patient'"):
        Camelyon17(group="patient")  # type: ignore[arg-type]


def test_a_group_method_trains_where_groups_are_absent(tmp_path: Path) -> None:
    from rmix import train

    run = train(
        Camelyon17(root=str(write_camelyon17(tmp_path, PATCHES)), size=8, **HIDDEN),
        "group_dro",
        model="small_cnn",
        training={"epochs": 1, "batch_size": 4},
    )
    total = torch.tensor(run.result.test.total)
    assert total.nonzero().flatten().tolist() == [20, 21]
    assert run.result.selected["rule"] == "average"


def test_the_card() -> None:
    check_card(Camelyon17())
