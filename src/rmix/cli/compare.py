"""`rmix compare DATASET`: several methods, several seeds, one table and a page."""

from __future__ import annotations

import hashlib
import logging
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from rich.console import Console

from rmix._version import __version__
from rmix.cli.follow import follow
from rmix.cli.progress import show_log
from rmix.cli.train import KINDS, Form, parse
from rmix.errors import InvalidValueError, require
from rmix.experiment.result import Result
from rmix.experiment.store import Store
from rmix.reports.page import write_page
from rmix.reports.summary import Summary
from rmix.studies.cell import load_once
from rmix.studies.executors import Cluster, Executor, Local
from rmix.studies.grid import Grid
from rmix.studies.plan import USUAL, fitting, seeds_from, with_methods
from rmix.studies.tuned import Tuned, mark, same_budget, tuned_configs


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
        tuned: take the best settings that `rmix tune` found with the same other options.
    """

    methods: tuple[str, ...] = USUAL
    seeds: int = 5
    tuned: bool = False


FORM = Form("compare", KINDS[:1], Options(), fixed=("method", "seed"))


def run(argv: Sequence[str]) -> int:
    """Train what was not trained yet, print the table, write the page."""
    base, options = parse(argv, FORM)
    console = Console()
    show_log(console, logging.WARNING)
    store, study = Store(options.out.resolve()), uuid.uuid4().hex
    bundle = load_once(base.dataset, study)
    methods, notes = fitting(with_methods(base, options.methods), bundle)
    for note in notes:
        console.print(note, soft_wrap=True)
    found = tuned_configs(methods, bundle.checksum, store) if options.tuned else [Tuned(each, {}) for each in methods]
    planned = [(replace(each.config, seed=seed), each.how) for each in found for seed in seeds_from(0, options.seeds)]
    grid = Grid([config for config, _ in planned], store.root, options.make(), options.device, study)
    follow(grid, console)
    results = [mark(result, how, store) for result, (_, how) in zip(grid.results, planned, strict=True)]
    console.print(Summary(results).rich())
    for each in found if options.tuned else ():
        console.print(how_tuned(each), soft_wrap=True, highlight=False)
    if not same_budget(found):
        console.print("These searches were not of the same size, so this comparison is not fair.", style="red")
    page = options.out / "report.html"
    keep_page(results, page, f"Methods on {base.dataset.name}", store)
    console.print(f"Report with figures: {page}", soft_wrap=True)
    return show_failures(results, console)


def keep_page(results: Sequence[Result], path: Path, title: str, store: Store) -> None:
    """Write the page, unless it is there and about the same results: drawing takes longer than all else."""
    digest = hashlib.sha256(repr([__version__, title, [(r.id, r.failure) for r in results]]).encode())
    for result in results:
        if result.failure is None:
            digest.update((store.folder(result.id) / "result.json").read_bytes())
    beside = path.with_suffix(".sha256")
    if path.exists() and beside.exists() and beside.read_text() == digest.hexdigest():
        return
    beside.unlink(missing_ok=True)
    write_page(results, path, title=title)
    beside.write_text(digest.hexdigest())


def how_tuned(tuned: Tuned) -> str:
    """In a sentence."""
    name, how = tuned.config.method.name, tuned.how
    if not how:
        return f"{name} was not tuned: it has no range of settings."
    return f"{name} was tuned: {settings_of(tuned)} (best of {how['trials']} trials, {how['rule']} on validation)."


def settings_of(tuned: Tuned) -> str:
    """The settings that a search found."""
    found = tuned.how["settings"].items()
    return ", ".join(f"{key}={value:.3g}" if isinstance(value, float) else f"{key}={value}" for key, value in found)


def show_failures(results: Sequence[Result], console: Console) -> int:
    """Say which runs failed and why; gives the exit code."""
    failed = [result for result in results if result.failure is not None]
    for result in failed:
        console.print(f"{result.method}, seed {result.seed} failed: {result.failure}", soft_wrap=True, markup=False)
    if failed:
        console.print("The same command tries failed runs again.")
    return 1 if failed else 0
