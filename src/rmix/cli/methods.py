"""`rmix methods [NAME]`."""

from __future__ import annotations

import inspect
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from rmix.errors import lookup
from rmix.methods import METHODS, Groups
from rmix.methods.cards import card, cost_in_short


def run(argv: Sequence[str]) -> int:
    """The table of methods, or the card of each one named."""
    console = Console()
    if argv and argv[0] in ("-h", "--help"):
        console.print("usage: rmix methods [NAME ...]\n\nList the methods, or show the cards of those named.")
    elif argv:
        for name in argv:
            console.print(f"[bold]{name}[/bold]", inspect.getdoc(lookup("method", name, METHODS)), "", sep="\n")
    else:
        console.print(overview())
    return 0


def overview() -> Table:
    """Every method in a line."""
    table = Table(title="Methods")
    for column in ("name", "group labels", "an update costs", "in one line"):
        table.add_column(column)
    for name, cls in METHODS.items():
        text = card(cls)
        sees = "in training" if cls.groups & Groups.TRAIN else "no"
        table.add_row(name, sees, cost_in_short(text["Cost"]), text["summary"])
    return table
