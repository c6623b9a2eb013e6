"""Your own images, in folders or listed in a file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from image_sets import HIDDEN, write_csv, write_image
from PIL import Image

from rmix.datasets import Bundle, ImageFiles
from rmix.datasets.folder import scan
from rmix.errors import DataError, InvalidValueError
from rmix.testing import check_card
from rmix.testing.plain import goes_round


def load(where: Path, **settings: object) -> Bundle:
    return ImageFiles(file=str(where), **{**HIDDEN, "size": 8, **settings}).load()


def write_tree(folder: Path, levels: list[str], each: int = 2) -> Path:
    for i, level in enumerate(levels):
        for k in range(each):
            write_image(folder / level / f"{k}.jpg", 10 * i + k)
    return folder


CELLS = [f"{kind}/{place}" for kind in ("cat", "dog") for place in ("indoors", "outdoors")]
SPLIT_CELLS = [f"{split}/{cell}" for split in ("train", "val", "Test") for cell in CELLS]


def test_splits_classes_and_groups_are_folders(tmp_path: Path) -> None:
    bundle = load(write_tree(tmp_path, SPLIT_CELLS))
    assert bundle.class_names == ("cat", "dog")
    assert bundle.group_names[1] == "class=cat, group=outdoors"
    for name, folder in (("train", "train"), ("valid", "val"), ("test", "Test")):
        split = bundle.splits[name]
        assert split.x.paths[:3] == (
            f"{folder}/cat/indoors/0.jpg",
            f"{folder}/cat/indoors/1.jpg",
            f"{folder}/cat/outdoors/0.jpg",
        )
        assert split.y.tolist() == [0, 0, 0, 0, 1, 1, 1, 1]
        assert split.group.tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
    assert bundle.shape == (3, 8, 8)


def test_splits_are_dealt_where_no_folder_names_them(tmp_path: Path) -> None:
    bundle = load(write_tree(tmp_path, CELLS, each=5))
    assert [len(split) for split in bundle.splits.values()] == [12, 4, 4]
    assert bundle.train_counts == (3, 3, 3, 3)
    paths = [path for split in bundle.splits.values() for path in split.x.paths]
    assert len(set(paths)) == 20
    assert load(tmp_path).checksum == bundle.checksum
    assert load(tmp_path, seed=1).checksum != bundle.checksum


def test_groups_may_be_absent(tmp_path: Path) -> None:
    bundle = load(write_tree(tmp_path, ["cat", "dog"], each=5))
    assert bundle.train.group is None
    assert ImageFiles(file=str(tmp_path)).selection == "average"


def test_groups_may_be_absent_in_training_alone(tmp_path: Path) -> None:
    levels = ["train/cat", "train/dog", *SPLIT_CELLS[4:]]
    bundle = load(write_tree(tmp_path, levels), unseen_groups=True)
    assert bundle.train.group is None
    assert bundle.valid.group.tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
    assert ImageFiles(file=str(tmp_path)).selection == "worst_group"


def test_classes_called_by_numbers_are_no_splits(tmp_path: Path) -> None:
    bundle = load(write_tree(tmp_path, ["0", "1", "2"], each=5))
    assert bundle.class_names == ("0", "1", "2")


def test_other_files_are_passed_over(tmp_path: Path) -> None:
    write_tree(tmp_path, ["cat", "dog"])
    (tmp_path / "cat" / "notes.txt").write_text("notes")
    (tmp_path / "cat" / "._0.jpg").write_bytes(b"what a Mac leaves")
    assert scan(tmp_path)["path"] == ["cat/0.jpg", "cat/1.jpg", "dog/0.jpg", "dog/1.jpg"]


def test_folders_that_cannot_be_read_as_classes(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"holds no images \(\.jpg .*\) in folders CLASS/GROUP or SPLIT/CLASS/GROUP"):
        load(tmp_path)
    write_tree(tmp_path, [*CELLS, "cat/indoors/sofa"])
    with pytest.raises(DataError, match=r"sofa/0.jpg lies in 3 folders, where class/group are expected"):
        load(tmp_path)
    with pytest.raises(DataError, match=r"There is no file .*nothing"):
        load(tmp_path / "nothing", label="y")
    with pytest.raises(InvalidValueError, match=r"Data set 'images' needs --file"):
        ImageFiles().load()


def test_a_folder_with_its_training_images_only(tmp_path: Path) -> None:
    write_tree(tmp_path / "a", CELLS)
    write_tree(tmp_path / "b", CELLS, each=1)
    write_tree(tmp_path / "c", CELLS, each=3)
    bundle = load(tmp_path / "a", valid_file=str(tmp_path / "b"), test_file=str(tmp_path / "c"))
    assert [len(split) for split in bundle.splits.values()] == [8, 4, 12]


HEADER = "path,species,place,part"


def listed(folder: Path, n: int = 12) -> list[tuple[str, str, str, str]]:
    rows = []
    for i in range(n):
        write_image(folder / "photos" / f"{i}.png", i)
        part = "train" if i % 3 == 0 else "valid" if i % 3 == 1 else "test"
        rows.append((f"photos/{i}.png", ("cat", "dog")[i // 3 % 2], ("in", "out")[i // 6 % 2], part))
    return rows


def test_a_table_lists_paths_label_group_and_split(tmp_path: Path) -> None:
    write_csv(tmp_path / "list.csv", HEADER, listed(tmp_path))
    bundle = load(tmp_path / "list.csv", label="species", group=("species", "place"), split="part")
    assert bundle.train.x.paths == ("photos/0.png", "photos/3.png", "photos/6.png", "photos/9.png")
    assert bundle.train.y.tolist() == [0, 1, 0, 1]
    assert bundle.group_names == (
        "species=cat, place=in",
        "species=cat, place=out",
        "species=dog, place=in",
        "species=dog, place=out",
    )
    assert bundle.train.group.tolist() == [0, 2, 1, 3]


def test_paths_may_start_elsewhere(tmp_path: Path) -> None:
    rows = listed(tmp_path / "here")
    write_csv(tmp_path / "there" / "list.csv", HEADER.replace("path", "image"), rows)
    settings = {"label": "species", "split": "part", "path": "image", "folder": str(tmp_path / "here")}
    bundle = load(tmp_path / "there" / "list.csv", **settings)
    assert bundle.shape == (3, 8, 8)
    with pytest.raises(DataError, match=r"photos/0.png \(list.csv row 2\) cannot be read: No such file"):
        _ = load(tmp_path / "there" / "list.csv", **{**settings, "folder": ""}).checksum
    with pytest.raises(DataError, match=r"has no column 'picture'"):
        load(tmp_path / "there" / "list.csv", **{**settings, "path": "picture"})


def test_a_missing_path_is_refused(tmp_path: Path) -> None:
    rows = listed(tmp_path)
    rows[4] = ("", *rows[4][1:])
    write_csv(tmp_path / "list.csv", HEADER, rows)
    with pytest.raises(DataError, match=r"list.csv row 6: the path in column 'path' is missing"):
        load(tmp_path / "list.csv", label="species", split="part")


def test_an_image_in_two_splits_is_refused(tmp_path: Path) -> None:
    rows = listed(tmp_path)
    rows[4] = (rows[3][0], *rows[4][1:])  # row 6 of the file, validation, shows what row 5, training, shows
    write_csv(tmp_path / "list.csv", HEADER, rows)
    with pytest.raises(DataError, match=r"list.csv row 6: image 'photos/3.png' is in split 'train' too"):
        load(tmp_path / "list.csv", label="species", split="part")


def test_the_middle_is_shown_or_the_whole(tmp_path: Path) -> None:
    wide = Image.new("RGB", (90, 30), "black")
    wide.paste("white", (0, 0, 30, 30))  # beside the central square
    for name in ("train/a/x.png", "train/b/x.png", "valid/a/x.png", "valid/b/x.png", "test/a/x.png", "test/b/x.png"):
        (tmp_path / name).parent.mkdir(parents=True)
        wide.save(tmp_path / name)
    dark = -0.485 / 0.229
    middle = load(tmp_path, size=14).valid.x[torch.tensor([0])]
    assert middle[0, 0].max() == pytest.approx(dark, abs=1e-4)
    whole = load(tmp_path, size=14, squash=True).valid.x[torch.tensor([0])]
    assert whole[0, 0, :, 0].min() > 2
    assert load(tmp_path, augment=True).train.x.view.random
    assert not load(tmp_path, augment=True).valid.x.view.random


def test_where_they_lie_changes_no_result(tmp_path: Path) -> None:
    write_csv(tmp_path / "a" / "list.csv", HEADER, listed(tmp_path / "a"))
    checksum = load(tmp_path / "a" / "list.csv", label="species", split="part").checksum
    (tmp_path / "a").rename(tmp_path / "b")
    second = load(tmp_path / "b" / "list.csv", label="species", split="part", workers=1, cache=str(tmp_path / "c"))
    assert second.checksum == checksum
    assert torch.equal(second.train.x[torch.arange(4)], second.train.x[torch.arange(4)])


def test_unreadable_images_are_listed(tmp_path: Path) -> None:
    write_tree(tmp_path, SPLIT_CELLS)
    (tmp_path / "val" / "dog" / "indoors" / "1.jpg").write_bytes(b"")
    bundle = load(tmp_path)
    found = {name: [why for why in split.x.unreadable() if why] for name, split in bundle.splits.items()}
    path = tmp_path / "val" / "dog" / "indoors" / "1.jpg"
    sentence = f"Image {path} cannot be read: it is empty; mend it, or take it out."
    assert found == {"train": [], "valid": [sentence], "test": []}


def test_settings(tmp_path: Path) -> None:
    goes_round(ImageFiles(file="x", label="y", group=("a", "b"), augment=True))
    check_card(ImageFiles())
    assert np.isclose(ImageFiles().size * 256 / 224, 256)
