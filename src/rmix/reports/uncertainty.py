"""How uncertain the rows of each group are (the paper's density figure)."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from rmix.experiment.result import Result
from rmix.reports.series import Series, series_of
from rmix.reports.style import drawing, figure_of, group_looks

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BANDWIDTH = 0.04  # one for all groups, so that their heights compare
GRID = np.linspace(0, 1, 201)


class UncertaintyDensity:
    """Density of the uncertainty u by group: the share of epochs in which ERM misclassified a training row.

    Args:
        results: runs of one data set; the first method that weighs by uncertainty is shown, seeds together.
    """

    name = "uncertainty"
    title = "Uncertainty by group"
    caption = (
        "Each training row's uncertainty is the share of epochs in which plain training got it wrong: 0 is never, "
        "1 is always. RMix without group labels gives uncertain rows more weight. All curves are smoothed "
        "alike (a bandwidth of 0.04); each panel has its own vertical scale, so compare where the mass is, not heights."
    )

    def __init__(self, results: Iterable[Result]) -> None:
        known = [series for series in series_of(results) if any(map(_known, series.finished))]
        self.series: Series | None = known[0] if known else None

    @cached_property
    def counts(self) -> dict[str, dict[float, int]]:
        """Training rows of each group by uncertainty, over all seeds."""
        if self.series is None:
            return {}
        found: dict[str, dict[float, int]] = {name: {} for name in self.series.first.group_names}
        for result in filter(_known, self.series.finished):
            noted = result.described["main"]["uncertainty"]
            for rows, counts in zip(found.values(), noted["counts"], strict=True):
                for value, count in zip(noted["values"], counts, strict=True):
                    if count:
                        rows[value] = rows.get(value, 0) + count
        return {name: dict(sorted(rows.items())) for name, rows in found.items()}

    @property
    def text(self) -> str:
        """The figure in words."""
        means = (f"{name} {_mean(rows):.2f}" for name, rows in self.counts.items() if rows)
        return f"Densities of uncertainty between 0 and 1, one a group. Mean uncertainty: {'; '.join(means)}."

    def frame(self) -> dict[str, list[Any]]:
        """Columns: group, uncertainty, rows (over all seeds) and share of the group."""
        columns: dict[str, list[Any]] = {"group": [], "uncertainty": [], "rows": [], "share": []}
        for name, rows in self.counts.items():
            columns["group"] += [name] * len(rows)
            columns["uncertainty"] += rows.keys()
            columns["rows"] += rows.values()
            columns["share"] += [count / sum(rows.values()) for count in rows.values()]
        return columns

    def figure(self) -> Figure:
        """One panel a group, one below the other."""
        with drawing():
            figure, panels = figure_of(len(self.counts), 0.8, share_y=False)
            colours = group_looks(list(self.counts))
            sizes = self.series.first.train_counts if self.series else None
            for place, (axes, (name, rows)) in enumerate(zip(panels, self.counts.items(), strict=True)):
                _draw(axes, rows, colours[name][0])
                axes.set_title(f"{name} ({sizes[place]:,} training rows)" if sizes else name)
            panels[-1].set_xlabel("Uncertainty: share of epochs in which the row was misclassified")
            return figure


def density(rows: dict[float, int]) -> np.ndarray:
    """Kernel density over the grid, its mass kept inside 0 to 1 by reflecting what would leave."""
    value, count = np.array(list(rows)), np.array(list(rows.values()), dtype=float)
    places = np.concatenate([value, -value, 2 - value])
    kernel = np.exp(-0.5 * ((GRID[:, None] - places) / BANDWIDTH) ** 2)
    height: np.ndarray = kernel @ np.tile(count, 3) / (count.sum() * BANDWIDTH * np.sqrt(2 * np.pi))
    return height


def _mean(rows: dict[float, int]) -> float:
    return sum(value * count for value, count in rows.items()) / sum(rows.values())


def _draw(axes: Axes, rows: dict[float, int], colour: str) -> None:
    axes.set(xlim=(0, 1), yticks=[])
    axes.spines["left"].set_visible(False)
    if not rows:
        axes.text(0.5, 0.5, "no training rows", ha="center", va="center", transform=axes.transAxes, color="#8a8a8a")
        return
    height = density(rows)
    axes.fill_between(GRID, height, color=colour, alpha=0.3, linewidth=0)
    axes.plot(GRID, height, color=colour)
    axes.set_ylim(0, None)


def _known(result: Result) -> bool:
    return "uncertainty" in result.described.get("main", {})
