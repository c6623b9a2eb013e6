"""The contract of pairings that draw a partner among the rows that qualify."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from rmix.batch import Batch, Groups
from rmix.mixers import Pairing
from rmix.streams import stream
from rmix.testing.generators import global_generators
from rmix.testing.plain import goes_round
from rmix.testing.runs import changed_fields, clone

DRAWS = 300


def toy_cells() -> Batch:
    """Three groups of class 0, two of class 1, unequal in size; a row in no group, and one whose class is its own."""
    group = torch.tensor([0, 2, 4, 1, 3, 0, 0, 3, -1, 5, 1])
    y = torch.tensor([0, 0, 0, 1, 1, 0, 0, 1, 0, 2, 1])
    return Batch(torch.zeros(len(y), 2), y, torch.arange(len(y)), torch.ones(len(y)), group)


def check_selective(pairing: Pairing, qualified: Callable[[Batch], Tensor], batch: Batch | None = None) -> None:
    """A pairing gives every row one of its ``qualified`` partners, each at times, and a row without one itself.

    Args:
        pairing: to check.
        qualified: gives which rows (n, n) bool may be the partners of each row.
        batch: to pair; the toy cells unless given.

    Example:
        >>> from rmix.mixers import OtherGroup
        >>> known = lambda batch: (batch.group >= 0) & (batch.group >= 0)[:, None]
        >>> check_selective(OtherGroup(), lambda batch: known(batch) & (batch.group != batch.group[:, None]))
    """
    goes_round(pairing)
    assert pairing.groups == Groups.TRAIN, f"{pairing!r} reads groups but declares {pairing.groups}"
    batch = toy_cells() if batch is None else batch
    kept, possible = clone(batch), qualified(batch)
    possible |= torch.diag(~possible.any(1))  # a row without a partner pairs with itself
    seen = np.zeros(possible.shape, dtype=int)
    for number in range(DRAWS):
        with global_generators(number):
            partner = pairing(batch, stream(number, "contract", "mix"))
        again = pairing(batch, stream(number, "contract", "mix"))
        assert torch.equal(partner, again), f"{pairing!r} draws differently each time"
        seen[np.arange(len(batch)), partner.numpy()] += 1
    assert not (changed := changed_fields(batch, kept)), f"{pairing!r} changed the batch's {' and '.join(changed)}"
    wrong = np.argwhere((seen > 0) != possible.numpy())
    assert not len(wrong), f"{pairing!r} pairs row {wrong[0][0]} with {seen[wrong[0][0]].nonzero()[0].tolist()}"
    likely = DRAWS / possible.sum(1, keepdim=True).numpy()
    far = np.abs(seen - likely) * possible.numpy() > 5 * np.sqrt(likely)
    assert not far.any(), f"{pairing!r} does not draw all qualified partners alike: {seen[far.any(1)][0].tolist()}"
