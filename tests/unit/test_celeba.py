"""CelebA in both of its published forms."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from image_sets import HIDDEN, write_celeba
from PIL import Image

from rmix.datasets import CelebA
from rmix.datasets.transforms import Geometry
from rmix.errors import DataError
from rmix.testing import check_card

# (blond, male, split): training 3, 2, 1, 1 of each group, one of each in validation and in test
CELLS = [(0, 0, 0), (1, 1, 2), (0, 1, 0), (0, 0, 1), (1, 0, 0), (0, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 2)]
CELLS += [(1, 0, 1), (0, 1, 2), (1, 1, 1), (0, 0, 0), (1, 0, 2), (0, 1, 1)]


def load(folder: Path, **settings: object):
    return CelebA(root=str(folder), **{**HIDDEN, **settings}).load()


@pytest.mark.parametrize("text", [False, True], ids=["csv", "txt"])
def test_both_forms_give_the_same_rows(tmp_path: Path, text: bool) -> None:
    bundle = load(write_celeba(tmp_path, CELLS, text=text))
    assert bundle.train_counts == (3, 2, 1, 1)
    assert bundle.train.x.paths == tuple(f"{i:06d}.jpg" for i in (1, 3, 5, 6, 7, 8, 13))
    assert bundle.train.group.tolist() == [0, 1, 2, 0, 3, 1, 0]
    assert bundle.train.y.tolist() == [0, 0, 1, 0, 1, 0, 0]
    assert bundle.valid.x.paths == ("000004.jpg", "000010.jpg", "000012.jpg", "000015.jpg")
    assert bundle.valid.group.tolist() == [0, 2, 3, 1]
    assert bundle.test.group.tolist() == [3, 0, 1, 2]
    assert bundle.group_names == ("dark, female", "dark, male", "blond, female", "blond, male")


def test_evaluation_is_the_resized_central_square(tmp_path: Path) -> None:
    bundle = load(write_celeba(tmp_path, CELLS), size=32, augment=True)
    with Image.open(tmp_path / "img_align_celeba" / "000004.jpg") as image:  # 44 x 54
        square = image.crop((0, 5, 44, 49)).resize((32, 32), Image.Resampling.BILINEAR)
    expected = (np.asarray(square, dtype=np.float64) / 255 - [0.485, 0.456, 0.406]) / [0.229, 0.224, 0.225]
    np.testing.assert_allclose(
        bundle.valid.x[torch.tensor([0])][0].numpy(), expected.transpose(2, 0, 1), atol=0.018
    )  # a level of 255
    assert bundle.train.x.view.crop.ratio == (1.0, 4 / 3)
    assert bundle.train.x.view.kept(augmented=True) == Geometry(32, square=False), "a crop may reach above the square"


def test_published_places(tmp_path: Path) -> None:
    for place in ("celebA_v1.0", "celebA/data", "celeba"):
        assert (
            len(load(write_celeba(tmp_path / place[-3:] / place, CELLS).parents[len(place.split("/")) - 1]).train) == 7
        )
    kaggle = write_celeba(tmp_path / "kaggle", CELLS)
    (kaggle / "img_align_celeba").rename(kaggle / "faces")
    (kaggle / "img_align_celeba").mkdir()
    (kaggle / "faces").rename(kaggle / "img_align_celeba" / "img_align_celeba")
    assert load(kaggle, size=8).shape == (3, 8, 8)
    with pytest.raises(DataError, match=r"looked for list_attr_celeba.csv or list_attr_celeba.txt, there and in ce"):
        load(tmp_path / "nowhere")


def edited(path: Path, before: str, after: str) -> None:
    text = path.read_text()
    assert before in text
    path.write_text(text.replace(before, after, 1))


def swapped(path: Path, first: int, second: int) -> None:
    lines = path.read_text().splitlines(keepends=True)
    lines[first], lines[second] = lines[second], lines[first]
    path.write_text("".join(lines))


def refusal(folder: Path) -> str:
    with pytest.raises(DataError) as error:
        load(folder)
    return str(error.value).replace(str(folder) + "/", "")


def test_files_in_another_order_are_refused(tmp_path: Path) -> None:
    swapped(write_celeba(tmp_path / "csv", CELLS) / "list_eval_partition.csv", 3, 5)
    assert refusal(tmp_path / "csv") == (
        "list_eval_partition.csv row 4: '000005.jpg', where list_attr_celeba.csv has '000003.jpg'; "
        "both must be in one order."
    )
    swapped(write_celeba(tmp_path / "txt", CELLS, text=True) / "list_eval_partition.txt", 3, 5)
    assert refusal(tmp_path / "txt").startswith("list_eval_partition.txt row 4: '000006.jpg', where")


def test_files_of_different_lengths_are_refused(tmp_path: Path) -> None:
    path = write_celeba(tmp_path, CELLS) / "list_eval_partition.csv"
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:-1]))
    assert refusal(tmp_path) == "list_attr_celeba.csv lists 15 faces and list_eval_partition.csv 14."


def test_values_are_checked_and_their_row_is_named(tmp_path: Path) -> None:
    folder = write_celeba(tmp_path, CELLS, text=True)
    path = folder / "list_attr_celeba.txt"
    lines = path.read_text().splitlines()
    words = lines[4].split()
    words[10] = "0"  # of the third face, on line 5: Blond_Hair
    path.write_text("\n".join([*lines[:4], " ".join(words), *lines[5:]]) + "\n")
    assert refusal(folder) == "list_attr_celeba.txt row 5: column 'Blond_Hair' must be one of -1, 1, got '0'."
    path.write_text("\n".join([*lines[:4], " ".join(words[:-1]), *lines[5:]]) + "\n")
    assert refusal(folder) == "list_attr_celeba.txt row 5: 40 words, where 41 are expected."


def test_text_files_of_a_windows_editor_and_bytes_that_are_no_text(tmp_path: Path) -> None:
    path = write_celeba(tmp_path, CELLS, text=True) / "list_attr_celeba.txt"
    plain, data = load(tmp_path).checksum, path.read_bytes()
    path.write_bytes(b"\xef\xbb\xbf" + data.replace(b"\n", b"\r\n"))
    assert load(tmp_path).checksum == plain
    path.write_bytes(data.replace(b"000002.jpg", b"\xff00002.jpg"))
    assert refusal(tmp_path).startswith("list_eval_partition.txt row 2: '000002.jpg', where list_attr_celeba.txt has")


def test_text_files_that_are_cut_short(tmp_path: Path) -> None:
    folder = write_celeba(tmp_path, CELLS, text=True)
    path = folder / "list_attr_celeba.txt"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[:-2]))
    assert refusal(folder) == "list_attr_celeba.txt announces 15 faces and lists 13; it may be cut short."
    path.write_text("")
    assert refusal(folder).startswith("list_attr_celeba.txt has 0 lines; expected are a count")
    path.write_text("".join(lines).replace("Blond_Hair", "Blonde"))
    assert refusal(folder).startswith("list_attr_celeba.txt has no column 'Blond_Hair'. Did you mean 'Blonde'?")
    path.write_text("".join(lines))
    (folder / "list_eval_partition.txt").unlink()
    assert refusal(folder) == "There is no file list_eval_partition.txt."


def test_a_damaged_face_is_named_with_its_row(tmp_path: Path) -> None:
    folder = write_celeba(tmp_path, CELLS, text=True)
    bundle = load(folder, size=8)
    (folder / "img_align_celeba" / "000003.jpg").write_bytes(b"no picture")
    with pytest.raises(DataError, match=r"000003.jpg \(list_attr_celeba.txt row 5\) cannot be read: it is not"):
        bundle.train.x[torch.tensor([1])]


def test_the_card() -> None:
    check_card(CelebA())
