"""Waterbirds in its published layout."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from image_sets import HIDDEN, write_csv, write_waterbirds
from PIL import Image

from rmix.datasets import Waterbirds
from rmix.datasets.transforms import Crop
from rmix.errors import DataError
from rmix.models import SmallCNN
from rmix.testing import check_card


def load(folder: Path, **settings: object):
    return Waterbirds(root=str(folder), **{**HIDDEN, **settings}).load()


def test_splits_classes_and_groups(tmp_path: Path) -> None:
    bundle = load(write_waterbirds(tmp_path))
    assert bundle.train_counts == (4, 2, 2, 3)
    for split in (bundle.valid, bundle.test):
        assert split.member(4).sum(0).tolist() == [2, 2, 2, 2]
    for split in bundle.splits.values():
        assert torch.equal(split.y, split.group // 2), "0 and 1 are landbirds, 2 and 3 waterbirds"
        assert all(int(path[2]) - 1 == y for path, y in zip(split.x.paths, split.y.tolist(), strict=True))
    assert bundle.group_names == ("landbird, land", "landbird, water", "waterbird, land", "waterbird, water")


def test_an_input_is_the_published_transform_of_its_file(tmp_path: Path) -> None:
    bundle = load(write_waterbirds(tmp_path))
    assert bundle.shape == (3, 224, 224)
    with Image.open(tmp_path / bundle.test.x.paths[3]) as image:
        resized = np.asarray(image.resize((256, 256), Image.Resampling.BILINEAR), dtype=np.float64) / 255
    expected = (resized[16:240, 16:240] - [0.485, 0.456, 0.406]) / [0.229, 0.224, 0.225]
    got = bundle.test.x[torch.tensor([3])][0]
    np.testing.assert_allclose(got.numpy(), expected.transpose(2, 0, 1), atol=0.018)  # a level of 255


def test_augmentation_is_of_training_only(tmp_path: Path) -> None:
    bundle = load(write_waterbirds(tmp_path), size=16, augment=True)
    assert bundle.train.x.view.crop == Crop((0.7, 1.0), (3 / 4, 4 / 3))
    assert bundle.train.x.view.flip
    assert not bundle.valid.x.view.random
    assert not bundle.test.x.view.random


def test_the_folder_is_found_in_any_published_place(tmp_path: Path) -> None:
    for place in ("waterbirds_v1.0", "cub/data/waterbird_complete95_forest2water2", "."):
        write_waterbirds(tmp_path / place.replace("/", "_") / place)
        assert len(load(tmp_path / place.replace("/", "_")).train) == 11
    with pytest.raises(DataError, match=r"Waterbirds is not in .* \(looked for metadata.csv, there and in waterbirds"):
        load(tmp_path / "nowhere")


def test_options_that_change_no_result_are_not_of_its_identity(tmp_path: Path) -> None:
    from rmix.experiment.plain import to_plain

    a = Waterbirds(root="a", cache="b", workers=3)
    assert to_plain(a) == to_plain(Waterbirds()) == {"name": "waterbirds", "size": 224, "augment": False}
    assert to_plain(replace(a, augment=True)) != to_plain(a)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ((1, "x.jpg", 0, 0, 0, ""), r"metadata.csv row 3: img_id '1' stands in row 2 too"),
        ((2, "x.jpg", 2, 0, 0, ""), r"metadata.csv row 3: column 'y' must be one of 0, 1, got '2'"),
        ((2, "x.jpg", 0, 3, 0, ""), r"metadata.csv row 3: column 'split' must be one of 0, 1, 2, got '3'"),
        ((2, "x.jpg", 0, 0, "sea", ""), r"metadata.csv row 3: column 'place' must be one of 0, 1, got 'sea'"),
    ],
)
def test_bad_rows_are_named(tmp_path: Path, row: tuple[object, ...], message: str) -> None:
    header = "img_id,img_filename,y,split,place,place_filename"
    write_csv(tmp_path / "metadata.csv", header, [(1, "a.jpg", 0, 0, 0, ""), row])
    with pytest.raises(DataError, match=message):
        load(tmp_path)


def test_a_spreadsheets_file_is_read_too(tmp_path: Path) -> None:
    """A byte-order mark and Windows line ends."""
    write_waterbirds(tmp_path)
    plain = load(tmp_path).checksum
    text = (tmp_path / "metadata.csv").read_bytes()
    (tmp_path / "metadata.csv").write_bytes(b"\xef\xbb\xbf" + text.replace(b"\n", b"\r\n"))
    assert load(tmp_path).checksum == plain


def test_a_damaged_image_is_named_with_its_row(tmp_path: Path) -> None:
    bundle = load(write_waterbirds(tmp_path), size=16)
    path = bundle.train.x.paths[2]
    (tmp_path / path).write_bytes(b"")
    lines = (tmp_path / "metadata.csv").read_text().splitlines()
    row = next(i for i, line in enumerate(lines, 1) if path in line)
    with pytest.raises(DataError, match=rf"{path} \(metadata.csv row {row}\) cannot be read: it is empty"):
        bundle.train.x[torch.tensor([2])]


def test_the_card_and_the_model(tmp_path: Path) -> None:
    check_card(Waterbirds())
    bundle = load(write_waterbirds(tmp_path), size=16)
    network = SmallCNN(width=2).build(bundle.shape, bundle.n_classes)
    assert network(bundle.valid.x[torch.arange(2)]).shape == (2, 2)


def test_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bundle = load(write_waterbirds(tmp_path), size=16, cache=str(tmp_path / "kept"))
    first = bundle.train.x[torch.arange(3)]
    assert list((tmp_path / "kept" / "pictures").iterdir())
    monkeypatch.setenv("RMIX_CACHE", str(tmp_path / "other"))
    assert torch.equal(load(tmp_path, size=16, cache="default").train.x[torch.arange(3)], first)
    assert list((tmp_path / "other" / "pictures").iterdir())
