"""`rmix compare DATASET`: several methods, several seeds, one table and a page."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from rich.console import Console

from rmix.cli.follow import follow
from rmix.cli.progress import show_log
from rmix.cli.train import KINDS, Form, parse
from rmix.errors import InvalidValueError, require
from rmix.experiment.result import Result
from rmix.reports.page import write_page
from rmix.reports.summary import Summary
from rmix.studies.executors import Cluster, Executor, Local
from rmix.studies.grid import Grid
from rmix.studies.plan import USUAL, plan, seeds_from, with_methods


@dataclass(frozen=True)
class Workers:
    """How the runs of a study are run, none of which determines a result.

    Args:
        jobs: runs at a time on this machine; 0 = one a core.
        executor: loky (processes of this machine) or dask (the workers of a cluster).
        scheduler: address of the Dask scheduler, such as tcp://10.0.0.1:8786.
        device: where to train.
        out: folder in which runs are kept; those that ended there are read, those that were killed go on.
    """

    jobs: int = 0
    executor: Literal["loky", "dask"] = "loky"
    scheduler: str | None = None
    device: str = "cpu"
    out: Path = Path("runs")

    def make(self) -> Executor:
        """The executor."""
        if self.executor == "loky":
            require(self.scheduler is None, "--scheduler is for --executor dask.")
            return Local(self.jobs)
        if self.scheduler is None:
            raise InvalidValueError("--executor dask needs --scheduler ADDRESS, such as tcp://10.0.0.1:8786.")
        return Cluster(self.scheduler)


@dataclass(frozen=True)
class Options(Workers):
    """Compare methods on a data set over seeds: a table, and a page with figures.

    Args:
        methods: names, or all; those that need group labels where there are none are left out.
        seeds: runs of each method, with seeds 0, 1, 2 …
    """

    methods: tuple[str, ...] = USUAL
    seeds: int = 5


FORM = Form("compare", KINDS[:1], Options(), fixed=("method", "seed"))


def run(argv: Sequence[str]) -> int:
    """Train what was not trained yet, print the table, write the page."""
    base, options = parse(argv, FORM)
    console = Console()
    show_log(console, logging.WARNING)
    planned = plan(base, with_methods(base, options.methods), seeds_from(0, options.seeds))
    for note in planned.notes:
        console.print(f"{note[:1].upper()}{note[1:]}", soft_wrap=True)
    grid = Grid(planned.configs, options.out, options.make(), options.device)
    follow(grid, console)
    console.print(Summary(grid.results).rich())
    page = write_page(grid.results, options.out / "report.html", title=f"Methods on {base.dataset.name}")
    console.print(f"Report with figures: {page}", soft_wrap=True)
    return show_failures(grid.results, console)


def show_failures(results: Sequence[Result], console: Console) -> int:
    """Say which runs failed and why; gives the exit code."""
    failed = [result for result in results if result.failure is not None]
    for result in failed:
        console.print(f"{result.method}, seed {result.seed} failed: {result.failure}", soft_wrap=True, markup=False)
    if failed:
        console.print("The same command tries failed runs again.")
    return 1 if failed else 0
