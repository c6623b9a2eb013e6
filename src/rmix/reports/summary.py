"""The table: one row a data set and method."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from rmix.experiment.result import Result
from rmix.metrics import GroupTable
from rmix.reports.dots import draw_dots, figure_of_dots
from rmix.reports.estimate import UNKNOWN, Estimate
from rmix.reports.series import Series, series_of
from rmix.reports.style import Look, drawing
from rmix.reports.text_table import TextTable

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from rich.table import Table

TITLE = "Test accuracy in per cent (mean ± standard deviation over seeds)"
INTERVAL = "95 % interval"
HEADERS = (
    "Data set",
    "Method",
    "Labels to fit",
    "Labels to select",
    "Average",
    "Adjusted average",
    "Worst group",
    INTERVAL,
    "Gap",
    "Seeds",
)
CAPTION = (
    "The worst group is found in each run by itself and then averaged over seeds; its 95 % interval is Student's t "
    "over seeds. Labels: whether group labels of training rows were read to fit, of validation rows to select."
)
LOOKS: dict[str, Look] = {"worst": ("#d55e00", "solid"), "average": ("#0072b2", "solid")}
LABELS = {"worst": "worst group", "average": "average"}
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
        return worst_name_of(self.series)

    @property
    def seeds(self) -> str:
        """Finished runs, and failed ones where there are any."""
        failed = len(self.series.failed)
        return str(len(self.series.finished)) + (f" ({failed} failed)" if failed else "")

    @property
    def cells(self) -> tuple[str, ...]:
        """As text, in the order of the headers."""
        worst = ", ".join(filter(None, (self.worst.text, self.worst_name)))
        return (*self._first_cells, worst, self.worst.interval_text, self.gap.text, self.seeds)

    @property
    def narrow_cells(self) -> tuple[str, ...]:
        """Likewise, what is said of the worst group below each other."""
        interval = "" if self.worst.interval_text == UNKNOWN else self.worst.interval_text
        worst = "\n".join(filter(None, (self.worst.text, interval, self.worst_name)))
        return (*self._first_cells, worst, self.gap.text, self.seeds.replace(" ", "\n"))

    @property
    def _first_cells(self) -> tuple[str, ...]:
        series = self.series
        return (series.dataset, series.method, self.fit, self.select, self.average.text, self.adjusted_average.text)


def worst_name_of(series: Series) -> str:
    """The group that is worst in most runs (the first of equals), empty where there are no groups."""
    tables = [r.test for r in series.finished if r.test is not None]
    worst = Counter(table.worst_group for table in tables if table.worst_group is not None)
    return series.first.group_names[min(worst, key=lambda group: (-worst[group], group))] if worst else ""


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
            columns[f"{name}_low"] = [of.interval[0] for of in estimates]
            columns[f"{name}_high"] = [of.interval[1] for of in estimates]
        columns["worst_group"] = [row.worst_name for row in self.rows]
        columns["seeds"] = [len(row.series.finished) for row in self.rows]
        columns["failed"] = [len(row.series.failed) for row in self.rows]
        return columns

    def table(self) -> TextTable:
        """As text, in per cent."""
        return TextTable(TITLE, CAPTION, HEADERS, [row.cells for row in self.rows], N_WORDS)

    def markdown(self) -> str:
        """A table for a README or a notebook."""
        return self.table().markdown()

    def rich(self) -> Table:
        """A table for the terminal."""
        headers = [header for header in HEADERS if header != INTERVAL]
        return replace(self.table(), headers=headers, rows=[row.narrow_cells for row in self.rows]).rich()

    def figure(self) -> Figure:
        """A panel a data set: methods from top to bottom, average and worst group with their intervals."""
        with drawing():
            by_dataset: dict[str, list[Row]] = {}
            for row in self.rows:
                by_dataset.setdefault(row.series.dataset, []).append(row)
            figure, panels = figure_of_dots([0.3 * len(rows) for rows in by_dataset.values()])
            for axes, (dataset, rows) in zip(panels, by_dataset.items(), strict=True):
                for label, look in LOOKS.items():
                    estimates = [getattr(row, label) for row in rows]
                    draw_dots(axes, [(of.mean, of.interval) for of in estimates], look, label=LABELS[label])
                axes.set_yticks(range(len(rows)), [row.series.method for row in rows])
                axes.set(title=dataset if len(panels) > 1 else None, ylim=(len(rows) - 0.5, -0.5))
            panels[-1].set_xlabel("Test accuracy (%), mean over seeds and its 95 % interval")
            figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper left", ncols=2, alignment="left")
            return figure
