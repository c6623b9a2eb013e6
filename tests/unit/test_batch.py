"""The nouns of a step."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import pytest
import torch
from toys import make_batch

from rmix.batch import Groups, unmixed
from rmix.errors import HiddenGroupsError


def test_length_is_the_number_of_rows() -> None:
    assert len(make_batch([0, 1, 1], x=torch.zeros(3, 5))) == 3


def test_a_batch_cannot_be_written_to() -> None:
    with pytest.raises(FrozenInstanceError):
        make_batch([0, 1]).weight = torch.zeros(2)


def test_known_group_is_the_group_or_an_error() -> None:
    assert make_batch([0, 1], group=[3, -1]).known_group.tolist() == [3, -1]
    with pytest.raises(HiddenGroupsError, match="group labels, which are hidden"):
        _ = make_batch([0, 1]).known_group


def test_unmixed_is_one_clean_part_of_the_same_tensors() -> None:
    batch = make_batch([0, 1], weight=[2.0, 3.0], group=[0, 1])
    mixed = unmixed(batch)
    (part,) = mixed.parts
    assert mixed.clean
    assert all(a is b for a, b in zip((mixed.x, part.y, part.weight, part.group),
                                      (batch.x, batch.y, batch.weight, batch.group), strict=True))  # fmt: skip


def test_permissions_unite() -> None:
    assert Groups.TRAIN | Groups.NONE == Groups.TRAIN
    assert Groups.TRAIN not in Groups.VALID
