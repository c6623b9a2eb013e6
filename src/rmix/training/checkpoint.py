"""Checkpoints: written aside and renamed, read without executing anything."""

from __future__ import annotations

import io
import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch

from rmix.errors import CheckpointError, StoreError
from rmix.joined import world
from rmix.lock import locked

log = logging.getLogger(__name__)
FORMAT = "rmix checkpoint 1"


def write_whole(path: Path, data: bytes, *, durable: bool = False) -> None:
    """Write ``path`` so that a reader, or a kill at any moment, sees the old file or the new one.

    A ``durable`` file is on the disk before its name is: for what cannot be made again.
    """
    aside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with aside.open("wb") as file:
            file.write(data)
            if durable:
                file.flush()
                os.fsync(file.fileno())
        aside.replace(path)
    except OSError as error:  # a full disk
        aside.unlink(missing_ok=True)
        raise StoreError(f"{path} cannot be written ({error.strerror or error}).") from error


def make_folder(path: Path) -> None:
    """Make a folder of a store, and those around it, where it is not there yet."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"The folder {path} cannot be made ({error.strerror}).") from error


def save(path: Path, key: str, state: dict[str, Any]) -> None:
    """Write ``state`` (tensors and plain values) under ``key``; the same state gives the same bytes."""
    archive = io.BytesIO()  # saved to a path, the archive would hold the name of the file
    torch.save({"format": FORMAT, "key": key, **state}, archive)
    write_whole(path, archive.getvalue())


def load(path: Path, key: str) -> dict[str, Any]:
    """Read what :func:`save` wrote under ``key``, or say in one sentence why it cannot be used."""
    try:
        state = torch.load(path, map_location="cpu", weights_only=True)
    except (FileNotFoundError, PermissionError) as error:
        raise CheckpointError(f"Checkpoint {path} cannot be read ({error.strerror}).") from error
    except Exception as error:  # a damaged archive fails in many ways, and what torch says of them would mislead
        raise CheckpointError(f"Checkpoint {path} cannot be read (it is damaged, or no checkpoint).") from error
    if not isinstance(state, dict) or state.get("format") != FORMAT:
        raise CheckpointError(f"Checkpoint {path} was not written by this version of rmix.")
    if state["key"] != key:
        raise CheckpointError(f"Checkpoint {path} belongs to another run ({state['key']}, not {key}).")
    return state


class NoShelf:
    """Keeps nothing: for runs without a folder."""

    def save_epoch(self, state: dict[str, Any]) -> None:
        """Keep the state after an epoch."""

    def load_epoch(self) -> dict[str, Any] | None:
        """The newest good state, if any."""
        return None

    def save_stage(self, key: str, state: dict[str, Any]) -> None:
        """Keep what a preliminary stage left."""

    def load_stage(self, key: str) -> dict[str, Any] | None:
        """What a preliminary stage with this key left, if any."""
        return None

    @contextmanager
    def at_stage(self, key: str) -> Iterator[NoShelf]:
        """The shelf of a preliminary stage, for one process at a time."""
        yield self


class Shelf(NoShelf):
    """Keeps the two newest epochs of a run, and what preliminary stages leave for all runs.

    ::

        stages/<key>.pt   what a stage left
        stages/<key>/     its lock and, while it is trained, its newest epochs: whoever needs the stage
                          after its holder died goes on from them

    Args:
        run: folder of the run.
        key: what identifies the run.
        stages: folder of the preliminary stages, shared by the runs of a store.
    """

    def __init__(self, run: Path, key: str, stages: Path) -> None:
        self.key, self.stages = key, stages
        self.newest, self.previous = run / "checkpoint.pt", run / "checkpoint-previous.pt"

    def save_epoch(self, state: dict[str, Any]) -> None:
        if world()[0]:
            return  # the first of several processes writes
        if self.newest.exists():
            self.newest.replace(self.previous)
        save(self.newest, self.key, state)

    def load_epoch(self) -> dict[str, Any] | None:
        for left in self.newest.parent.glob(f".{self.newest.name}.*"):
            left.unlink(missing_ok=True)  # of a process that was killed while it wrote
        for path in (self.newest, self.previous):
            state = self._try(path, self.key)
            if state is not None:
                if path is self.previous:
                    self.newest.unlink(missing_ok=True)  # else the next save would put it in the place of the good one
                return state
        return None

    def save_stage(self, key: str, state: dict[str, Any]) -> None:
        if world()[0]:
            return
        make_folder(self.stages)
        save(self.stages / f"{key}.pt", key, state)
        for checkpoint in (self.stages / key).glob("checkpoint*.pt"):
            checkpoint.unlink()

    def load_stage(self, key: str) -> dict[str, Any] | None:
        return self._try(self.stages / f"{key}.pt", key)

    @contextmanager
    def at_stage(self, key: str) -> Iterator[NoShelf]:
        folder = self.stages / key
        make_folder(folder)
        with locked(folder / "lock", "The first stage of this run"):
            yield Shelf(folder, key, self.stages)

    @staticmethod
    def _try(path: Path, key: str) -> dict[str, Any] | None:
        if not path.exists():
            return None
        try:
            return load(path, key)
        except CheckpointError as error:
            log.warning("%s Going back to the one before it, or to the start.", error)
            return None
