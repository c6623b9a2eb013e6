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


def draw_bands(axes: Axes, bands: Bands, looks: Mapping[str, Look]) -> None:
    """A line and a band for each, in per cent."""
    for name, values in bands.items():
        colour, dashes = looks[name]
        epochs = np.arange(1, values.shape[1] + 1)
        mean, spread = 100 * values.mean(0), 100 * deviation(values)
        axes.plot(epochs, mean, color=colour, linestyle=dashes, label=name, marker="o" if len(epochs) == 1 else None)
        axes.fill_between(epochs, mean - spread, mean + spread, color=colour, alpha=0.12, linewidth=0)
    axes.set(ylim=(0, 101), xlim=(1, None))
