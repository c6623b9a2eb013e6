"""CutMix: paste a box of the partner's image, and count both targets by area (paper, Eq. cutmix)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
import torch
from torch import Tensor

from rmix.batch import Batch, Mixed
from rmix.errors import InvalidValueError
from rmix.mixers.mixup import Pairs, as_lam, both_targets


class Box(NamedTuple):
    """Rows ``top:bottom`` and columns ``left:right``; each (1,) for the batch or (n,) for its rows."""

    top: np.ndarray
    bottom: np.ndarray
    left: np.ndarray
    right: np.ndarray


def cut_box(size: tuple[int, int], lam: np.ndarray, centre: tuple[np.ndarray, np.ndarray]) -> Box:
    """The box around ``centre`` with sides ``sqrt(1 - lam)`` of the image's, clipped to the image.

    Example:
        >>> cut_box((10, 10), np.array([0.75]), (np.array([1]), np.array([5])))
        Box(top=array([0]), bottom=array([3]), left=array([3]), right=array([7]))
    """
    edges = []
    for length, middle in zip(size, centre, strict=True):
        half = (length * np.sqrt(1 - lam)).astype(np.int64) // 2
        edges += [np.clip(middle - half, 0, length), np.clip(middle + half, 0, length)]
    return Box(*edges)


def cutmix(batch: Batch, partner: Tensor, box: Box) -> Mixed:
    """The partner's pixels inside ``box``, the row's own outside; lambda is the area left uncut.

    Args:
        batch: rows with images (n, channels, height, width); not changed.
        partner: (n,) int64, the position of each row's partner.
        box: from :func:`cut_box`; lambda is computed again from its clipped area.
    """
    if batch.x.dim() != 4:
        raise InvalidValueError(
            f"CutMix needs images (n, channels, height, width), got inputs of shape {tuple(batch.x.shape)}."
        )
    height, width = batch.x.shape[2:]
    rows, columns = np.arange(height)[:, None], np.arange(width)[None, :]
    top, bottom, left, right = (edge[:, None, None] for edge in box)
    inside = (top <= rows) & (rows < bottom) & (left <= columns) & (columns < right)  # (1 or n, h, w)
    mask = torch.from_numpy(inside[:, None]).to(batch.x.device)
    lam = 1 - (box.bottom - box.top) * (box.right - box.left) / (height * width)
    x = torch.where(mask, batch.x.index_select(0, partner), batch.x)
    return Mixed(x, both_targets(batch, partner, as_lam(lam, batch.weight)))


@dataclass(frozen=True)
class CutMix(Pairs):
    """Paste a box of the partner's image (Yun et al., 2019).

    Example:
        >>> batch = Batch(torch.rand(4, 1, 8, 8), torch.zeros(4).long(), torch.arange(4), torch.ones(4))
        >>> CutMix(alpha=1.0)(batch, np.random.default_rng(0)).x.shape
        torch.Size([4, 1, 8, 8])
    """

    name: ClassVar[str] = "cutmix"

    def __call__(self, batch: Batch, rng: np.random.Generator) -> Mixed:
        partner, drawn = self.draw(batch, rng)
        lam = np.atleast_1d(drawn)
        if batch.x.dim() != 4:
            return cutmix(batch, partner, Box(lam, lam, lam, lam))  # says what is wrong
        height, width = batch.x.shape[2:]
        centre = rng.integers(height, size=len(lam)), rng.integers(width, size=len(lam))
        return cutmix(batch, partner, cut_box((height, width), lam, centre))
