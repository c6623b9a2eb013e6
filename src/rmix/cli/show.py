"""Printing of one result."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.table import Table

from rmix.experiment.result import Result


def show_result(console: Console, result: Result, store: Path, *, reused: bool) -> None:
    """Accuracy by group, the averages, what labels were used, and where the run is."""
    if reused:
        console.print("This run had ended before; here is its result.")
    console.print(group_table(result))
    console.print(summary_line(result))
    used = [
        what
        for what, yes in (("fitting", result.groups_used["fit"]), ("selection", result.groups_used["select"]))
        if yes
    ]
    console.print(f"Group labels were used for {' and '.join(used) or 'nothing'}.")
    console.print(f"Run: {store / 'runs' / result.id}", soft_wrap=True)


def group_table(result: Result) -> Table:
    """One line a group, the worst marked."""
    assert result.test is not None
    table = Table(title=f"{result.method} on {result.config['dataset']['name']}, seed {result.seed}: test accuracy")
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
        line += f" · adjusted average {result.adjusted_average:.3f} · worst group {result.test.worst:.3f}"
        line += f" · gap {result.test.gap:.3f}"
    chosen = result.selected
    return line + f" (epoch {chosen['epoch'] + 1}, chosen by {chosen['rule']} on validation)"
