"""Predictions and what they are counted into, by hand."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from toys import split_of

from rmix.metrics import GroupTable
from rmix.training.evaluate import evaluate, predict


class Sign(nn.Module):
    """Class 1 where the input is positive; trained, everything is of class 0."""

    def forward(self, x: Tensor) -> Tensor:
        return torch.cat([-x, x], dim=1) if not self.training else torch.tensor([[1.0, 0.0]]).expand(len(x), 2)


X = torch.tensor([[1.0], [-1.0], [2.0], [-3.0], [4.0]])


def test_a_table_by_hand() -> None:
    """Predicted 1, 0, 1, 0, 1: wrong in rows 1 and 4; row 3 is in no group, group 1 has no row."""
    split = split_of([1, 1, 1, 0, 0], group=[0, 0, 2, -1, 2], x=X)
    assert evaluate(Sign(), split, 3) == GroupTable((1, 0, 1), (2, 0, 2), 3, 5)


def test_any_size_of_batch_gives_the_rows_in_order() -> None:
    split = split_of([0] * 5, x=X)
    for size in (None, 1, 2, 5, 9):
        assert predict(Sign(), split, size)[:, 1].tolist() == X.flatten().tolist()
