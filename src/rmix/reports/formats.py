"""A report in each format, as text: a pure function of results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rmix.errors import lookup
from rmix.experiment.result import Result
from rmix.reports.groups import GroupAccuracy
from rmix.reports.latex import latex
from rmix.reports.page import TITLE, page
from rmix.reports.paired import Paired
from rmix.reports.runs import Runs
from rmix.reports.series import baseline_of
from rmix.reports.summary import Summary
from rmix.reports.text_table import TextTable, csv_text

if TYPE_CHECKING:
    from rich.table import Table

TABLES = ("summary", "groups", "paired", "runs")


@dataclass(frozen=True)
class Asked:
    """What a report is to say.

    Args:
        results: runs of any methods on any data sets.
        baseline: what differences are taken against; None = erm, where it was run.
        title: heading of the page.
        table: the one that CSV has room for.
    """

    results: Sequence[Result]
    baseline: str | None = None
    title: str = TITLE
    table: str = "summary"

    @property
    def paired(self) -> Paired:
        """Every other method against the baseline."""
        return Paired.against(self.results, baseline_of(self.results, self.baseline))

    @property
    def tables(self) -> list[TextTable]:
        """Those that have something to say."""
        found = [Summary(self.results).table(), GroupAccuracy(self.results).table(), self.paired.table()]
        return [table for table in found if table.rows]


def markdown(asked: Asked) -> str:
    """Headings, tables and what the columns mean."""
    parts = [f"## {table.title}\n\n{table.markdown()}\n{table.caption}\n" for table in asked.tables]
    return f"# {asked.title}\n\n" + "\n".join(parts)


def csv(asked: Asked) -> str:
    """One table with the numbers in full: shares between 0 and 1."""
    lookup("table", asked.table, dict.fromkeys(TABLES))
    reports = {"summary": Summary, "groups": GroupAccuracy, "runs": Runs}
    frame = asked.paired.frame() if asked.table == "paired" else reports[asked.table](asked.results).frame()
    return csv_text(frame)


def terminal(asked: Asked) -> list[Table]:
    """The tables for a console."""
    rest = [table.rich() for table in asked.tables[1:]]
    return [Summary(asked.results).rich(), *rest]


FORMATS: dict[str, Callable[[Asked], str]] = {
    "html": lambda asked: page(asked.results, asked.title, asked.baseline),
    "markdown": markdown,
    "csv": csv,
    "latex": lambda asked: latex(asked.results),
}
