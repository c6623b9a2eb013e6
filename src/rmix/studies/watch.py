"""What the runs of a grid are doing at this moment, read from the events they write down."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rmix.experiment.store import Store

TAIL = 2000  # bytes; an event takes about 150


@dataclass(frozen=True)
class Running:
    """Where one run is."""

    run: str
    stage: str | None  # None: no stage has begun, for the data are read or another run trains the stage it needs
    epoch: int = 0  # epochs finished
    epochs: int = 0
    value: float | None = None  # on validation
    rule: str = ""  # worst, or average where there are no groups

    @property
    def share(self) -> float:
        """Share of the stage's epochs."""
        return self.epoch / self.epochs if self.epochs else 0.0


class Watch:
    """Looks at the events of runs; works wherever they are trained, as long as the store is seen.

    Args:
        store: where the runs are kept.
        runs: whom to look at; one counts as running once it has written something since.
    """

    def __init__(self, store: Store, runs: Iterable[str]) -> None:
        self._logs = {run: store.folder(run) / "events.jsonl" for run in runs}
        self._sizes = {run: _size(path) for run, path in self._logs.items()}

    def running(self, runs: Iterable[str]) -> list[Running]:
        """Those of ``runs`` that are being trained."""
        found = (self._look(run) for run in runs if _size(self._logs[run]) > self._sizes[run])
        return [running for running in found if running is not None]

    def _look(self, run: str) -> Running | None:
        events = _last_events(self._logs[run])
        last = events[-1] if events else {}
        if last.get("event") in ("start", "stage"):
            return Running(run, last.get("stage"), epochs=last.get("epochs", 0))
        if last.get("event") == "epoch":
            rule = "worst" if "valid_worst" in last else "average"
            return Running(run, last["stage"], last["epoch"] + 1, last["epochs"], last[f"valid_{rule}"], rule)
        return None


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def _last_events(path: Path) -> list[dict[str, Any]]:
    with path.open("rb") as file:
        file.seek(max(0, os.fstat(file.fileno()).st_size - TAIL))
        lines = file.read().split(b"\n")
    return [json.loads(line) for line in lines[:-1] if line.startswith(b"{") and line.endswith(b"}")]
