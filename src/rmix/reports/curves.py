"""How the worst group fares along training, by method."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from rmix.experiment.result import Result
from rmix.metrics import GroupTable
from rmix.reports.bands import Bands, columns_of, draw_band, draw_line
from rmix.reports.estimate import per_cent
from rmix.reports.series import Series, series_of
from rmix.reports.style import COLUMNS, PALE, Look, drawing, figure_of, method_looks

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Curves:
    """Worst-group accuracy on validation, epoch by epoch; the average where there are no groups.

    Args:
        results: runs of one data set.
        looks: colour and dashes of each method; None = from these results.
    """

    name = "curves"

    def __init__(self, results: Iterable[Result], looks: Mapping[str, Look] | None = None) -> None:
        self.series = series_of(results)
        self.looks = looks or method_looks(r for series in self.series for r in series.results)

    @property
    def title(self) -> str:
        """What is shown."""
        return f"{self.measure} along training"

    @property
    def measure(self) -> str:
        """What is followed."""
        grouped = any(series.first.group_names for series in self.series)
        return "Worst-group accuracy" if grouped else "Average accuracy"

    caption = (
        "Validation accuracy after every epoch of the main training stage, one panel a method: the line is the mean "
        "over seeds, the band one standard deviation to either side; the other methods are in grey."
    )

    @cached_property
    def bands(self) -> Bands:
        """Values (seeds, epochs) of each method."""
        found = {series.method: _values(series) for series in self.series}
        return {method: values for method, values in found.items() if values.size}

    @property
    def text(self) -> str:
        """The figure in words."""
        ends = (f"{method} ends at {per_cent(float(v[:, -1].mean()))} %" for method, v in self.bands.items())
        return f"Lines of {self.measure.lower()} on validation by epoch, one a method: {'; '.join(ends)}."

    def frame(self) -> dict[str, list[Any]]:
        """Columns: method, epoch (from 1), mean, std (nan for one seed) and seeds."""
        return columns_of("method", self.bands)

    def figure(self) -> Figure:
        """One panel a method, the others pale behind it."""
        with drawing():
            figure, panels = figure_of(len(self.bands), 1.5, COLUMNS)
            for axes, (method, values) in zip(panels, self.bands.items(), strict=True):
                for other in self.bands.values():
                    draw_line(axes, other, color=PALE, linewidth=0.8)
                draw_band(axes, method, values, self.looks[method])
                axes.set_title(method)
            figure.supxlabel("Epoch")
            figure.supylabel(f"{self.measure} on validation (%)")
            return figure


def _values(series: Series) -> np.ndarray:
    """Worst-group or average accuracy (seeds, epochs)."""
    runs = [
        [GroupTable.from_json(epoch["valid"]) for epoch in result.history["main"]]
        for result in series.finished
        if "main" in result.history
    ]
    grouped = bool(series.first.group_names)
    return np.array([[table.worst if grouped else table.average for table in run] for run in runs])
