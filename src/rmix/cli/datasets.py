"""`rmix datasets [NAME]`."""

from __future__ import annotations

import inspect
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from rmix.datasets import DATASETS, Bundle
from rmix.errors import lookup


def run(argv: Sequence[str]) -> int:
    """The list of data sets, or card and group counts of each one named."""
    console = Console()
    if argv and argv[0] in ("-h", "--help"):
        console.print("usage: rmix datasets [NAME ...]\n\nList the data sets, or show cards and group counts.")
    elif argv:
        for name in argv:
            cls = lookup("data set", name, DATASETS)
            console.print(f"[bold]{name}[/bold]", inspect.getdoc(cls), counts(cls().load()), sep="\n")
    else:
        table = Table("name", "in one line", title="Data sets")
        for name, cls in DATASETS.items():
            table.add_row(name, (inspect.getdoc(cls) or "").splitlines()[0])
        console.print(table)
    return 0


def counts(bundle: Bundle) -> Table:
    """Rows of each group in each split."""
    table = Table("group", title="Rows by group")
    for split in bundle.splits:
        table.add_column(split, justify="right")
    members = [split.member(bundle.n_groups) for split in bundle.splits.values()]
    for g, name in enumerate(bundle.group_names):
        table.add_row(name, *("–" if m is None else str(int(m[:, g].sum())) for m in members))
    return table
