"""`rmix datasets [NAME]`."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from rmix.cli.data import describe
from rmix.datasets import DATASETS
from rmix.methods.cards import card


def run(argv: Sequence[str]) -> int:
    """The list of data sets, or what `rmix data describe` says of each one named."""
    console = Console()
    if argv and argv[0] in ("-h", "--help"):
        console.print("usage: rmix datasets [NAME ...]\n\nList the data sets, or show cards and group counts.")
    elif argv:
        for name in argv:
            describe(console, name)
    else:
        table = Table("name", "in one line", title="Data sets")
        for name, cls in DATASETS.items():
            table.add_row(name, card(cls)["summary"])
        console.print(table)
    return 0
