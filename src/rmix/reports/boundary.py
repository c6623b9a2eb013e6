"""What each method learned, for inputs in the plane."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from rmix.experiment.result import Result
from rmix.reports.series import Series, series_of
from rmix.reports.style import COLUMNS, MARKERS, drawing, figure_of, group_looks

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from rmix.datasets import Bundle

REGIONS = ("#f5ecd8", "#e4e9f0")  # class 0 and class 1, paler than any point
PLAIN = "#4477aa"
SMALL = 0.25  # of the largest group; smaller groups are emphasised


@dataclass(frozen=True)
class Cloud:
    """Training rows of one group in the plane."""

    label: str
    x: np.ndarray  # (n, 2)
    colour: str
    marker: str
    small: bool  # drawn larger and with an edge

    @property
    def _edge(self) -> dict[str, Any]:
        return {"color": self.colour, "marker": self.marker, "markeredgecolor": "black" if self.small else self.colour}

    def draw(self, axes: Axes) -> None:
        """The points; those of a large group as pixels, or the picture would be megabytes."""
        size, width, alpha = (5.0, 0.6, 1.0) if self.small else (1.6, 0.0, 0.6)
        look: dict[str, Any] = {"markersize": size, "markeredgewidth": width, "alpha": alpha}
        axes.plot(*self.x.T, linestyle="", rasterized=not self.small, **self._edge, **look)

    def handle(self) -> Artist:
        """What stands for the group in the legend."""
        from matplotlib.lines import Line2D

        return Line2D([], [], linestyle="", markersize=5, label=self.label, **self._edge)


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
    def clouds(self) -> list[Cloud]:
        """Training rows by group, small groups last; none where the runs' data is not the data at hand."""
        bundle = _data_of(self.series[0].first)
        if bundle is None:
            return []
        x, member = np.asarray(bundle.train.x), bundle.train_member
        if member is None:
            return [Cloud(f"training rows ({len(x):,})", x, PLAIN, MARKERS[0], small=False)]
        looks, size = group_looks(bundle.group_names), member.sum(0)
        return [
            Cloud(
                label=f"{bundle.group_names[group]} ({size[group]:,})",
                x=x[member[:, group]],
                colour=looks[bundle.group_names[group]][0],
                marker=MARKERS[group % len(MARKERS)],
                small=bool(size[group] < SMALL * size.max()),
            )
            for group in np.argsort(-size, kind="stable")
        ]

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
            figure, panels = figure_of(len(self.series), 1.75, COLUMNS)
            for axes, series in zip(panels, self.series, strict=True):
                run = _shown(series)
                if run is not None and run.surface is not None:
                    _draw_regions(axes, run.surface)
                for cloud in self.clouds:
                    cloud.draw(axes)
                axes.set_title(series.method)
            figure.legend(handles=self._legend(), loc="outside upper left", ncols=2, alignment="left")
            return figure

    def _legend(self) -> list[Artist]:
        from matplotlib.patches import Patch

        names = self.series[0].first.class_names
        regions = [Patch(color=colour, label=f"predicted: {name}") for colour, name in zip(REGIONS, names, strict=True)]
        return [*(cloud.handle() for cloud in self.clouds), *regions]


def _draw_regions(axes: Axes, surface: dict[str, Any]) -> None:
    grid = surface["x"], surface["y"], surface["chance"]
    axes.contourf(*grid, levels=[0, 0.5, 1], colors=REGIONS)
    if np.min(grid[2]) < 0.5 < np.max(grid[2]):  # else one class is predicted everywhere
        axes.contour(*grid, levels=[0.5], colors="#3d3d3d", linewidths=1.2)
    axes.tick_params(left=False, bottom=False, labelleft=False, labelbottom=False)
    axes.grid(False)


def _shown(series: Series) -> Result | None:
    """The first finished run over the plane."""
    return next((r for r in series.finished if r.surface is not None), None)


def _data_of(result: Result) -> Bundle | None:
    """The data set that a result names, None where it is not known here or has other values."""
    from rmix.datasets import DATASETS
    from rmix.experiment.config import config_from

    if result.config["dataset"]["name"] not in DATASETS:
        return None
    bundle = config_from({"dataset": result.config["dataset"]}).dataset.load()
    return bundle if bundle.checksum == result.environment.get("data") else None
