"""Pictures from files of any kind, and decoded pictures kept on disk."""

from __future__ import annotations

import logging
import os
import weakref
import zlib
from pathlib import Path

import numpy as np
import torch
from PIL import Image, ImageOps, UnidentifiedImageError

from rmix.datasets.transforms import Geometry, resized
from rmix.errors import DataError

log = logging.getLogger(__name__)
Size = tuple[int, int]  # width and height before resizing
FACTS = 3  # numbers kept with each picture: a checksum, width, height
SIXTEEN_BITS = 1 << 16


def decode(path: Path, geometry: Geometry) -> tuple[np.ndarray, Size]:
    """The picture of a file, (3, side, side) uint8, and its size before it was resized."""
    image = open_picture(path)
    left, top, right, bottom = geometry.box(*image.size)
    # cut out as published; a filter that is shown the whole would let pixels beside the box shine in
    part = torch.from_numpy(np.array(image))[top:bottom, left:right].permute(2, 0, 1)
    return resized(part, geometry.side).contiguous().numpy(), image.size


def open_picture(path: Path) -> Image.Image:
    """A picture in RGB and upright; its transparent parts lie over white, and 16 bits become 8.

    Whatever is wrong with the file is raised as a :class:`~rmix.errors.DataError` that says why.
    """
    try:
        with Image.open(path) as image:
            image.load()
            ImageOps.exif_transpose(image, in_place=True)
            return _rgb(image)
    except UnidentifiedImageError:
        why = "it is empty" if path.stat().st_size == 0 else "it is not an image, or of an unknown kind"
    except Image.DecompressionBombError:
        why = f"it has more than {2 * (Image.MAX_IMAGE_PIXELS or 0):,} pixels"
    except FileNotFoundError:
        why = "there is no such file"
    except Exception as error:  # a damaged file makes Pillow's readers fail in many ways
        why = str(error) or type(error).__name__
    raise DataError(why.rstrip("."))


def _rgb(image: Image.Image) -> Image.Image:
    if image.mode == "RGB":
        return image
    if image.mode.startswith("I"):  # grey of 16 bits, in 32 where Pillow has no better mode
        grey = np.asarray(image)
        if grey.min() < 0 or grey.max() >= SIXTEEN_BITS:
            raise DataError(f"it has values from {grey.min()} to {grey.max()}, where 0 to 65535 are known")
        return Image.fromarray((grey >> 8).astype(np.uint8)).convert("RGB")
    if image.mode == "F":
        raise DataError("its values are floating point numbers, of which no range is known")
    if image.has_transparency_data:
        image = image.convert("RGBA")
        return Image.alpha_composite(Image.new("RGBA", image.size, "white"), image).convert("RGB")
    return image.convert("RGB")


class Kept:
    """Decoded pictures in one file that is mapped into memory, filled in any order by any process.

    Each picture has a checksum beside it, which is compared when a process first reads it. So a
    process that is killed, a full disk's hole or two writers at once can at most cost decoding again.

    Args:
        path: the file; made where it does not exist.
        n: number of pictures.
        side: of the squares.
    """

    def __init__(self, path: Path, n: int, side: int) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._start, self._bytes = n * FACTS * 4, side * side * 3  # where pixels start, and those of one picture
        total = self._start + n * self._bytes
        self._file = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        weakref.finalize(self, os.close, self._file)
        _reserve(self._file, total)
        whole = np.memmap(path, np.uint8, "r+", shape=(total,))
        self._facts = whole[: self._start].view(np.uint32).reshape(n, FACTS)
        self._pixels = whole[self._start :].reshape(n, 3, side, side)
        self._good = np.zeros(n, bool)  # compared by this process

    def get(self, row: int) -> tuple[np.ndarray, Size] | None:
        """A picture and its size before resizing; None where it has to be decoded."""
        check, width, height = self._facts[row].tolist()
        if not self._good[row]:
            if not check or check != _check(self._pixels[row], (width, height)):
                return None
            self._good[row] = True
        return self._pixels[row], (width, height)

    def put(self, row: int, pixels: np.ndarray, size: Size) -> None:
        """Keep a picture; its checksum is written last."""
        facts = np.array([_check(pixels, size), *size], np.uint32)
        os.pwrite(self._file, pixels.data, self._start + row * self._bytes)  # quicker than through the map
        os.pwrite(self._file, facts.data, row * facts.nbytes)
        self._good[row] = True


def _check(pixels: np.ndarray, size: Size) -> int:
    """Never 0, which is what an empty file holds."""
    return zlib.crc32(pixels.data, size[0] << 16 ^ size[1]) or 1


def _reserve(file: int, total: int) -> None:
    """Give the file its length; a disk that is too full must say so now, not when a page is written."""
    if os.fstat(file).st_size >= total:
        return
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(file, 0, total)
    else:
        os.truncate(file, total)
