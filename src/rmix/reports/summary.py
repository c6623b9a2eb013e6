"""The table: one row a data set and method."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from rmix.experiment.result import Result
from rmix.metrics import GroupTable
from rmix.reports.estimate import Estimate
from rmix.reports.series import Series, series_of

if TYPE_CHECKING:
    from rich.console import JustifyMethod
    from rich.table import Table

TITLE = "Test accuracy in per cent (mean ± standard deviation over seeds)"
HEADERS = (
    "Data set",
    "Method",
    "Labels to fit",
    "Labels to select",
    "Average",
    "Adjusted average",
    "Worst group",
    "Gap",
    "Seeds",
)
N_WORDS = 4  # columns of words; numbers follow, and are aligned right


@dataclass(frozen=True)
class Row:
    """What one method reached on one data set."""

    series: Series

    @property
    def tables(self) -> list[GroupTable]:
        """Test tables of the finished runs."""
        return [r.test for r in self.series.finished if r.test is not None]

    @property
    def fit(self) -> str:
        """Whether the method read group labels in training."""
        return yes_no(self.series.first.groups_used["fit"])

    @property
    def select(self) -> str:
        """Whether the choice of the epoch read group labels in validation."""
        return yes_no(self.series.first.groups_used["select"])

    @cached_property
    def average(self) -> Estimate:
        """Over the rows of the test split."""
        return Estimate.of(table.average for table in self.tables)

    @cached_property
    def adjusted_average(self) -> Estimate:
        """Over groups, weighted by their shares of training."""
        return Estimate.of(result.adjusted_average for result in self.series.finished)

    @cached_property
    def worst(self) -> Estimate:
        """Of the worst group of each run."""
        return Estimate.of(table.worst for table in self.tables)

    @cached_property
    def gap(self) -> Estimate:
        """Average minus worst group."""
        return Estimate.of(table.gap for table in self.tables)

    @property
    def worst_name(self) -> str:
        """The group that is worst in most runs (the first of equals), empty where there are no groups."""
        worst = Counter(table.worst_group for table in self.tables if table.worst_group is not None)
        if not worst:
            return ""
        return self.series.first.group_names[min(worst, key=lambda group: (-worst[group], group))]

    @property
    def seeds(self) -> str:
        """Finished runs, and failed ones where there are any."""
        failed = len(self.series.failed)
        return str(len(self.series.finished)) + (f" ({failed} failed)" if failed else "")

    def cells(self, between: str) -> tuple[str, ...]:
        """As text, in the order of the headers, with ``between`` the worst group's number and its name."""
        worst = between.join(filter(None, (self.worst.text, self.worst_name)))
        words = (self.series.dataset, self.series.method, self.fit, self.select)
        return (*words, self.average.text, self.adjusted_average.text, worst, self.gap.text, self.seeds)


def yes_no(value: bool) -> str:
    """A switch in words."""
    return "yes" if value else "no"


class Summary:
    """Average and worst group of each method, and which group labels it used.

    Example:
        >>> from rmix import train
        >>> run = train("moons", "erm", training={"epochs": 1})
        >>> Summary([run.result]).frame()["groups_select"]
        ['yes']
    """

    def __init__(self, results: Iterable[Result]) -> None:
        self.rows: Sequence[Row] = [Row(series) for series in series_of(results)]

    def frame(self) -> dict[str, list[Any]]:
        """Columns of numbers, shares between 0 and 1; nan where unknown."""
        columns: dict[str, list[Any]] = {
            "dataset": [row.series.dataset for row in self.rows],
            "method": [row.series.method for row in self.rows],
            "groups_fit": [row.fit for row in self.rows],
            "groups_select": [row.select for row in self.rows],
        }
        for name in ("average", "adjusted_average", "worst", "gap"):
            estimates = [getattr(row, name) for row in self.rows]
            columns[name] = [of.mean for of in estimates]
            columns[f"{name}_std"] = [of.std for of in estimates]
        columns["worst_group"] = [row.worst_name for row in self.rows]
        columns["seeds"] = [len(row.series.finished) for row in self.rows]
        columns["failed"] = [len(row.series.failed) for row in self.rows]
        return columns

    def markdown(self) -> str:
        """A table for a README or a notebook."""
        rule = ["---"] * N_WORDS + ["---:"] * (len(HEADERS) - N_WORDS)
        lines = [HEADERS, rule, *([_for_markdown(cell) for cell in row.cells(", ")] for row in self.rows)]
        return "".join(f"| {' | '.join(line)} |\n" for line in lines)

    def rich(self) -> Table:
        """A table for the terminal."""
        from rich import box
        from rich.table import Table
        from rich.text import Text

        table = Table(title=TITLE, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, padding=0)
        for place, header in enumerate(HEADERS[1:], start=1):
            wraps = header in ("Method", "Worst group", "Seeds")
            words = header if wraps else header.replace(" ", "\n")
            justify: JustifyMethod = "left" if place < N_WORDS else "right"
            table.add_column(
                words, justify=justify, no_wrap=not wraps, min_width=11 if header == "Worst group" else None
            )
        dataset = None
        for row in self.rows:
            if row.series.dataset != dataset:
                dataset = row.series.dataset
                table.add_section()
                table.add_row(Text(dataset, style="bold"))
            table.add_row(*map(Text, row.cells("\n")[1:]))
        return table


def _for_markdown(text: str) -> str:
    """Names that would end the cell or be read as HTML, made harmless."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace("|", "\\|").replace("\n", " ")
