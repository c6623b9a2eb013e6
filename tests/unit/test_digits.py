"""Digits on backgrounds."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from rmix.datasets import Bundle, DigitsOnBackgrounds
from rmix.datasets.digits import SIDE, _digits
from rmix.errors import InvalidValueError


@pytest.fixture(scope="module")
def digits() -> Bundle:
    return DigitsOnBackgrounds().load()


def test_sizes_are_those_of_the_card(digits: Bundle) -> None:
    assert digits.train_counts == (463, 30, 25, 482)
    for split in (digits.valid, digits.test):
        assert split.member(4).sum(0).tolist() == [190] * 4
    assert digits.shape == (1, SIDE, SIDE)


def test_a_group_is_a_label_on_a_background(digits: Bundle) -> None:
    """Horizontal stripes are the same along a row: where there is no ink, a row hardly varies."""
    for split in digits.splits.values():
        assert torch.equal(split.y, split.group // 2)
        corner = split.x[:, 0, :4, :2]  # the left edge holds hardly any ink
        along_a_row, along_a_column = corner.diff(dim=2).abs().mean((1, 2)), corner.diff(dim=1).abs().mean((1, 2))
        horizontal = split.group % 2 == 0
        assert (along_a_row < along_a_column)[horizontal].float().mean() > 0.9
        assert (along_a_row > along_a_column)[~horizontal].float().mean() > 0.9


def test_no_digit_is_in_two_splits() -> None:
    data = DigitsOnBackgrounds()
    images, label = _digits()
    assert images.shape == (1797, SIDE, SIDE)
    dealt = data._deal(label, {"train": (493, 507), "valid": (190, 190), "test": (190, 190)})
    rows = np.concatenate(list(dealt.values()))
    assert len(set(rows.tolist())) == len(rows) == 1000 + 380 + 380
    assert (label[dealt["train"]] == np.repeat([0, 1], [493, 507])).all()


def test_the_right_digits_have_the_right_label() -> None:
    from sklearn.datasets import load_digits

    _, digit = load_digits(return_X_y=True)
    assert _digits()[1].tolist() == [int(d > 4) for d in digit]


def test_more_digits_than_there_are() -> None:
    with pytest.raises(InvalidValueError, match=r"Split 'test' needs 420 digit images of class 0, but \d+ are left"):
        DigitsOnBackgrounds(held_out=420, sizes=(50, 30, 25, 40)).load()
    with pytest.raises(InvalidValueError, match="sizes must be 4 numbers >= 1"):
        DigitsOnBackgrounds(sizes=(1, 2, 3))
