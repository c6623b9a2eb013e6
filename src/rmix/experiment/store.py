"""Runs on disk: one folder a run, addressed by a hash of what determines its result."""

from __future__ import annotations

import hashlib
import json
import os
import re
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from rmix._version import __version__
from rmix.errors import StoreError
from rmix.experiment.result import Result
from rmix.joined import world
from rmix.lock import locked
from rmix.training.checkpoint import Shelf, load, make_folder, save, write_whole


def run_id(config: dict[str, Any], checksum: str) -> str:
    """A readable name and a hash of the configuration, the data and the version of rmix."""
    text = json.dumps([config, checksum, __version__], sort_keys=True)
    digest = hashlib.sha256(text.encode()).hexdigest()[:12]
    names = (re.sub(r"[^A-Za-z0-9_]+", "_", config[part]["name"])[:40] for part in ("dataset", "method"))
    return f"{'-'.join(names)}-s{config['seed']}-{digest}"


def model_in(folder: Path, run: str) -> dict[str, Any]:
    """State dict of the selected epoch of a run, from its folder."""
    state: dict[str, Any] = load(folder / "model.pt", f"model of {run}")["model"]
    return state


class Store:
    """A folder of runs.

    ::

        runs/<id>/config.json  result.json  model.pt  checkpoint.pt  checkpoint-previous.pt  events.jsonl  lock
        stages/<key>.pt        what preliminary stages left, shared by all runs
    """

    def __init__(self, root: str | Path) -> None:
        self.root = Path(root)
        make_folder(self.root / "runs")
        if not os.access(self.root / "runs", os.W_OK):
            raise StoreError(f"The store folder {self.root} is not writable; choose another with --out.")

    def folder(self, run: str) -> Path:
        """Folder of a run."""
        return self.root / "runs" / run

    def lock(self, run: str, *, wait: bool = True) -> AbstractContextManager[None]:
        """Have a run to oneself: of two processes that train the same run, one waits, or is told that it is busy."""
        make_folder(self.folder(run))
        return locked(self.folder(run) / "lock", f"Run {run}", wait=wait)

    def begin(self, run: str, config: dict[str, Any]) -> Shelf:
        """Make the run's folder and give its shelf of checkpoints."""
        folder = self.folder(run)
        make_folder(folder)
        write_whole(folder / "config.json", (json.dumps(config, indent=1, sort_keys=True) + "\n").encode())
        return Shelf(folder, run, self.root / "stages")

    def finish(self, result: Result, model: dict[str, Any] | None) -> None:
        """Keep the result, last of all, and the selected model; the first of several processes writes."""
        if world()[0]:
            return
        folder = self.folder(result.id)
        if model is not None:
            save(folder / "model.pt", f"model of {result.id}", {"model": model})
        write_whole(folder / "result.json", result.to_json().encode(), durable=True)

    def result(self, run: str) -> Result | None:
        """The result of a run, None where it has not ended."""
        path = self.folder(run) / "result.json"
        if not path.exists():
            return None
        try:
            return Result.from_json(path.read_text())
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise StoreError(f"{path} is not a result of this version of rmix ({error}); move it away.") from error

    def model(self, run: str) -> dict[str, Any]:
        """State dict of the selected epoch."""
        return model_in(self.folder(run), run)

    def results(self) -> list[Result]:
        """Results of all ended runs, by id."""
        runs = sorted(path.parent.name for path in self.root.glob("runs/*/result.json"))
        return [result for run in runs if (result := self.result(run)) is not None]
