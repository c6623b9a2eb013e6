"""CutMix: boxes, pixels, lambda."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from toys import make_batch, rng

from rmix.batch import Batch, Mixed
from rmix.errors import InvalidValueError
from rmix.mixers import CutMix, cutmix
from rmix.mixers.cutmix import Box, cut_box

SWAP = torch.tensor([1, 0])


def box(top: int, bottom: int, left: int, right: int) -> Box:
    return Box(*(np.array([edge]) for edge in (top, bottom, left, right)))


def images(n: int = 2, side: tuple[int, int] = (4, 5)) -> Batch:
    """Row i is an image of i everywhere, with weight i + 1."""
    x = torch.arange(n).view(n, 1, 1, 1).expand(n, 3, *side)
    return make_batch([i % 2 for i in range(n)], x=x, weight=[i + 1.0 for i in range(n)])


def test_a_box_by_hand() -> None:
    """Sides are sqrt(1 - 0.75) = half of 8 by 12: 4 by 6, so 2 and 3 to either side of the centre (4, 6)."""
    assert cut_box((8, 12), np.array([0.75]), (np.array([4]), np.array([6]))) == box(2, 6, 3, 9)


def test_the_box_is_clipped_at_each_edge() -> None:
    lam = np.array([0.75])
    assert cut_box((8, 12), lam, (np.array([0]), np.array([0]))) == box(0, 2, 0, 3)
    assert cut_box((8, 12), lam, (np.array([7]), np.array([11]))) == box(5, 8, 8, 12)


def test_odd_sides_lose_a_pixel() -> None:
    """A side of 10 * sqrt(0.3) = 5.48 pixels is 5, and half of it 2: as published."""
    assert cut_box((10, 10), np.array([0.7]), (np.array([5]), np.array([5]))) == box(3, 7, 3, 7)


def test_a_box_by_hand_in_the_picture() -> None:
    """Rows 1 and 2, columns 0 to 2 of 4 by 5: six of twenty pixels, so lambda is 0.7."""
    batch = images()
    mixed = cutmix(batch, SWAP, box(1, 3, 0, 3))
    picture = torch.zeros(4, 5, dtype=torch.float64)
    picture[1:3, 0:3] = 1
    assert torch.equal(mixed.x[0], picture.expand(3, 4, 5))
    assert torch.equal(mixed.x[1], 1 - picture.expand(3, 4, 5))
    own, other = mixed.parts
    assert own.weight.tolist() == pytest.approx([0.7, 1.4])
    assert other.weight.tolist() == pytest.approx([0.6, 0.3])
    assert (own.y.tolist(), other.y.tolist()) == ([0, 1], [1, 0])


def test_an_empty_box_leaves_the_row_and_a_full_box_takes_the_partner() -> None:
    batch = images()
    nothing, everything = cutmix(batch, SWAP, box(2, 2, 0, 5)), cutmix(batch, SWAP, box(0, 4, 0, 5))
    assert torch.equal(nothing.x, batch.x)
    assert nothing.parts[1].weight.tolist() == [0.0, 0.0]
    assert torch.equal(everything.x, batch.x.flip(0))
    assert everything.parts[0].weight.tolist() == [0.0, 0.0]
    assert everything.parts[1].weight.tolist() == [2.0, 1.0]


def test_lambda_one_cuts_nothing_and_lambda_zero_at_the_centre_everything() -> None:
    centre = (np.array([2]), np.array([2]))
    assert cut_box((4, 4), np.array([1.0]), centre) == box(2, 2, 2, 2)
    assert cut_box((4, 4), np.array([0.0]), centre) == box(0, 4, 0, 4)


def test_one_box_a_row() -> None:
    boxes = Box(np.array([0, 0]), np.array([4, 1]), np.array([0, 0]), np.array([1, 5]))
    mixed = cutmix(images(), SWAP, boxes)
    assert mixed.x[0, 0].tolist() == [[1, 0, 0, 0, 0]] * 4
    assert mixed.x[1, 0].tolist() == [[0] * 5] + [[1] * 5] * 3
    assert mixed.parts[0].weight.tolist() == pytest.approx([16 / 20, 2 * 15 / 20])


def test_the_batch_is_not_changed() -> None:
    batch = images()
    before = batch.x.clone()
    cutmix(batch, SWAP, box(0, 4, 0, 5))
    assert torch.equal(batch.x, before)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(n=st.integers(1, 6), height=st.integers(1, 9), width=st.integers(1, 9), seed=st.integers(0, 10**6),
       per_sample=st.booleans())  # fmt: skip
def test_the_pixels_of_each_row_are_counted_by_its_weights(
    n: int, height: int, width: int, seed: int, per_sample: bool
) -> None:
    """Row i holds its own number i or its partner's; the share of own pixels is lambda."""
    batch = images(n, (height, width))
    mixed: Mixed = CutMix(1.0, per_sample=per_sample)(batch, rng(seed))
    own, other = mixed.parts
    lam = own.weight / batch.weight
    assert ((lam >= 0) & (lam <= 1)).all()
    for row in range(n):
        taken = mixed.x[row] != row
        if taken.any():  # not its own partner
            assert 1 - taken.double().mean().item() == pytest.approx(lam[row].item())
            partner = int(mixed.x[row][taken][0])
            assert other.weight[row].item() == pytest.approx((1 - lam[row].item()) * (partner + 1))


def test_centres_reach_every_pixel() -> None:
    """At a tiny box of one lambda a row, boxes start at every row of the image."""
    draws = rng()
    batch = images(2, (6, 6))
    seen = set()
    for _ in range(300):
        mixed = CutMix(1.0)(batch, draws)
        seen |= {tuple(place) for place in (mixed.x[0, 0] != 0).nonzero().tolist()}
    assert len(seen) == 36


def test_inputs_must_be_images() -> None:
    batch = make_batch([0, 1], x=torch.zeros(2, 7))
    for mix in (lambda: CutMix()(batch, rng()), lambda: cutmix(batch, SWAP, box(0, 1, 0, 1))):
        with pytest.raises(InvalidValueError, match=r"CutMix needs images .* got inputs of shape \(2, 7\)"):
            mix()
