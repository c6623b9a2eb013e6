"""Dots with intervals, or cells of colour: what tables look like as a figure."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan
from typing import TYPE_CHECKING, Any

from rmix.errors import require
from rmix.reports.estimate import UNKNOWN, Interval
from rmix.reports.style import WIDTH, Look

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Dot = tuple[float, Interval]  # where it is, and what is between its ends
HEAD = 0.9  # inches for the legend and the axis


def figure_of_dots(heights: Sequence[float]) -> tuple[Figure, list[Axes]]:
    """A figure with one panel below the other, of these heights in inches."""
    from matplotlib.figure import Figure

    require(bool(heights), "These runs have no numbers for this figure; its frame() is empty")
    figure = Figure(figsize=(WIDTH, sum(heights) + HEAD + 0.3 * len(heights)), layout="constrained")
    axes = figure.subplots(len(heights), 1, squeeze=False, height_ratios=heights)
    return figure, list(axes.flat)


def draw_dots(axes: Axes, dots: Sequence[Dot], look: Look, of: tuple[int, int] = (0, 1), label: str = "") -> None:
    """One dot a line, in per cent; ``of`` says which of how many dots of the line these are."""
    turn, turns = of
    shift = 0.0 if turns == 1 else 0.7 * (turn / (turns - 1) - 0.5)
    known = [(place + shift, dot) for place, dot in enumerate(dots) if not isnan(dot[0])]
    bars: dict[str, Any] = {"color": look[0], "linestyle": look[1], "linewidth": 1.2}
    for at, (_, (low, high)) in known:
        axes.plot([100 * low, 100 * high], [at, at], **bars)
    places, values = [at for at, _ in known], [100 * dot[0] for _, dot in known]
    axes.plot(values, places, linestyle="", marker="o", markersize=4.5, color=look[0], label=label)
    axes.yaxis.grid(False)
    axes.spines["left"].set_visible(False)
    axes.tick_params(axis="y", length=0)


def draw_cells(axes: Axes, shares: Sequence[Sequence[float]], left: Sequence[str], below: Sequence[str]) -> None:
    """Rows of shares from top to bottom, darker where they are lower, each with its number in whole per cent."""
    axes.pcolormesh([[100 * share for share in row] for row in shares], cmap="cividis", vmin=0, vmax=100)
    for y, row in enumerate(shares):
        for x, share in enumerate(row):
            colour = "black" if isnan(share) or share > 0.5 else "white"
            written = UNKNOWN if isnan(share) else f"{100 * share:.0f}"
            axes.text(x + 0.5, y + 0.5, written, ha="center", va="center", color=colour, fontsize=6.5)
    axes.set_xticks([x + 0.5 for x in range(len(below))], below, rotation=90)
    axes.set_yticks([y + 0.5 for y in range(len(left))], left)
    axes.invert_yaxis()
    axes.grid(False)
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)
