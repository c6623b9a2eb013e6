"""`rmix methods [NAME]`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from rmix.errors import lookup
from rmix.methods import METHODS, Groups, Method
from rmix.methods.cards import card, cost_in_short, meanings


def run(argv: Sequence[str]) -> int:
    """The table of methods, or the card of each one named."""
    console = Console()
    if argv and argv[0] in ("-h", "--help"):
        console.print("usage: rmix methods [NAME ...]\n\nList the methods, or show the cards of those named.")
    elif argv:
        for cls in [lookup("method", name, METHODS) for name in argv]:
            show_card(console, cls)
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


def show_card(console: Console, cls: type[Method]) -> None:
    """The sections of a card, and the settings with their defaults."""
    about = Table.grid(padding=(0, 2))
    about.add_column(style="bold", no_wrap=True)
    for section, text in card(cls).items():
        about.add_row(cls.name if section == "summary" else section, Text(text))
    console.print(about)
    settings: Any = cls
    if fields(settings):
        table, told = Table("setting", "default", "what it is"), meanings(cls)
        for one in fields(settings):
            table.add_row(one.name, Text(str(one.default)), Text(told[one.name]))
        console.print(table)
