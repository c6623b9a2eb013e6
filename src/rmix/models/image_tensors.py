"""Images as a pretrained network takes them: one size, three channels, normalised."""

from __future__ import annotations

import hashlib
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from rmix.errors import DataError

Three = tuple[float, float, float]


def images_for(what: str, x: Any, side: int, mean: Three, std: Three) -> Any:
    """The images ``x``, in files or in a tensor, with this size and normalisation."""
    if hasattr(x, "evaluated_as"):
        return x.evaluated_as(side, mean, std)
    return ImageTensor(what, x, side, mean, std)


class ImageTensor:
    """Images (n, 1 or 3, height, width), resized when read; uint8 is normalised too, other numbers are taken to be."""

    def __init__(self, what: str, x: Any, side: int, mean: Three, std: Three) -> None:
        if not isinstance(x, Tensor) or x.ndim != 4 or x.shape[1] not in (1, 3):
            shape = f"inputs of shape {tuple(x.shape[1:])}" if isinstance(x, Tensor) else type(x).__name__
            raise DataError(f"{what} needs images, in files or as (channels, height, width) of 1 or 3, got {shape}.")
        self.x, self.side, self.mean, self.std = x, side, mean, std

    def __len__(self) -> int:
        return len(self.x)

    def __getitem__(self, rows: Tensor, /) -> Tensor:
        x = self.x[rows].expand(-1, 3, -1, -1)
        if x.dtype == torch.uint8:
            mean, std = (torch.tensor(each).view(3, 1, 1) for each in (self.mean, self.std))
            x = (x / 255 - mean) / std
        return functional.interpolate(x.float(), (self.side, self.side), mode="bilinear", antialias=True)

    @property
    def checksum(self) -> str:
        """A hash of the images as given and of what is done to them."""
        settings = (tuple(self.x.shape), self.x.dtype, self.side, self.mean, self.std)
        digest = hashlib.sha256(repr(settings).encode())
        digest.update(self.x.contiguous().numpy().tobytes())
        return digest.hexdigest()[:16]
