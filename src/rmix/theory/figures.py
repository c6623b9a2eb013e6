"""Figures of the theory: pure functions of its tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rmix.reports.style import METHODS, drawing, figure_of, svg
from rmix.theory.sheet import Sheet

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK, BLUE, ORANGE, PINK, GREEN, RED = METHODS[:6]


@dataclass(frozen=True)
class TheoryFigure:
    """A figure of one sheet, what it is called and what it shows in words."""

    name: str
    sheet: str
    title: str
    text: str
    draw: Callable[[Sheet], Figure]


def write_figure(figure: TheoryFigure, sheet: Sheet, folder: Path) -> None:
    """The figure as SVG, for pages, and as PNG."""
    with drawing():
        drawn = figure.draw(sheet)
        drawn.savefig(folder / f"{figure.name}.png", dpi=200)
    text = svg(drawn, figure.name, figure.title, figure.text)
    (folder / f"{figure.name}.svg").write_text(text, encoding="utf-8")


def _order(sheet: Sheet) -> Figure:
    """Regulariser and error over the strength of mixing, a panel a way."""
    figure, panels = figure_of(3, 2.4, columns=3)
    for axes, way in zip(panels, dict.fromkeys(sheet.column("way")), strict=True):
        found = [r for r in sheet.rows if r.way == way]
        strength = [r.strength for r in found]
        axes.loglog(strength, [r.regulariser for r in found], "o-", color=BLUE, label="regulariser")
        axes.loglog(strength, [abs(r.error) for r in found], "s-", color=RED, label="error of loss + regulariser")
        axes.set(title=f"{way}:\nslope of error {found[-1].order:.1f}", xlabel="strength")
        _plain_ticks(axes, strength)
    panels[0].set(ylabel="nats")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper left", ncols=2)
    return figure


def _sweep(x: str, label: str) -> Callable[[Sheet], Figure]:
    def draw(sheet: Sheet) -> Figure:
        figure, (top, bottom) = figure_of(2, 2.6, share_y=False)
        values, cutmix = (_values(sheet, masks=masks) for masks in ("mixup", "cutmix"))
        _draw_terms(top, values[x], values)
        _draw_gaps(bottom, values[x], values, cutmix)
        bottom.set_xlabel(label)
        return figure

    return draw


def _values(sheet: Sheet, **about: object) -> dict[str, np.ndarray]:
    """Columns of the rows that have these values."""
    rows = [r for r in sheet.rows if all(getattr(r, name) == value for name, value in about.items())]
    return {name: np.array([getattr(r, name) for r in rows]) for name in sheet.columns}


def _features(sheet: Sheet) -> Figure:
    """Bounds at the trained models and their gaps over the dimension of features, a panel a data set."""
    names = dict.fromkeys(sheet.column("data"))
    figure, panels = figure_of(len(names), 2.8, columns=2)
    for axes, name in zip(panels, names, strict=True):
        values = _values(sheet, data=name, ratio=9.0)
        for column, label, look in BOUNDS_AND_GAPS:
            shown = np.where(values[column] > 0, values[column], np.nan)
            axes.loglog(values["intrinsic"], shown, label=label, markersize=4, **look)
        axes.set(title=name, xlabel="dimension of the features")
        _plain_ticks(axes, values["intrinsic"])
    panels[0].set(ylabel="nats")
    figure.legend(*panels[0].get_legend_handles_labels(), fontsize=7.5, loc="outside upper left", ncols=2)
    return figure


def _plain_ticks(axes: Axes, x: Sequence[float] | np.ndarray) -> None:
    """Numbers as they are spoken; x at its own values."""
    from matplotlib.ticker import LogLocator

    axes.yaxis.set_major_locator(LogLocator(subs=(1.0,), numticks=12))
    low, high = axes.get_ylim()
    if high < 20 * low:
        axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.yaxis.set_major_formatter(lambda v, _: f"{v:g}")
    axes.set_xticks(x, [f"{v:g}" for v in x])
    axes.minorticks_off()


Lines = tuple[tuple[str, str, dict[str, Any]], ...]  # column, label, look
BOUNDS_AND_GAPS: Lines = (
    ("bound_printed", "bound for RMix, as printed", {"color": ORANGE, "linestyle": "dashed"}),
    ("bound_derived", "bound for RMix, from the definitions as printed", {"color": PINK, "linewidth": 3}),
    ("gap_erm", "measured gap, weighted ERM", {"color": INK, "marker": "^"}),
    ("gap_rmix", "measured gap, RMix", {"color": BLUE, "marker": "o"}),
)
TERMS: Lines = (
    ("printed", "bound as printed", {"color": ORANGE, "linestyle": "dashed"}),
    ("proof", "bound the proof supports", {"color": PINK, "linewidth": 4, "alpha": 0.45}),
    ("under_weights", "… with weights counted", {"color": GREEN, "linestyle": "dashed"}),
    ("erm", "√d, stated for weighted ERM", {"color": INK, "linestyle": "dotted"}),
    ("product", "measured: the set of the proof", {"color": BLUE, "marker": "o"}),
    ("weighted_rows", "measured: weighted rows", {"color": RED, "marker": "s"}),
    ("plain", "measured: θᵀΣθ ≤ 1, no mixing", {"color": INK, "marker": "^"}),
)


def _draw_terms(axes: Axes, x: np.ndarray, values: Mapping[str, np.ndarray]) -> None:
    for column, label, look in TERMS:
        axes.loglog(x, values[column], label=label, markersize=4, **look)
    axes.set(title="Complexity × √n, radius one")
    _plain_ticks(axes, x)
    axes.figure.legend(*axes.get_legend_handles_labels(), fontsize=7.5, loc="outside upper left", ncols=2)


def _draw_gaps(axes: Axes, x: np.ndarray, values: Mapping[str, np.ndarray], cutmix: Mapping[str, np.ndarray]) -> None:
    axes.loglog(x, values["gap_erm"], marker="^", color=INK, label="weighted ERM", markersize=4)
    axes.loglog(x, values["gap_rmix"], marker="o", color=BLUE, label="RMix, mixup", markersize=4)
    axes.loglog(x, cutmix["gap_rmix"], marker="s", color=GREEN, label="RMix, CutMix masks", markersize=4)
    axes.set(title="Measured generalization gap, nats")
    _plain_ticks(axes, x)
    axes.legend(fontsize=7.5, loc="upper left")


FIGURES = (
    TheoryFigure(
        "theory_order",
        "orders",
        "Error of the regulariser",
        "Three panels over the strength of mixing: the error of loss plus regulariser falls with the third power where "
        "inputs are mixed less, in step with the regulariser itself for smaller alpha, with the fourth for smaller θ.",
        _order,
    ),
    TheoryFigure(
        "theory_dimension",
        "dimension",
        "Complexity and gap over the intrinsic dimension",
        "Above: all bounds and measured complexities grow with the intrinsic dimension, the printed bound fastest. "
        "Below: the measured gaps of weighted ERM and RMix.",
        _sweep("intrinsic", "intrinsic dimension (of 64)"),
    ),
    TheoryFigure(
        "theory_weight",
        "weight",
        "Complexity and gap over the weight of the small group",
        "Above: the printed bound and that of the proof do not move with the weight, measured complexities do, "
        "and cross the proof's. Below: the measured gaps of weighted ERM and RMix grow.",
        _sweep("ratio", "weight of a row of the small group (large: 1)"),
    ),
    TheoryFigure(
        "theory_features",
        "features",
        "Bound and gap on features of trained networks",
        "A panel a data set: the bounds grow with the dimension of the features and lie far above the measured gaps; "
        "RMix has a smaller gap than weighted ERM.",
        _features,
    ),
)
