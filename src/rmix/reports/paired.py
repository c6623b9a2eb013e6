"""Is one method better than another? Differences on the same seeds, with an interval."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import isnan
from typing import TYPE_CHECKING, Any

from rmix.experiment.result import Result
from rmix.reports.dots import draw_dots, figure_of_dots
from rmix.reports.estimate import UNKNOWN, Estimate, Interval, points
from rmix.reports.series import Series, series_of
from rmix.reports.style import Look, drawing
from rmix.reports.text_table import TextTable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HEADERS = ("Data set", "Method", "Baseline", "Points", "95 % interval", "Verdict", "Seeds")
LOOK: Look = ("#0072b2", "solid")


@dataclass(frozen=True)
class Difference:
    """Worst-group accuracy of one method minus that of another, run by run of the same seed."""

    dataset: str
    method: str
    baseline: str
    values: tuple[float, ...]  # one a seed that both have

    @property
    def estimate(self) -> Estimate:
        """Of the difference, over seeds."""
        return Estimate.of(self.values)

    @property
    def mean(self) -> float:
        """Mean difference."""
        return self.estimate.mean

    @property
    def interval(self) -> Interval:
        """95 % interval of the mean by Student's t; nan with fewer than two seeds."""
        return self.estimate.interval

    @property
    def verdict(self) -> str:
        """Better or worse where the interval excludes zero, else a tie; nothing where there is no interval."""
        low, high = self.interval
        if isnan(low):
            return UNKNOWN
        return "better" if low > 0 else "worse" if high < 0 else "tie"


class Paired:
    """Each pair of methods on each data set where both were run.

    Args:
        results: runs of several methods with the same seeds.
        pairs: (method, baseline) names.
    """

    name = "paired"
    title = "Differences of worst-group accuracies on the same seeds, in points"
    caption = (
        "The difference is taken seed by seed, so what both methods share of a seed's luck falls away. "
        "The interval (95 %) is Student's t over seeds; where it excludes zero the method is better or worse, "
        "else it is a tie."
    )

    def __init__(self, results: Iterable[Result], pairs: Sequence[tuple[str, str]]) -> None:
        found = {(series.dataset, series.method): series for series in series_of(results)}
        self.differences = [
            difference(found[dataset, a], found[dataset, b])
            for dataset in dict.fromkeys(dataset for dataset, _ in found)
            for a, b in pairs
            if (dataset, a) in found and (dataset, b) in found
        ]

    @classmethod
    def against(cls, results: Iterable[Result], baseline: str) -> Paired:
        """Every other method against ``baseline``; no difference where it was not run."""
        results = list(results)
        methods = dict.fromkeys(series.method for series in series_of(results))
        return cls(results, [(method, baseline) for method in methods if method != baseline])

    @property
    def text(self) -> str:
        """The figure in words."""
        ends = (f"{d.method} minus {d.baseline} {points(d.mean)} ({d.verdict})" for d in self.differences)
        return f"Differences of worst-group accuracy with their intervals: {'; '.join(ends)}."

    def frame(self) -> dict[str, list[Any]]:
        """Columns of numbers as shares."""
        rows = self.differences
        return {
            "dataset": [d.dataset for d in rows],
            "method": [d.method for d in rows],
            "baseline": [d.baseline for d in rows],
            "difference": [d.mean for d in rows],
            "low": [d.interval[0] for d in rows],
            "high": [d.interval[1] for d in rows],
            "verdict": [d.verdict for d in rows],
            "seeds": [len(d.values) for d in rows],
        }

    def table(self) -> TextTable:
        """As text, in points of per cent."""
        return TextTable(self.title, self.caption, HEADERS, [_cells(d) for d in self.differences], n_words=3)

    def markdown(self) -> str:
        """A table for a README or a notebook."""
        return self.table().markdown()

    def figure(self) -> Figure:
        """A panel a data set: methods from top to bottom, and a line at no difference."""
        with drawing():
            by_dataset: dict[str, list[Difference]] = {}
            for d in self.differences:
                by_dataset.setdefault(d.dataset, []).append(d)
            figure, panels = figure_of_dots([0.3 * len(of) for of in by_dataset.values()])
            for axes, (dataset, of) in zip(panels, by_dataset.items(), strict=True):
                axes.axvline(0, color="#8a8a8a", linewidth=1)
                draw_dots(axes, [(d.mean, d.interval) for d in of], LOOK)
                axes.set_yticks(range(len(of)), [f"{d.method} − {d.baseline}" for d in of])
                axes.set(title=dataset if len(panels) > 1 else None, ylim=(len(of) - 0.5, -0.5))
            panels[-1].set_xlabel("Difference of worst-group accuracies (points) and its 95 % interval")
            return figure


def difference(one: Series, other: Series) -> Difference:
    """The difference over the seeds that both have finished."""
    worst = [{r.seed: r.test.worst for r in series.finished if r.test} for series in (one, other)]
    seeds = sorted(worst[0].keys() & worst[1].keys())
    return Difference(one.dataset, one.method, other.method, tuple(worst[0][s] - worst[1][s] for s in seeds))


def _cells(d: Difference) -> tuple[str, ...]:
    ends = UNKNOWN if isnan(d.interval[0]) else " to ".join(map(points, d.interval))
    return (d.dataset, d.method, d.baseline, points(d.mean), ends, d.verdict, str(len(d.values)))
