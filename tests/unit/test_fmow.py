"""FMoW in the layout of WILDS."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from image_sets import HIDDEN, write_fmow

from rmix.datasets import FMoW
from rmix.datasets.fmow import CLASSES, REGIONS
from rmix.errors import DataError
from rmix.testing import check_card

# Every class must be in training: rows 0 to 61 are one of each, of 2010, in the regions in turn.
COUNTRIES = ("JPN", "FRA", "KEN", "CHL", "FJI")
PLAIN = [("train", name, COUNTRIES[i % 5], "2010-06-01T12:00:00Z") for i, name in enumerate(CLASSES)]
SPECIAL = [
    ("seq", "zoo", "FRA", "2010-01-01T00:00:00Z"),  # 62: sequestered, but it counts in the numbers of the images
    ("train", "zoo", "XYZ", "2012-12-31T23:59:59Z"),  # 63: an unknown country; the last second of training
    ("train", "zoo", "FRA", "2013-01-01T00:00:00Z"),  # 64: too late for training
    ("val", "zoo", "FRA", "2013-01-01T00:00:00Z"),  # 65: the first of validation
    ("val", "zoo", "FRA", "2013-01-01T00:30:00+01:00"),  # 66: half an hour before 2013, in UTC
    ("val", "zoo", "FRA", "2012-12-31T23:30:00-01:00"),  # 67: half an hour after
    ("val", "zoo", "FRA", "2016-01-01T00:00:00Z"),  # 68: too late for validation
    ("test", "zoo", "FRA", "2016-01-01T00:00:00Z"),  # 69: the first of test
    ("test", "zoo", "FRA", "2015-12-31T23:59:59Z"),  # 70: in no split
    ("test", "airport", "ATA", "2017-05-05T01:02:03.000Z"),  # 71: a country of no region
    ("train", "airport", "KEN", "2002-01-01T00:00:00Z"),  # 72
]


def load(folder: Path, **settings: object):
    return FMoW(root=str(folder), **{**HIDDEN, "size": 8, **settings}).load()


def numbers(split) -> list[int]:
    """N of the images rgb_img_N.png."""
    return [int(path.removeprefix("images/rgb_img_").removesuffix(".png")) for path in split.x.paths]


def test_splits_by_year_and_numbers_before_rows_are_left_out(tmp_path: Path) -> None:
    bundle = load(write_fmow(tmp_path / "fmow_v1.1", PLAIN + SPECIAL).parent)
    assert numbers(bundle.train) == [*range(62), 63, 72]
    assert numbers(bundle.valid) == [65, 67]
    assert numbers(bundle.test) == [69, 71]
    assert bundle.test.x[torch.tensor([0, 1])].shape == (2, 3, 8, 8)


def test_validation_of_the_training_years(tmp_path: Path) -> None:
    bundle = load(write_fmow(tmp_path, PLAIN + SPECIAL), id_valid=True)
    assert numbers(bundle.valid) == [66]
    assert numbers(bundle.test) == [69, 71]
    said = [FMoW(root=str(tmp_path), id_valid=ours).differences(bundle)[-2] for ours in (False, True)]
    assert said == [f"Split 'valid' has 1 rows, published are {n}." for n in ("19,915", "11,483")]


def test_a_copy_without_its_images_says_so(tmp_path: Path) -> None:
    (write_fmow(tmp_path, PLAIN + SPECIAL) / "images").rename(tmp_path / "pictures")
    with pytest.raises(
        DataError, match=r"^FMoW in .* lacks the folder images \(rgb_img_N.png.*See: rmix data describe"
    ):
        load(tmp_path)


def test_groups_are_regions_by_name(tmp_path: Path) -> None:
    bundle = load(write_fmow(tmp_path, PLAIN + SPECIAL))
    assert bundle.group_names == REGIONS == ("Asia", "Europe", "Africa", "Americas", "Oceania")
    assert bundle.train.group[:5].tolist() == [0, 1, 2, 3, 4]
    assert bundle.train.group[62:].tolist() == [-1, 2], "an unknown country is in no group; Kenya is in Africa"
    assert bundle.test.group.tolist() == [1, -1]
    assert bundle.train_counts == (13, 13, 13 + 0, 12, 12)


def test_classes(tmp_path: Path) -> None:
    bundle = load(write_fmow(tmp_path, PLAIN + SPECIAL))
    assert len(CLASSES) == len(set(CLASSES)) == 62
    assert list(CLASSES) == sorted(CLASSES)
    assert bundle.train.y.tolist() == [*range(62), 61, 0]
    assert bundle.class_names[61] == "zoo"


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (("train", "zoo", "FRA", "2012-12-31T00:00:00"), "row 64: timestamp '2012-12-31T00:00:00' has no time zone"),
        (("train", "zoo", "FRA", "yesterday"), "row 64: timestamp 'yesterday' is not a time such as"),
        (("train", "zo", "FRA", "2010-01-01T00:00:00Z"), "row 64: category 'zo' is none of the 62. Did you mean 'zoo"),
        (
            ("extra", "zoo", "FRA", "2010-01-01T00:00:00Z"),
            "row 64: column 'split' must be one of train, val",
        ),
    ],
)
def test_bad_rows_are_named(tmp_path: Path, row: tuple[str, str, str, str], message: str) -> None:
    with pytest.raises(DataError, match=message):
        load(write_fmow(tmp_path, [*PLAIN, row]))


def test_the_card() -> None:
    check_card(FMoW())
