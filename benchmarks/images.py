"""Epochs over image files: the first, over Pillow alone; the later ones, from what was kept; one worker over two."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from time import perf_counter

import numpy as np
import torch
from PIL import Image

from benchmarks.timing import Line, interleaved, ratio_line
from rmix.datasets.images import Images, cores
from rmix.datasets.transforms import Crop, View
from rmix.streams import stream

PHOTOS, WIDTH, HEIGHT = 512, 500, 375  # the size that photographs of CUB have
VIEW = View(224, 256, crop=Crop(), flip=True)  # as published for Waterbirds
ORDER = torch.split(torch.from_numpy(stream(0, "order").permutation(PHOTOS)), 64)


def write_photos(folder: Path) -> list[str]:
    """JPEG files of about 65 kB, which is what a photograph of this size takes."""
    rng = stream(0, "photos")
    names = [f"{i}.jpg" for i in range(PHOTOS)]
    for name in names:
        coarse = Image.fromarray(rng.integers(0, 256, (24, 32, 3), dtype=np.uint8)).resize((WIDTH, HEIGHT))
        grain = rng.integers(-8, 8, (HEIGHT, WIDTH, 1))
        Image.fromarray((np.asarray(coarse) + grain).clip(0, 255).astype(np.uint8)).save(folder / name, quality=90)
    return names


def pillow_alone(folder: Path, names: list[str], workers: int) -> None:
    """Decode and resize, and drop what comes out."""

    def work(name: str) -> None:
        with Image.open(folder / name) as image:
            image.convert("RGB").resize((VIEW.side, VIEW.side), Image.Resampling.BILINEAR)

    with ThreadPoolExecutor(workers) as pool:
        for _ in pool.map(work, names):
            pass


def epoch(x: Images, *, augmented: bool = False) -> None:
    """Read every batch."""
    for _ in x.read(ORDER, (lambda batch, place: stream(0, "augment", batch, place)) if augmented else None):
        pass


@contextmanager
def _images(folder: Path, names: list[str], workers: int) -> Iterator[Images]:
    """Images of which nothing is kept yet."""
    with tempfile.TemporaryDirectory() as cache:
        yield Images(names, root=folder, view=VIEW, cache=cache, workers=workers)


def lines() -> list[Line]:
    """Time that passes on a clock, since several threads work."""
    with tempfile.TemporaryDirectory() as home:
        folder = Path(home)
        names, all_cores = write_photos(folder), cores()

        def first(workers: int) -> None:
            with _images(folder, names, workers) as x:
                epoch(x)

        with _images(folder, names, all_cores) as kept:
            epoch(kept)
            epoch(kept, augmented=True)
            things = {
                "pillow": lambda: pillow_alone(folder, names, all_cores),
                "first": lambda: first(all_cores),
                "one": lambda: first(1),
                "later": lambda: epoch(kept),
                "augmented": lambda: epoch(kept, augmented=True),
            }
            seconds = interleaved(things, repetitions=10, clock=perf_counter)
    rate = PHOTOS / median(seconds["first"])
    one = f"  first epoch, one worker / {all_cores} ({rate:.0f} images a second)"
    return [
        ratio_line(f"images on {all_cores} cores, first epoch / Pillow", seconds["first"], seconds["pillow"], 1.15),
        _at_least("  first epoch / later epoch", seconds["first"], seconds["later"], 8),
        _at_least("  first epoch / later epoch, crops and flips", seconds["first"], seconds["augmented"]),
        _at_least(one, seconds["one"], seconds["first"]),
    ]


def _at_least(what: str, above: list[float], below: list[float], limit: float | None = None) -> Line:
    line = ratio_line(what, above, below)
    if limit is None:
        return line
    return Line(what, line.measured, f">= {limit:.2f}", median(above) / median(below) >= limit)
