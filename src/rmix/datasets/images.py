"""Inputs that are image files: decoded ahead in threads, once, and kept decoded on disk."""

from __future__ import annotations

import hashlib
import logging
import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from functools import cached_property, partial
from math import prod
from pathlib import Path
from sys import getrefcount
from typing import Any

import numpy as np
import torch
from torch import Tensor

from rmix.datasets.inputs import Draws
from rmix.datasets.pictures import Kept, decode, open_picture
from rmix.datasets.transforms import Geometry, View
from rmix.errors import DataError

log = logging.getLogger(__name__)
AHEAD = 4  # batches prepared while one is used
KEPT = b"pictures 2"  # how they are kept
CHUNK = 8  # pictures that a worker prepares at a time
CHECKED = 64  # files that a worker checks at a time
Draw = Callable[[int], np.random.Generator]  # from the place in a batch


def cores() -> int:
    """Processor cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _references(held: list[Any], i: int) -> int:
    return getrefcount(held[i])


# What Python counts of an object that a list alone holds, which its version decides; a tensor that lies
# in a block holds it too.
FREE = _references([object()], 0)


class Memory:
    """Tensors whose memory is used again once nobody holds them.

    Fresh memory of this size comes from the kernel page by page, which takes longer than filling it
    with a batch of kept pictures.
    """

    def __init__(self) -> None:
        self._blocks: list[np.ndarray] = []

    def tensor(self, *shape: int) -> Tensor:
        """A tensor that is not filled."""
        size = prod(shape)
        for i in range(len(self._blocks)):
            if self._blocks[i].size == size and _references(self._blocks, i) == FREE:
                return torch.from_numpy(self._blocks[i]).view(shape)
        self._blocks.append(np.empty(size, np.float32))
        return torch.from_numpy(self._blocks[-1]).view(shape)


class Images:
    """The images of a split, in order; each becomes (3, size, size) when its row is read.

    Decoding runs in threads (Pillow and torch let them run side by side), some batches ahead. What
    was decoded and resized is kept under ``cache``, one byte a value, and read from there from the
    second time on; random crops are cut from the kept picture at every showing.

    Args:
        paths: of the files, below ``root``.
        root: folder of the files; not part of the checksum.
        view: what is shown of a picture.
        cache: folder for decoded pictures; None = decoded at every reading.
        workers: threads that decode; None = one a core. Changes no bit.
        listed: name of the table that lists the paths, and the row of each; for messages.
    """

    def __init__(
        self,
        paths: Sequence[str],
        *,
        root: str | Path = ".",
        view: View | None = None,
        cache: str | Path | None = None,
        workers: int | None = None,
        listed: tuple[str, np.ndarray] | None = None,
    ) -> None:
        self.paths, self.root, self.view = tuple(paths), Path(root), view or View()
        self.cache, self.workers, self.listed = cache, workers, listed
        self._kept: dict[Geometry, Kept | None] = {}

    def __len__(self) -> int:
        return len(self.paths)

    def __getitem__(self, rows: Tensor, /) -> Tensor:
        """Rows as evaluated, (n, 3, size, size) float."""
        return next(self.read([rows]))

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_kept": {}}  # a mapped file does not travel to other processes

    def evaluated_as(self, size: int, mean: tuple[float, float, float], std: tuple[float, float, float]) -> Images:
        """The same part of the same images, of another size and normalised otherwise.

        Nothing is kept on disk, since an encoder reads each image once.
        """
        if self.view.random:
            raise DataError("Random crops and flips cannot apply to features, which are made once; say --no-augment.")
        view = replace(self.view.sized(size), mean=mean, std=std)
        return Images(self.paths, root=self.root, view=view, workers=self.workers, listed=self.listed)

    @cached_property
    def checksum(self) -> str:
        """A hash of the names and sizes of the files, and of the view."""
        return _hash(repr(self.view).encode(), self._names, self._files[:, 0].tobytes())

    def contents(self, memory: Path) -> str:
        """A hash of all that is in the files, which are read once; ``memory`` is where it is written down.

        Files that lie elsewhere, or of another size or time of change, are read again.
        """
        known = memory / _hash(self._place, self._names, self._files.tobytes())
        if not known.exists():
            with ThreadPoolExecutor(self.workers or cores(), "rmix images") as pool:
                found = _hash(*pool.map(self._digest, range(len(self))))
            memory.mkdir(parents=True, exist_ok=True)
            aside = known.with_name(f".{known.name}.{os.getpid()}")
            aside.write_text(found)
            aside.replace(known)
        return known.read_text()

    def _digest(self, row: int) -> bytes:
        try:
            return hashlib.sha256(self._path(row).read_bytes()).digest()
        except OSError as error:
            raise self._refused(row, error.strerror or str(error)) from None

    @property
    def _place(self) -> bytes:
        return str(self.root.resolve()).encode("utf-8", "surrogateescape")

    @property
    def _names(self) -> bytes:
        return "\n".join(self.paths).encode("utf-8", "surrogateescape")

    @cached_property
    def _files(self) -> np.ndarray:
        """Bytes and time of change of each file, (n, 2) int64."""
        found = np.empty((len(self), 2), np.int64)
        for row in range(len(self)):
            try:
                file = os.stat(self._path(row))
            except OSError as error:
                raise self._refused(row, error.strerror or str(error)) from None
            found[row] = file.st_size, file.st_mtime_ns
        return found

    def read(self, batches: Sequence[Tensor], draws: Draws | None = None) -> Iterator[Tensor]:
        """The rows of each batch in turn, while threads prepare the next ones."""
        if not self.view.random:
            draws = None
        kept = self._kept_as(self.view.kept(draws is not None))
        pool, memory = ThreadPoolExecutor(self.workers or cores(), "rmix images"), Memory()
        ahead: deque[tuple[Tensor, list[Future[None]]]] = deque()
        try:
            for number, rows in enumerate(batches):
                x = memory.tensor(len(rows), 3, self.view.size, self.view.size)
                draw = None if draws is None else partial(draws, number)
                starts = range(0, len(rows), CHUNK)
                ahead.append((x, [pool.submit(self._fill, x, rows, start, kept, draw) for start in starts]))
                if len(ahead) > AHEAD:
                    yield _ready(*ahead.popleft())
            while ahead:
                yield _ready(*ahead.popleft())
        finally:
            pool.shutdown(cancel_futures=True)

    def _fill(self, x: Tensor, rows: Tensor, start: int, kept: Kept | None, draw: Draw | None) -> None:
        """Fill a chunk of the batch ``x``, from place ``start`` on."""
        stop, geometry = min(start + CHUNK, len(rows)), self.view.kept(draw is not None)
        for place in range(start, stop):
            pixels, size = self._picture(kept, int(rows[place]), geometry)
            shown = self.view.show(torch.from_numpy(pixels), size, None if draw is None else draw(place))
            self.view.normalise(shown, x[place])

    def _picture(self, kept: Kept | None, row: int, geometry: Geometry) -> tuple[np.ndarray, tuple[int, int]]:
        found = kept.get(row) if kept else None
        if found is None:
            try:
                found = decode(self._path(row), geometry)
            except DataError as error:
                raise self._refused(row, str(error)) from None
            if kept:
                kept.put(row, *found)
        return found

    def _kept_as(self, geometry: Geometry) -> Kept | None:
        if self.cache is None:
            return None
        if geometry not in self._kept:
            self._kept[geometry] = self._open(Path(self.cache).expanduser(), geometry)
        return self._kept[geometry]

    def _open(self, cache: Path, geometry: Geometry) -> Kept | None:
        what = (KEPT, repr(geometry).encode(), self._place, self._names, self._files.tobytes())
        path = cache / "pictures" / _hash(*what)
        try:
            return Kept(path, len(self), geometry.side)
        except OSError as error:
            size = len(self) * geometry.side**2 * 3 / 1e9
            log.warning(
                "%.1f GB of decoded pictures cannot be kept in %s (%s), so every epoch decodes them again; "
                "choose another folder with --dataset.cache.",
                size,
                cache,
                error.strerror or error,
            )
            return None

    def unreadable(self) -> Iterator[str | None]:
        """For each image in order: None, or the sentence that says why it cannot be read."""
        pool = ThreadPoolExecutor(self.workers or cores(), "rmix images")
        try:
            for reasons in pool.map(self._why_not, range(0, len(self), CHECKED)):
                yield from reasons
        finally:
            pool.shutdown(cancel_futures=True)

    def _why_not(self, start: int) -> list[str | None]:
        return [self._reason(row) for row in range(start, min(start + CHECKED, len(self)))]

    def _reason(self, row: int) -> str | None:
        try:
            open_picture(self._path(row))
        except DataError as error:
            return str(self._refused(row, str(error)))
        return None

    def _path(self, row: int) -> Path:
        return self.root / self.paths[row]

    def _refused(self, row: int, why: str) -> DataError:
        listed = f" ({self.listed[0]} row {self.listed[1][row]})" if self.listed else ""
        return DataError(f"Image {self._path(row)}{listed} cannot be read: {why}; mend it, or take it out.")


def _ready(x: Tensor, parts: list[Future[None]]) -> Tensor:
    for part in parts:
        part.result()
    return x


def _hash(*parts: bytes) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
    return digest.hexdigest()[:16]
