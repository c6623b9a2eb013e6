"""How the rows of a split are read: a tensor is indexed, other inputs may read ahead."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from torch import Tensor

# The random stream of one shown row, from the number of its batch and its place there.
Draws = Callable[[int, int], np.random.Generator]


def read(x: Any, batches: Sequence[Tensor], draws: Draws | None = None) -> Iterator[Tensor]:
    """The rows of each batch in turn; inputs with a method ``read`` may prepare the next ones meanwhile.

    Args:
        x: inputs of a split.
        batches: row numbers of each batch.
        draws: names the random stream of each shown row, so that neither workers nor a resume change
            what it draws; None = as evaluated, without random transforms.

    Example:
        >>> import torch
        >>> [b.tolist() for b in read(torch.tensor([5, 6, 7]), [torch.tensor([2, 0]), torch.tensor([1])])]
        [[7, 5], [6]]
    """
    ahead = getattr(x, "read", None)
    if ahead is not None:
        yield from ahead(batches, draws)
    else:
        for rows in batches:
            yield x[rows]
