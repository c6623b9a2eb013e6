"""What a user sees while a run trains: one bar a stage, and the log."""

from __future__ import annotations

import logging
from typing import Any

from rich.console import Console
from rich.logging import RichHandler
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from rmix.training.callbacks import Callback, Moment


def make_bars(console: Console) -> Progress:
    """The bars of every command."""
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[note]}"),
        console=console,
    )


def show_log(console: Console, level: int = logging.INFO) -> None:
    """Let the library's log lines appear above the bars."""
    logger = logging.getLogger("rmix")
    logger.handlers = [RichHandler(console=console, show_time=False, show_level=False, show_path=False)]
    logger.setLevel(level)
    for quiet in ("rmix.lock", "rmix.models.features"):  # may take minutes, and show no bar
        logging.getLogger(quiet).setLevel(logging.INFO)


class StageBars(Callback):
    """One bar a stage, with the validation accuracies of its last epoch."""

    def __init__(self, bars: Progress) -> None:
        self.bars = bars
        self._task: TaskID | None = None

    def on_stage(self, moment: Moment, reused: bool) -> None:
        note = "reused" if reused else ""
        self._task = self.bars.add_task(f"stage {moment.stage}", total=moment.epochs, completed=moment.epoch, note=note)

    def on_epoch(self, moment: Moment, record: dict[str, Any]) -> None:
        from rmix.metrics import GroupTable

        table = GroupTable.from_json(record["valid"])
        worst = f", worst group {table.worst:.3f}" if table.n_groups else ""
        assert self._task is not None
        self.bars.update(
            self._task, completed=moment.epoch, note=f"loss {record['loss']:.4f}, valid {table.average:.3f}{worst}"
        )
