"""`rmix tune DATASET METHOD ...`: a search over each method's own range of settings."""

from __future__ import annotations

import itertools
import logging
import uuid
from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table

from rmix.cli.compare import Workers, settings_of
from rmix.cli.follow import follow
from rmix.cli.progress import show_log
from rmix.cli.train import KINDS, Form, parse
from rmix.errors import InvalidValueError
from rmix.experiment.store import Store
from rmix.studies.cell import load_once
from rmix.studies.plan import fitting, with_methods
from rmix.studies.tune import FOLDER, Search, tune
from rmix.studies.tuned import Tuned


@dataclass(frozen=True)
class Options(Workers):
    """Search for the settings of methods; the same command goes on where it was stopped.

    Args:
        trials: settings to try of each method; the first are those it came with.
        tune_seeds: runs of each trial, with seeds 1000, 1001 …, which no comparison reports.
        tune_training: tune learning rate and weight decay as well, of every method alike.
    """

    trials: int = 20
    tune_seeds: int = 1
    tune_training: bool = False


FORM = Form("tune", KINDS[:1], Options(), fixed=("method", "seed"), more="METHOD ...")


def run(argv: Sequence[str]) -> int:
    """Search, print what was found, say where it is kept."""
    names = list(itertools.takewhile(lambda word: not word.startswith("-"), argv))
    base, options = parse([*names[:1], *argv[len(names) :]], FORM)
    if not names[1:]:
        raise InvalidValueError(f"Which method? Say: {FORM.usage}, or all.")
    console = Console()
    show_log(console, logging.WARNING)
    store, study = Store(options.out.resolve()), uuid.uuid4().hex
    bundle = load_once(base.dataset, study)
    methods, notes = fitting(with_methods(base, names[1:]), bundle)
    tunable = [config for config in methods if config.method.space or options.tune_training]
    fixed = [config.method.name for config in methods if config not in tunable]
    for note in [*notes, *(f"{name} has nothing to tune; comparisons take it as it is." for name in fixed)]:
        console.print(note, soft_wrap=True)
    searches = [Search(c, bundle.checksum, store, options.tune_seeds, options.tune_training) for c in tunable]
    executor = options.make()
    found = tune(searches, options.trials, store, executor, options.device, lambda g: follow(g, console), study)
    console.print(overview(searches, found))
    tuned = " ".join(config.method.name for config in methods)
    use = f"rmix compare {base.dataset.name} --methods {tuned} --tuned --out {options.out}"
    console.print(f"Use them: {use}, with the same other options", soft_wrap=True, highlight=False)
    folder = options.out / FOLDER
    look = f"optuna-dashboard {folder / 'journal.log'}, or rmix report {folder}"
    console.print(f"Look at all trials: {look}", soft_wrap=True, highlight=False)
    return 1 if None in found else 0


def overview(searches: Sequence[Search], found: Sequence[Tuned | None]) -> Table:
    """One line a method."""
    table = Table(title="Best settings, by validation", title_justify="left")
    for header in ("method", "trials", "failed", "as it came", "best", "settings"):
        table.add_column(header, justify="left" if header in ("method", "settings") else "right", overflow="fold")
    for search, tuned in zip(searches, found, strict=True):
        if tuned is None:
            table.add_row(search.base.method.name, "", "all", "", "", "every trial failed")
            continue
        how = tuned.how
        before, best = (
            "failed" if value is None else f"{value:.3f}" for value in (how["value_as_it_came"], how["value"])
        )
        table.add_row(search.base.method.name, str(how["trials"]), str(how["failed"]), before, best, settings_of(tuned))
    return table
