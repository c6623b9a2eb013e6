"""`rmix recipes [NAME]`: published settings, each with its source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Any

from rich.console import Console
from rich.table import Table

from rmix.errors import lookup
from rmix.experiment.config import config_from, shipped_recipe
from rmix.reports.series import flat

USAGE = """usage: rmix recipes [DATASET/METHOD ...]

List the published settings, or show those named, with their source. They are the defaults of
`rmix train DATASET METHOD`, and what `rmix train --recipe DATASET/METHOD` trains."""


def run(argv: Sequence[str]) -> int:
    """The list, or the settings of each one named."""
    console = Console()
    if argv and argv[0] in ("-h", "--help"):
        print(USAGE)
        return 0
    if not argv:
        console.print(overview())
    for name in argv:
        published(name)
        show(console, name)
    return 0


def recipes() -> dict[str, Mapping[str, Any]]:
    """Name -> source, note, and what differs from the settings of the data set."""
    folder = resources.files("rmix.experiment") / "recipes"
    datasets = sorted(file.name.removesuffix(".toml") for file in folder.iterdir() if file.name.endswith(".toml"))
    return {
        f"{dataset}/{method}": told
        for dataset in datasets
        for method, told in shipped_recipe(dataset).get("published", {}).items()
    }


def published(name: str) -> list[str]:
    """Data set and method of a recipe, or an error with the nearest name."""
    lookup("recipe", name, recipes())
    return name.split("/")


def settings_of(name: str) -> dict[str, str]:
    """All settings of a recipe, as they are trained."""
    dataset, method = published(name)
    plain = config_from({"dataset": dataset, "method": method}).to_plain()
    del plain["seed"]
    return flat(_said(plain))


def _said(plain: Mapping[str, Any]) -> dict[str, Any]:
    """Without what is None or empty; the word "none" is a value like others."""
    kept = {key: _said(value) if isinstance(value, Mapping) else value for key, value in plain.items()}
    return {key: value for key, value in kept.items() if value not in (None, "", {})}


def overview() -> Table:
    """Every recipe in a line."""
    table = Table(title="Published settings")
    for column in ("name", "source"):
        table.add_column(column)
    for name, told in recipes().items():
        table.add_row(name, told["source"])
    return table


def show(console: Console, name: str) -> None:
    """Source, note and settings."""
    told = recipes()[name]
    table = Table.grid(padding=(0, 2))
    for key, text in settings_of(name).items():
        table.add_row(key, text)
    dataset, method = published(name)
    console.print(f"[bold]{name}[/bold]", f"Source: {told['source']}.", sep="\n", soft_wrap=True)
    if "note" in told:
        console.print(told["note"], soft_wrap=True)
    console.print(table)
    console.print(f"Train: rmix train {dataset} {method}", soft_wrap=True)
