"""`rmix demo`: the story in two minutes, on data that ships with the package."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import tyro
from rich.console import Console

from rmix.cli.follow import follow
from rmix.cli.progress import show_log
from rmix.errors import require
from rmix.experiment.config import config_from
from rmix.reports.page import write_page
from rmix.reports.summary import Summary
from rmix.studies import Grid, Local

DATASETS = ("moons", "digits")
METHODS = ("erm", "mixup", "iw", "rmix", "rmix_aware")


@dataclass(frozen=True)
class Options:
    """Train ERM, mixup, importance weighting and RMix on the two embedded data sets.

    Args:
        seeds: runs of each method.
        jobs: runs at a time; 0 = one a core.
        out: folder of the runs and the report.
    """

    seeds: int = 5
    jobs: int = 0
    out: Path = Path("demo")

    def __post_init__(self) -> None:
        require(self.seeds >= 1, f"seeds must be >= 1, got {self.seeds}")


def run(argv: Sequence[str]) -> int:
    """Train, print the table, write the report."""
    options = tyro.cli(Options, args=list(argv), prog="rmix demo")
    console = Console()
    show_log(console, logging.WARNING)
    started = time.monotonic()
    configs = [
        config_from({"dataset": dataset, "method": method, "seed": seed})
        for dataset in DATASETS
        for method in METHODS
        for seed in range(options.seeds)
    ]
    grid = Grid(configs, options.out, Local(options.jobs))
    follow(grid, console)
    console.print(Summary(grid.results).rich())
    report = write_page(grid.results, options.out / "report.html", title="rmix demo")
    console.print(f"Report with figures: {report} ({time.monotonic() - started:.0f} s)", soft_wrap=True)
    return 0
