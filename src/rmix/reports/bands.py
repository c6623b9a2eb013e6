"""Lines over epochs: the mean over seeds, and a band of one standard deviation around it."""

from __future__ import annotations

from collections.abc import Mapping
from math import nan
from typing import TYPE_CHECKING, Any

import numpy as np

from rmix.reports.style import Look

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Bands = Mapping[str, np.ndarray]  # what a line stands for -> shares (seeds, epochs)


def deviation(values: np.ndarray) -> np.ndarray:
    """Sample standard deviation over seeds (epochs,), nan for one seed."""
    spread: np.ndarray = values.std(0, ddof=1) if len(values) > 1 else np.full(values.shape[1], nan)
    return spread


def columns_of(key: str, bands: Bands) -> dict[str, list[Any]]:
    """The numbers as columns: ``key``, epoch (from 1), mean, std and seeds."""
    columns: dict[str, list[Any]] = {key: [], "epoch": [], "mean": [], "std": [], "seeds": []}
    for name, values in bands.items():
        epochs = values.shape[1]
        columns[key] += [name] * epochs
        columns["epoch"] += range(1, epochs + 1)
        columns["mean"] += values.mean(0).tolist()
        columns["std"] += deviation(values).tolist()
        columns["seeds"] += [len(values)] * epochs
    return columns


def draw_band(axes: Axes, name: str, values: np.ndarray, look: Look) -> None:
    """One line and its band, in per cent."""
    spread = 100 * deviation(values)
    mean = draw_line(axes, values, color=look[0], linestyle=look[1], label=name)
    axes.fill_between(np.arange(1, len(mean) + 1), mean - spread, mean + spread, color=look[0], alpha=0.18, linewidth=0)
    axes.set(ylim=(0, 101))


def draw_line(axes: Axes, values: np.ndarray, **look: Any) -> np.ndarray:
    """The mean over seeds in per cent, drawn and returned; a single epoch is a point."""
    from matplotlib.ticker import MaxNLocator

    mean: np.ndarray = 100 * values.mean(0)
    axes.plot(np.arange(1, len(mean) + 1), mean, marker="o" if len(mean) == 1 else None, **look)
    axes.xaxis.set_major_locator(MaxNLocator(nbins="auto", integer=True, steps=[1, 2, 5, 10], min_n_ticks=1))
    return mean
