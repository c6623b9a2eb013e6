"""What a user sees while a grid trains: one line a running cell, a bar over all, and the time left."""

from __future__ import annotations

import time

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table

from rmix.experiment.result import Result
from rmix.studies.grid import Grid
from rmix.studies.watch import Running, Watch


def follow(grid: Grid, console: Console) -> None:
    """Train what is left of the grid, and show how far it is; a line as each run ends where there is no terminal."""
    view = View(grid)
    if not grid.left:
        console.print(f"All {len(grid.ended)} runs had ended before; here they are.")
        return
    if console.is_terminal:
        with Live(get_renderable=view.render, console=console, refresh_per_second=2, transient=True):
            for _ in grid.train():
                pass
        return
    for result in grid.train():
        console.print(f"{view.headline()}: {outcome(result)}", soft_wrap=True, markup=False, highlight=False)


class View:
    """The grid as it is now."""

    def __init__(self, grid: Grid) -> None:
        self.grid = grid
        self.before = len(grid.ended)
        self.total = self.before + len(grid.left)
        self.started = time.monotonic()
        self.watch = Watch(grid.store, grid.left)

    def headline(self, underway: float = 0.0) -> str:
        """Ended runs of all, and the time left if the others take as long; ``underway`` is in runs."""
        done = len(self.grid.ended) - self.before + underway
        left = self.total - self.before - done
        text = f"{len(self.grid.ended)} of {self.total} runs"
        return text + (f", {duration((time.monotonic() - self.started) * left / done)} left" if done and left else "")

    def render(self) -> Group:
        """Lines and bar."""
        running = self.watch.running(self.grid.left)
        underway = sum(run.share for run in running if run.stage == "main")
        bar = Table.grid(padding=(0, 1))
        bar.add_row(ProgressBar(self.total, len(self.grid.ended) + underway, width=40), self.headline(underway))
        return Group(self._lines(running), bar)

    def _lines(self, running: list[Running]) -> Table:
        table = Table.grid(padding=(0, 2))
        for run in running:
            config = self.grid.config_of[run.run]
            name = f"{config.method.name}, seed {config.seed}"
            value = "" if run.value is None else f"validation {run.rule} {run.value:.3f}"
            stage = "begins" if run.stage is None else f"stage {run.stage}"
            table.add_row(name, stage, f"epoch {run.epoch}/{run.epochs}" if run.epochs else "", value)
        return table


def outcome(result: Result) -> str:
    """One run in a line."""
    name = f"{result.method}, seed {result.seed}"
    if result.test is None:
        return f"{name} failed: {result.failure}"
    rule, value = result.selected["rule"], result.selected["value"]
    return f"{name}: epoch {value:.0f} is the last" if rule == "last" else f"{name}: {rule} {value:.3f} on validation"


def duration(seconds: float) -> str:
    """Roughly.

    Example:
        >>> [duration(s) for s in (4, 100, 9000)]
        ['4 s', '2 min', '2.5 h']
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
