"""How a picture becomes an input."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from photos import photo
from PIL import Image

from rmix.datasets.transforms import Crop, Geometry, View, _carried, central
from rmix.errors import InvalidValueError
from rmix.streams import stream

BILINEAR = Image.Resampling.BILINEAR


def tensor_of(image: Image.Image) -> torch.Tensor:
    return torch.from_numpy(np.array(image)).permute(2, 0, 1)


def test_boxes_lie_within_the_picture_and_have_the_stated_shares() -> None:
    crop, areas, ratios = Crop(scale=(0.7, 1.0), ratio=(3 / 4, 4 / 3)), [], []
    for i in range(2000):
        left, top, right, bottom = crop.box(500, 375, stream(0, "box", i))
        assert 0 <= left < right <= 500
        assert 0 <= top < bottom <= 375
        areas.append((right - left) * (bottom - top) / (500 * 375))
        ratios.append((right - left) / (bottom - top))
    assert 0.69 < min(areas) < 0.72
    assert max(areas) > 0.97
    assert 0.74 < min(ratios) < 0.95  # wide pictures seldom have room for a narrow box of 0.7 of their area
    assert 1.28 < max(ratios) < 1.35


def test_boxes_reach_every_corner() -> None:
    boxes = np.array([Crop(scale=(0.3, 0.5)).box(100, 100, stream(0, "corner", i)) for i in range(400)])
    assert (boxes.min(0)[:2] == 0).all()
    assert (boxes.max(0)[2:] == 100).all()


def test_a_square_ratio_and_a_fixed_scale_leave_only_the_place_open() -> None:
    crop = Crop(scale=(0.25, 0.25), ratio=(1.0, 1.0))
    boxes = [crop.box(80, 80, stream(1, i)) for i in range(20)]
    assert {(right - left, bottom - top) for left, top, right, bottom in boxes} == {(40, 40)}
    assert len({box[:2] for box in boxes}) > 15


def test_where_nothing_fits_the_largest_central_part_is_taken() -> None:
    # 1000 x 10 has no part of at least 0.9 of its area that is no wider than 4/3 of its height: 13 x 10 remains.
    assert Crop(scale=(0.9, 1.0)).box(1000, 10, stream(0)) == (494, 0, 507, 10)
    assert Crop(scale=(0.9, 1.0)).box(10, 1000, stream(0)) == (0, 494, 10, 507)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"scale": (0.0, 1.0)}, r"scale must rise within \(0, 1\], got \(0.0, 1.0\)"),
        ({"scale": (0.9, 0.7)}, "scale must rise"),
        ({"ratio": (2.0, 1.0)}, "ratio must rise"),
    ],
)
def test_impossible_crops(settings: dict[str, tuple[float, float]], message: str) -> None:
    with pytest.raises(InvalidValueError, match=message):
        Crop(**settings)


def test_impossible_views() -> None:
    with pytest.raises(InvalidValueError, match="resize must be >= size, got 100 and 224"):
        View(224, 100)
    with pytest.raises(InvalidValueError, match="size must be >= 1, got 0"):
        View(0)


def test_the_middle() -> None:
    assert central(178, 218, 178, 178) == (0, 20, 178, 198)
    assert Geometry(64, square=True).box(50, 30) == (10, 0, 40, 30)
    assert Geometry(64, square=False).box(50, 30) == (0, 0, 50, 30)


def test_a_box_is_carried_over_in_proportion() -> None:
    # A picture of 200 x 100 on a square of 50: a quarter of its width, half of its height.
    assert _carried((40, 20, 120, 100), (200, 100), 50) == (10, 10, 30, 50)
    assert _carried((399, 0, 400, 1), (400, 400), 4) == (3, 0, 4, 1), "at least a pixel"


def test_evaluation_shows_the_middle_of_the_kept_picture() -> None:
    kept = tensor_of(photo(0, 8, 8))
    shown = View(4, 8).show(kept, (100, 50))
    assert torch.equal(shown, kept[:, 2:6, 2:6])
    assert torch.equal(View(8).show(kept, (1, 1)), kept)


class Fixed(Crop):
    """A box that is not random."""

    def box(self, width: int, height: int, rng: np.random.Generator) -> tuple[int, int, int, int]:
        return width // 4, 0, width, height // 2


def test_a_crop_is_what_pillow_makes_of_it() -> None:
    image = photo(3, 64, 64)
    shown = View(32, 64, crop=Fixed()).show(tensor_of(image), (640, 320), stream(0))
    expected = tensor_of(image.resize((32, 32), BILINEAR, box=(16, 0, 64, 32)))
    assert (shown.int() - expected.int()).abs().max() <= 2  # two implementations of one filter


def test_a_crop_on_the_kept_picture_is_near_the_crop_of_the_picture_itself() -> None:
    image = photo(4, 200, 120)
    kept = image.resize((64, 64), BILINEAR)
    shown = View(32, 64, crop=Fixed()).show(tensor_of(kept), image.size, stream(0))
    direct = tensor_of(image.resize((32, 32), BILINEAR, box=(50, 0, 200, 60)))
    difference = (shown.int() - direct.int()).abs().float()
    assert difference.mean() < 3
    mirrored = (shown.int() - direct.flip(2).int()).abs().float()
    assert mirrored.mean() > 5 * difference.mean(), "this test could not see an exchange of left and right"


def test_half_of_the_pictures_are_flipped() -> None:
    kept = tensor_of(photo(5, 6, 6))
    view = View(6, flip=True)
    straight, mirrored = kept, kept.flip(2)
    shown = [view.show(kept, (6, 6), stream(0, "flip", i)) for i in range(400)]
    flips = sum(torch.equal(x, mirrored) for x in shown)
    assert flips + sum(torch.equal(x, straight) for x in shown) == 400
    assert 160 < flips < 240
    assert torch.equal(view.show(kept, (6, 6)), straight), "as evaluated, nothing is random"


def test_the_same_stream_shows_the_same() -> None:
    kept, view = tensor_of(photo(6, 32, 32)), View(24, 32, crop=Crop(), flip=True)
    first, second = (view.show(kept, (320, 240), stream(1, "a", 5)) for _ in range(2))
    assert torch.equal(first, second)
    assert not torch.equal(first, view.show(kept, (320, 240), stream(1, "a", 6)))


def test_normalise() -> None:
    view = View(1, mean=(0.5, 0.2, 0.0), std=(0.5, 0.1, 1.0))
    shown, x = torch.tensor([255, 102, 51], dtype=torch.uint8).view(3, 1, 1), torch.empty(3, 1, 1)
    view.normalise(shown, x)
    # (1 - 0.5) / 0.5, (0.4 - 0.2) / 0.1, (0.2 - 0) / 1
    torch.testing.assert_close(x.flatten(), torch.tensor([1.0, 2.0, 0.2]))


def test_another_size_shows_the_same_part() -> None:
    view = View(224, 256, square=True).sized(112)
    assert (view.size, view.resize, view.square) == (112, 128, True)
    assert View(96).sized(224).side == 224


def test_only_crops_need_the_whole_picture() -> None:
    cropped = View(8, 16, square=True, crop=Crop())
    assert cropped.kept(augmented=True) == Geometry(16, square=False)
    assert cropped.kept(augmented=False) == Geometry(16, square=True)
    assert View(8, 16, square=True, flip=True).kept(augmented=True) == Geometry(16, square=True)
