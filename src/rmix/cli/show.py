"""`rmix show RUN...`, and the printing of one result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from pathlib import Path
from typing import Annotated

import tyro
from rich.console import Console
from rich.table import Table
from rich.text import Text

from rmix.cli.found import find_runs
from rmix.errors import require
from rmix.experiment.result import Result
from rmix.reports.series import flat, settings_of


@dataclass(frozen=True)
class Options:
    """Show runs: accuracy by group, what labels were used, all settings, and where they were made.

    Args:
        runs: ids, beginnings of ids, or folders of runs.
        store: where ids are looked for.
    """

    runs: Annotated[tuple[str, ...], tyro.conf.Positional, tyro.conf.arg(metavar="RUN...")]
    store: Path = Path("runs")


def run(argv: Sequence[str]) -> int:
    """Show each run that is named."""
    options = tyro.cli(Options, args=list(argv), prog="rmix show")
    require(bool(options.runs), "Which run? Say: rmix show RUN...; rmix report shows all runs of a store.")
    console = Console()
    for folder, result in find_runs(options.runs, options.store).items():
        show_numbers(console, result)
        show_pairs(console, "Settings", settings_of(result.config))
        show_pairs(console, "Data", flat(result.config["dataset"]))
        show_pairs(console, "Environment", flat(result.environment))
        console.print(f"Run: {folder}\n", soft_wrap=True)
    return 0


def show_result(console: Console, result: Result, store: Path, *, reused: bool) -> None:
    """Accuracy by group, the averages, what labels were used, and where the run is."""
    if reused:
        console.print("This run had ended before; here is its result.")
    show_numbers(console, result)
    console.print(f"Run: {store / 'runs' / result.id}", soft_wrap=True)


def show_numbers(console: Console, result: Result) -> None:
    """What came out, or why nothing did."""
    if result.test is None:
        console.print(f"{title_of(result)}: failed. {result.failure}", style="red")
        return
    console.print(group_table(result))
    console.print(summary_line(result))
    used = [
        what
        for what, yes in (("fitting", result.groups_used["fit"]), ("selection", result.groups_used["select"]))
        if yes
    ]
    console.print(f"Group labels were used for {' and '.join(used) or 'nothing'}.")


def show_pairs(console: Console, heading: str, pairs: Mapping[str, str]) -> None:
    """Names and values in two columns."""
    table = Table.grid(padding=(0, 2))
    for key, text in pairs.items():
        table.add_row(Text(key, style="dim"), Text(text))
    console.print(Text(heading, style="bold"), table, sep="\n")


def title_of(result: Result) -> str:
    """Method, data set and seed."""
    return f"{result.method} on {result.config['dataset']['name']}, seed {result.seed}"


def group_table(result: Result) -> Table:
    """One line a group, the worst marked."""
    assert result.test is not None
    table = Table(title=f"{title_of(result)}: test accuracy")
    table.add_column("group")
    for name in ("training rows", "test rows", "accuracy"):
        table.add_column(name, justify="right")
    counts = result.train_counts or ["–"] * len(result.group_names)
    for g, name in enumerate(result.group_names):
        worst = g == result.test.worst_group
        accuracy = f"{result.test.accuracy[g]:.3f}" if result.test.total[g] else "no rows"
        table.add_row(name, str(counts[g]), str(result.test.total[g]), accuracy + (" ← worst" if worst else ""))
    return table


def summary_line(result: Result) -> str:
    """The averages and the gap in one line."""
    assert result.test is not None
    line = f"average {result.test.average:.3f}"
    if result.group_names:
        adjusted = result.adjusted_average  # not known where training has no groups, or others than test
        line += "" if isnan(adjusted) else f" · adjusted average {adjusted:.3f}"
        line += f" · worst group {result.test.worst:.3f} · gap {result.test.gap:.3f}"
    chosen = result.selected
    return line + f" (epoch {chosen['epoch'] + 1}, chosen by {chosen['rule']} on validation)"
