"""The nouns of a training step: start reading here.

A :class:`Batch` goes in, a mixer turns it into a :class:`Mixed`, and a mixed batch is an input with
one or more :class:`Part` of targets. With parts no loss, reduction or trainer knows that mixing
exists: the loss of RMix, ``w_i·λ·ℓ(x̃, y_i) + w_j·(1−λ)·ℓ(x̃, y_j)``, is two parts.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Flag, auto

from torch import Tensor

from rmix.errors import HiddenGroupsError


class Groups(Flag):
    """Where a method or a part may look at group labels."""

    NONE = 0
    TRAIN = auto()
    VALID = auto()


@dataclass(frozen=True, slots=True)
class Batch:
    """``n`` examples; every field has first dimension ``n``."""

    x: Tensor
    y: Tensor  # (n,) int64 class
    index: Tensor  # (n,) int64 row in the training split
    weight: Tensor  # (n,) float >= 0
    group: Tensor | None = None  # (n,) int64, -1 = in no group; None = hidden from this method

    def __len__(self) -> int:
        return len(self.y)

    @property
    def known_group(self) -> Tensor:
        """The group labels, or an error where they are hidden."""
        if self.group is None:
            raise HiddenGroupsError(
                "This part reads group labels, which are hidden: the method must declare "
                "groups = Groups.TRAIN and the training split must have them."
            )
        return self.group


@dataclass(frozen=True, slots=True)
class Part:
    """One set of targets that a mixed input stands for; ``weight`` already contains lambda."""

    y: Tensor  # (n,) int64
    weight: Tensor  # (n,)
    group: Tensor | None = None  # (n,)


@dataclass(frozen=True, slots=True)
class Mixed:
    """An input and the targets it stands for: one part when nothing was mixed, two after mixup."""

    x: Tensor
    parts: tuple[Part, ...]
    clean: bool = False  # True: x is the batch as it came, so predictions on it may be noted down


def unmixed(batch: Batch) -> Mixed:
    """The batch as it is: one part, its own targets."""
    return Mixed(batch.x, (Part(batch.y, batch.weight, batch.group),), clean=True)
