"""Image files that tests write."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image


def photo(seed: int, width: int = 40, height: int = 30) -> Image.Image:
    """A smooth coloured picture, another one for every seed."""
    coarse = np.random.default_rng(seed).integers(0, 256, (4, 5, 3), dtype=np.uint8)
    return Image.fromarray(coarse).resize((width, height), Image.Resampling.BICUBIC)


def write_photos(folder: Path, n: int, width: int = 40, height: int = 30, kind: str = "jpg") -> list[str]:
    """Files in ``folder``; their names."""
    folder.mkdir(parents=True, exist_ok=True)
    names = [f"{i:03d}.{kind}" for i in range(n)]
    for i, name in enumerate(names):
        photo(i, width, height).save(folder / name)
    return names
