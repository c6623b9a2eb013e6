"""`rmix demo`: the story in two minutes, on data that ships with the package."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import tyro
from rich.console import Console

from rmix.cli.progress import make_bars, show_log
from rmix.experiment.config import Config, config_from
from rmix.experiment.grid import run_grid
from rmix.experiment.result import Result
from rmix.reports.page import write_page
from rmix.reports.summary import Summary

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
    results = train_all(configs, options, console)
    console.print(Summary(results).rich())
    report = options.out / "report.html"
    write_page(results, report, title="rmix demo")
    console.print(f"Report with figures: {report} ({time.monotonic() - started:.0f} s)", soft_wrap=True)
    return 0


def train_all(configs: Sequence[Config], options: Options, console: Console) -> list[Result]:
    """Results in the order of ``configs``, with a bar a data set."""
    results: dict[int, Result] = {}
    with make_bars(console) as bars:
        tasks = {
            name: bars.add_task(name, total=sum(c.dataset.name == name for c in configs), note="") for name in DATASETS
        }
        for position, result in run_grid(configs, options.out, options.jobs or os.cpu_count() or 1):
            results[position] = result
            worst = f"{result.method} {result.test.worst:.3f}" if result.test else f"{result.method} failed"
            bars.update(tasks[configs[position].dataset.name], advance=1, note=f"last: {worst} on its worst group")
    return [results[i] for i in range(len(configs))]
