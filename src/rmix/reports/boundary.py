"""What each method learned, for inputs in the plane."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from rmix.experiment.result import Result
from rmix.reports.series import Series, series_of
from rmix.reports.style import MARKERS, drawing, figure_of, group_looks

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLUMNS = 2
REGIONS = ("#f3ead7", "#e3e8ef")  # class 0 and class 1, paler than any point


@dataclass(frozen=True)
class Points:
    """Training rows in the plane."""

    x: np.ndarray  # (n, 2)
    member: np.ndarray  # (n, n_groups) bool


class Boundary:
    """Where each method changes its mind between the two classes, over the training rows.

    Args:
        results: runs of one data set; of each method its first finished run is shown.
    """

    name = "boundary"
    title = "Decision boundary"
    caption = (
        "What the selected model of each method's first seed predicts over the plane: the line is where both classes "
        "are equally likely. Points are training rows; those of small groups are drawn larger and with an edge."
    )

    def __init__(self, results: Iterable[Result]) -> None:
        self.series = [series for series in series_of(results) if _shown(series) is not None]

    @cached_property
    def points(self) -> Points | None:
        """Training rows of the data set that the runs name."""
        from rmix.experiment.config import config_from

        if not self.series:
            return None
        bundle = config_from({"dataset": self.series[0].first.config["dataset"]}).dataset.load()
        member = bundle.train_member
        x = np.asarray(bundle.train.x)
        return Points(x, np.ones((len(x), 1), dtype=bool) if member is None else member)

    @property
    def text(self) -> str:
        """The figure in words."""
        methods = ", ".join(series.method for series in self.series)
        return f"Maps of the predicted class over the plane with the training rows by group, one a method: {methods}."

    def frame(self) -> dict[str, list[Any]]:
        """Columns: method, seed, x, y and chance (predicted probability of class 1)."""
        columns: dict[str, list[Any]] = {"method": [], "seed": [], "x": [], "y": [], "chance": []}
        for series in self.series:
            run = _shown(series)
            if run is None or run.surface is None:
                continue
            x, y = np.meshgrid(run.surface["x"], run.surface["y"])
            columns["method"] += [series.method] * x.size
            columns["seed"] += [run.seed] * x.size
            columns["x"] += x.ravel().tolist()
            columns["y"] += y.ravel().tolist()
            columns["chance"] += np.ravel(run.surface["chance"]).tolist()
        return columns

    def figure(self) -> Figure:
        """One panel a method, side by side."""
        with drawing():
            rows = -(-len(self.series) // COLUMNS)
            figure, panels = figure_of(rows, COLUMNS, 2.1 * rows + 0.7)
            for axes, series in zip(panels, self.series, strict=False):
                run = _shown(series)
                if run is not None and run.surface is not None:
                    self._draw(axes, run.surface)
                axes.set_title(series.method)
            for axes in panels[len(self.series) :]:
                axes.set_visible(False)
            handles, labels = panels[0].get_legend_handles_labels()
            figure.legend(handles, labels, loc="outside upper left", ncols=2, alignment="left")
            return figure

    def _draw(self, axes: Axes, surface: dict[str, Any]) -> None:
        axes.contourf(surface["x"], surface["y"], surface["chance"], levels=[0, 0.5, 1], colors=REGIONS)
        axes.contour(surface["x"], surface["y"], surface["chance"], levels=[0.5], colors="#3d3d3d", linewidths=1.2)
        axes.set(xticks=[], yticks=[])
        axes.grid(False)
        if self.points is not None:
            _scatter(axes, self.points, self.series[0].first.group_names or ("training rows",))


def _scatter(axes: Axes, points: Points, names: tuple[str, ...]) -> None:
    """Small groups last and larger, so that they are not buried under the large ones."""
    size = points.member.sum(0)
    colours = group_looks(names)
    for group in np.argsort(-size, kind="stable"):
        small = size[group] < size.max() / 4
        x, y = points.x[points.member[:, group]].T
        look = (
            {"s": 26, "edgecolors": "black", "linewidths": 0.7} if small else {"s": 5, "alpha": 0.55, "linewidths": 0}
        )
        colour, marker = colours[names[group]][0], MARKERS[group % len(MARKERS)]
        axes.scatter(x, y, color=colour, marker=marker, label=f"{names[group]} ({size[group]:,})", zorder=3, **look)


def _shown(series: Series) -> Result | None:
    """The first finished run over the plane."""
    return next((r for r in series.finished if r.surface is not None), None)
