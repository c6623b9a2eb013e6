"""Features of a data set, made once and kept on disk: heads are then trained in seconds."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from rmix.datasets.base import Bundle
from rmix.datasets.cache import default_cache
from rmix.datasets.inputs import read
from rmix.joined import together, world
from rmix.lock import locked
from rmix.models.encoder import Encoder
from rmix.streams import torch_stream

log = logging.getLogger(__name__)
FORMAT = "features 2"
ROWS = 512  # embedded between two writes: what a kill loses at most
SECONDS = 10  # between two lines of the log


def embed(bundle: Bundle, encoder: Encoder, *, cache: Path | None = None, device: str = "cpu") -> Bundle:
    """The bundle with the features of ``encoder`` (n, d) in place of its inputs.

    Each split is embedded once: what is kept is named by a hash of its inputs and of the encoder with
    its weights. A process that is killed goes on after the last written chunk.
    """
    folder = (cache or default_cache()) / "features"
    return bundle.with_inputs(lambda name, x: _Embedding(name, x, encoder, folder, device).features())


class _Embedding:
    """One split, in chunks of rows, each a file that is written aside and renamed."""

    def __init__(self, name: str, x: Any, encoder: Encoder, folder: Path, device: str) -> None:
        self.title, self.encoder, self.device = f"{name} ({encoder.name})", encoder, device
        self.view = encoder.view(x)
        self.chunks = torch.split(torch.arange(len(x)), ROWS)
        files = [self.view.contents(folder / "contents")] if hasattr(self.view, "contents") else []
        what = json.dumps([FORMAT, ROWS, self.view.checksum, *files, encoder.identity])
        self.folder = folder / hashlib.sha256(what.encode()).hexdigest()[:16]
        self.made, self.told = 0, time.perf_counter()

    def features(self) -> Tensor:
        """Features of all rows, (n, d) float32."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with locked(self.folder / "lock", f"The embedding of {self.title}"):
            rank, processes = world()
            for i in range(rank, len(self.chunks), processes) if processes > 1 else ():
                self._chunk(i)
            together()  # where processes share a disk, the others' chunks are there now
            found = torch.cat([self._chunk(i) for i in range(len(self.chunks))])
        if self.made:
            log.info("Features of %s: %d rows made, %.0f a second.", self.title, self.made, self._rate())
        return found

    @cached_property
    def _network(self) -> nn.Module:
        self.started = time.perf_counter()
        with torch_stream(0, "encoder"):  # its initial weights are replaced by the trained ones
            return self.encoder.network().to(self.device)

    def _rate(self) -> float:
        return self.made / (time.perf_counter() - self.started)

    def _chunk(self, number: int) -> Tensor:
        path, rows = self.folder / f"{number:06d}.pt", self.chunks[number]
        kept = _kept(path, len(rows))
        if kept is not None:
            return kept
        found = self._embed(rows)
        aside = path.with_name(f".{path.name}.{os.getpid()}")
        torch.save(found, aside)
        aside.replace(path)
        self.made += len(rows)
        if time.perf_counter() - self.told > SECONDS:
            self.told = time.perf_counter()
            done, all_rows = int(rows[-1]) + 1, int(self.chunks[-1][-1]) + 1
            log.info("Features of %s: %d of %d rows, %.0f a second.", self.title, done, all_rows, self._rate())
        return found

    def _embed(self, rows: Tensor) -> Tensor:
        network = self._network
        batches = self.encoder.batches(self.view, rows)
        with _workers(self.device) as pool:
            found = torch.cat(list(pool.map(partial(_forward, network, self.device), read(self.view, batches))))
        return found[torch.cat(list(batches)).argsort()]


@torch.no_grad()
def _forward(network: nn.Module, device: str, x: Tensor) -> Tensor:
    found: Tensor = network(x.to(device))
    return found.float().cpu()


@contextmanager
def _workers(device: str) -> Iterator[ThreadPoolExecutor]:
    """As many threads as torch has, each on batches of its own: faster than all on one, and the same bits."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with ThreadPoolExecutor(threads if device == "cpu" else 1, "rmix features") as pool:
            yield pool
    finally:
        torch.set_num_threads(threads)


def _kept(path: Path, n: int) -> Tensor | None:
    """What was kept of a chunk of ``n`` rows, None where it is not there or damaged."""
    if not path.exists():
        return None
    try:
        kept: Any = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # a damaged archive fails in many ways, all of which mean the same here
        log.warning("%s cannot be read (%s) and is made again.", path, type(error).__name__)
        return None
    return kept if isinstance(kept, Tensor) and len(kept) == n else None
