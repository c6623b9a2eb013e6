"""Drawing every group alike."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from toys import rng

from rmix.batch import Groups
from rmix.errors import HiddenGroupsError
from rmix.recipe import Rows
from rmix.samplers import Balanced


def rows(group: list[int]) -> Rows:
    return Rows(torch.zeros(len(group)).long(), torch.tensor(group))


def test_groups_are_drawn_equally_often() -> None:
    """9,000 rows in three groups of 8,900, 90 and 10: 3,000 draws of each, standard deviation 45."""
    group = [0] * 8900 + [1] * 90 + [4] * 10
    drawn = Balanced()(rows(group), rng(), 8)
    counts = np.bincount(np.array(group)[drawn.numpy()], minlength=5)
    assert len(drawn) == 9000
    assert counts[[2, 3]].tolist() == [0, 0]
    assert abs(counts[[0, 1, 4]] - 3000).max() < 200


def test_rows_of_a_group_are_drawn_equally_often() -> None:
    drawn = Balanced()(rows([0] * 3900 + [1] * 4 + [0] * 96), rng(), 8)
    counts = np.bincount(drawn.numpy(), minlength=4000)[3900:3904]  # 500 each, standard deviation 21
    assert abs(counts - 500).max() < 100


def test_rows_in_no_group_are_one_more_group() -> None:
    drawn = Balanced()(rows([-1] * 3990 + [0] * 10), rng(), 8)
    assert abs((drawn < 3990).sum().item() - 2000) < 150


def test_one_group_is_drawn_uniformly() -> None:
    assert len(set(Balanced()(rows([2] * 1000), rng(), 8).tolist())) > 580  # 1 - 1/e of 1,000 are 632


def test_groups_must_be_shown() -> None:
    assert Balanced().groups == Groups.TRAIN
    with pytest.raises(HiddenGroupsError, match="Balanced sampling reads group labels"):
        Balanced()(Rows(torch.zeros(3).long()), rng(), 8)
