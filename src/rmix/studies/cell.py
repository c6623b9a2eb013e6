"""One run of a grid, in whatever process it is trained."""

from __future__ import annotations

import os
import traceback
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

from rmix.datasets import Bundle, DataSet
from rmix.errors import BusyError, RMixError
from rmix.experiment.config import Config
from rmix.experiment.result import Result
from rmix.experiment.run import run_config
from rmix.experiment.store import Store
from rmix.training.callbacks import Callback, Moment


@dataclass(frozen=True)
class Cell:
    """What a worker needs to train one run.

    Args:
        run: identity of the run.
        config: what to train.
        store: where runs are kept.
        device: where to train.
        study: names the study, all of whose cells see the data as they were when the first one read them.
        parent: process whose end is the worker's end; None = the worker's own affair.
        wait: for another process that trains the same run.
    """

    run: str
    config: Config
    store: Path
    device: str = "cpu"
    study: str = ""
    parent: int | None = None
    wait: bool = True


@dataclass(frozen=True)
class Ended:
    """How a cell ended: with a result, with the message of a failure, or at once as another process is at it."""

    run: str
    result: Result | None = None
    failure: str = ""


class EndsWithParent(Callback):
    """Ends a worker whose grid is dead, as that was: its next epoch would be for nobody."""

    def __init__(self, parent: int) -> None:
        self.parent = parent

    def on_epoch(self, moment: Moment, record: dict[str, Any]) -> None:
        if os.getppid() != self.parent:
            os._exit(1)  # an exception would leave it waiting for the next run


def run_cell(cell: Cell) -> Ended:
    """Train the cell, or read it; whatever goes wrong in it is said and stops no other."""
    with _one_at_a_time:
        return _run(cell)


def _run(cell: Cell) -> Ended:
    watched = cell.parent is not None and cell.parent != os.getpid()
    try:
        run = run_config(
            cell.config,
            store=cell.store,
            device=cell.device,
            callbacks=[EndsWithParent(cell.parent)] if watched and cell.parent else [],
            bundle=load_once(cell.config.dataset, cell.study),
            wait=cell.wait,
        )
    except BusyError:
        return Ended(cell.run)
    except RMixError as error:
        return Ended(cell.run, failure=str(error))
    except Exception as error:
        written = Store(cell.store).folder(cell.run) / "failure.txt"
        written.write_text(traceback.format_exc())
        return Ended(cell.run, failure=f"{type(error).__name__}: {error} (see {written})")
    return Ended(cell.run, run.result)


_one_at_a_time = Lock()  # runs share torch's generators and number of threads, where a worker has several threads
_loaded: dict[str, tuple[DataSet, Bundle]] = {}  # of the newest study, the data set that was used last


def load_once(dataset: DataSet, study: str) -> Bundle:
    """The bundle, read once a study and process as long as the cells are of one data set."""
    known = _loaded.get(study)
    if known is None or known[0] != dataset:
        _loaded.clear()
        known = _loaded[study] = (dataset, dataset.load())
    return known[1]
