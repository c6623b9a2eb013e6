"""`rmix report RUNS_OR_STORES...`: what the runs say, in the format of your choice."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import tyro
from rich.console import Console

from rmix.cli.found import find_runs
from rmix.errors import InvalidValueError
from rmix.reports.formats import FORMATS, Asked, terminal
from rmix.reports.page import TITLE

Format = Literal["terminal", "markdown", "html", "csv", "latex"]
WIDTH = 120  # of a terminal's tables in a file
SUFFIXES = {".html": "html", ".md": "markdown", ".csv": "csv", ".tex": "latex"}


@dataclass(frozen=True)
class Options:
    """Tables of runs: averages, groups, and differences to a baseline.

    Args:
        runs: ids, beginnings of ids, folders of runs or of stores; none = all runs of the store.
        format: how it is written; none = from the ending of --out, else for the terminal.
        out: file to write; none = to the terminal.
        baseline: method that the others are compared with; none = erm, where it was run.
        table: the one that CSV has room for; runs = the counts of every run and group.
        title: heading of the page.
        store: where ids are looked for.
    """

    runs: Annotated[tuple[str, ...], tyro.conf.Positional] = ()
    format: Format | None = None
    out: Path | None = None
    baseline: str | None = None
    table: Literal["summary", "groups", "paired", "runs"] = "summary"
    title: str = TITLE
    store: Path = Path("runs")


def run(argv: Sequence[str]) -> int:
    """Read, report."""
    options = tyro.cli(Options, args=list(argv), prog="rmix report")
    found = find_runs(options.runs or [str(options.store)], options.store)
    if not found:
        raise InvalidValueError(f"There are no finished runs in {', '.join(options.runs) or options.store}.")
    asked = Asked(list(found.values()), options.baseline, options.title, options.table)
    name = options.format or SUFFIXES.get(options.out.suffix if options.out else "", "terminal")
    if options.out is None:
        _print(name, asked)
        return 0
    options.out.parent.mkdir(parents=True, exist_ok=True)
    text = _as_text(asked) if name == "terminal" else FORMATS[name](asked)
    options.out.write_text(text, encoding="utf-8", newline="\n")
    Console().print(f"{name} report of {len(found)} runs: {options.out}", soft_wrap=True)
    return 0


def _print(name: str, asked: Asked) -> None:
    if name == "terminal":
        Console().print(*terminal(asked))
    else:
        print(FORMATS[name](asked), end="")


def _as_text(asked: Asked) -> str:
    file = io.StringIO()
    Console(file=file, width=WIDTH).print(*terminal(asked))
    return file.getvalue()
