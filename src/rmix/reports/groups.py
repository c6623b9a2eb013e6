"""How each group fares under each method."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import nan
from typing import TYPE_CHECKING, Any

from rmix.experiment.result import Result
from rmix.reports.dots import draw_cells, draw_dots, figure_of_dots
from rmix.reports.estimate import Estimate, Interval, interval_text, wilson
from rmix.reports.series import Series, series_of
from rmix.reports.style import Look, drawing, method_looks
from rmix.reports.summary import worst_name_of
from rmix.reports.text_table import TextTable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HEADERS = ("Data set", "Method", "Group", "Training rows", "Test rows", "Accuracy", "95 % interval", "")
WORST = "worst"
MOST_DOTS = 64  # eight methods and eight groups


@dataclass(frozen=True)
class GroupRow:
    """One group under one method."""

    series: Series
    place: int  # of the group
    worst: bool  # it is the worst in most runs

    @property
    def name(self) -> str:
        """Of the group."""
        return self.series.first.group_names[self.place]

    @property
    def train_rows(self) -> int | None:
        """Training rows of the group, None where they have no group labels."""
        counts = self.series.first.train_counts
        return None if counts is None else counts[self.place]

    @cached_property
    def test_rows(self) -> float:
        """Test rows of the group; the mean, should the data differ by seed."""
        totals = [r.test.total[self.place] for r in self.series.finished if r.test]
        return sum(totals) / len(totals) if totals else 0.0

    @cached_property
    def accuracy(self) -> Estimate:
        """Over seeds."""
        return Estimate.of(float(r.test.accuracy[self.place]) for r in self.series.finished if r.test)

    @property
    def interval(self) -> Interval:
        """Wilson's, on the rows of one test split: more seeds do not make the test split larger."""
        return wilson(self.accuracy.mean, self.test_rows)


class GroupAccuracy:
    """Accuracy of every group with its number of rows and a Wilson interval, the worst marked.

    Args:
        results: runs of any methods on any data sets; those without groups have no row.
        looks: colour and dashes of each method; None = from these results.
    """

    name = "groups"
    title = "Test accuracy of each group in per cent"
    caption = (
        "Means over seeds; ± is their standard deviation. The 95 % interval (Wilson) says how well the test rows "
        "pin down the accuracy of such a model: it is wide where a group is small, however many seeds were run."
    )

    def __init__(self, results: Iterable[Result], looks: Mapping[str, Look] | None = None) -> None:
        self.series = [series for series in series_of(results) if series.first.group_names]
        self.looks = looks or method_looks(r for series in self.series for r in series.results)
        self.rows = [
            GroupRow(series, place, worst=name == worst_name_of(series))
            for series in self.series
            for place, name in enumerate(series.first.group_names)
        ]

    @property
    def text(self) -> str:
        """The figure in words."""
        ends = (f"{row.series.method} {row.name} {row.accuracy.text} %" for row in self.rows if row.worst)
        return f"Accuracy of each group. The worst of each method: {'; '.join(ends)}."

    def frame(self) -> dict[str, list[Any]]:
        """Columns of numbers, shares between 0 and 1; low and high are the ends of the Wilson interval."""
        rows = self.rows
        return {
            "dataset": [row.series.dataset for row in rows],
            "method": [row.series.method for row in rows],
            "group": [row.name for row in rows],
            "train_rows": [nan if row.train_rows is None else row.train_rows for row in rows],
            "test_rows": [row.test_rows for row in rows],
            "accuracy": [row.accuracy.mean for row in rows],
            "accuracy_std": [row.accuracy.std for row in rows],
            "low": [row.interval[0] for row in rows],
            "high": [row.interval[1] for row in rows],
            "seeds": [row.accuracy.n for row in rows],
            "worst": [row.worst for row in rows],
        }

    def table(self) -> TextTable:
        """As text, in per cent."""
        return TextTable(self.title, self.caption, HEADERS, [_text_cells(row) for row in self.rows], n_words=3)

    def figure(self) -> Figure:
        """A panel a data set, of dots with intervals; of coloured cells where there are too many dots to follow."""
        by_dataset: dict[str, list[Series]] = {}
        for series in self.series:
            by_dataset.setdefault(series.dataset, []).append(series)
        with drawing():
            return (self._cells if len(self.rows) > MOST_DOTS else self._dots)(by_dataset)

    def _dots(self, by_dataset: Mapping[str, list[Series]]) -> Figure:
        """Groups from top to bottom, a dot and an interval a method."""
        heights = [len(of[0].first.group_names) * (0.2 * len(of) + 0.2) for of in by_dataset.values()]
        figure, panels = figure_of_dots(heights)
        for axes, (dataset, of) in zip(panels, by_dataset.items(), strict=True):
            for series in of:
                dots = [(row.accuracy.mean, row.interval) for row in self._rows(series)]
                draw_dots(axes, dots, self.looks[series.method], (of.index(series), len(of)), series.method)
            axes.set_yticks(range(len(of[0].first.group_names)), of[0].first.group_names)
            axes.set(title=dataset if len(panels) > 1 else None, ylim=(len(of[0].first.group_names) - 0.5, -0.5))
        panels[-1].set_xlabel("Test accuracy (%) with its 95 % interval (Wilson)")
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper left", ncols=3, alignment="left")
        return figure

    def _cells(self, by_dataset: Mapping[str, list[Series]]) -> Figure:
        """Methods from top to bottom, groups from left to right."""
        figure, panels = figure_of_dots([0.2 * len(of) + 1 for of in by_dataset.values()])
        for axes, (dataset, of) in zip(panels, by_dataset.items(), strict=True):
            shares = [[row.accuracy.mean for row in self._rows(series)] for series in of]
            draw_cells(axes, shares, [series.method for series in of], of[0].first.group_names)
            axes.set_title(dataset if len(panels) > 1 else "")
        return figure

    def _rows(self, series: Series) -> list[GroupRow]:
        return [row for row in self.rows if row.series is series]


def _text_cells(row: GroupRow) -> tuple[str, ...]:
    train_rows = "–" if row.train_rows is None else f"{row.train_rows:,}"
    counts = (train_rows, f"{row.test_rows:,.0f}")
    accuracy = (row.accuracy.text, interval_text(row.interval), WORST if row.worst else "")
    return (row.series.dataset, row.series.method, row.name, *counts, *accuracy)
