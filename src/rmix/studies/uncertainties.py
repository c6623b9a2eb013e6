"""The paper's figures about uncertainty: by group, and from one trajectory against many models."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from rmix.experiment.result import Result
from rmix.reports.style import drawing, figure_of, group_looks
from rmix.reports.uncertainty import GRID, UncertaintyDensity, density

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SOURCES = {False: "one trajectory", True: "ensemble"}


class TwoSources:
    """Uncertainty of each group from the trajectory of one ERM run, and from an ensemble of trained models.

    Args:
        results: runs of rmix with and without ``ensemble``, on one data set.
    """

    name = "ensemble"
    title = "Uncertainty from one trajectory and from an ensemble"
    caption = (
        "How often each training row is misclassified: along one ERM run (left, what RMix uses), and at the end of "
        "several runs (right, several times the cost). All seeds together."
    )

    def __init__(self, results: Iterable[Result]) -> None:
        found = list(results)
        self.of = {
            name: UncertaintyDensity([r for r in found if bool(r.config["method"].get("ensemble")) is many])
            for many, name in SOURCES.items()
        }

    @cached_property
    def means(self) -> dict[str, dict[str, float]]:
        """Source -> group -> mean uncertainty."""
        return {
            source: {group: _mean(rows) for group, rows in of.counts.items() if rows} for source, of in self.of.items()
        }

    @property
    def text(self) -> str:
        """The figure in words."""
        return " ".join(
            f"From {source}: {'; '.join(f'{group} {mean:.2f}' for group, mean in of.items())}."
            for source, of in self.means.items()
        )

    def frame(self) -> dict[str, list[Any]]:
        """Columns: source, group, uncertainty, rows (over all seeds) and share of the group."""
        frames = {source: of.frame() for source, of in self.of.items()}
        columns = {"source": [source for source, frame in frames.items() for _ in frame["group"]]}
        names = ("group", "uncertainty", "rows", "share")
        return columns | {name: [value for frame in frames.values() for value in frame[name]] for name in names}

    def figure(self) -> Figure:
        """A column a source, a panel a group."""
        groups = list(next(iter(self.of.values())).counts)
        with drawing():
            figure, panels = figure_of(2 * len(groups), 0.8, columns=2, share_y=False)
            looks = group_looks(groups)
            for place, group in enumerate(groups):
                for side, (source, of) in enumerate(self.of.items()):
                    axes, rows = panels[2 * place + side], of.counts.get(group, {})
                    height = density(rows) if rows else np.zeros_like(GRID)
                    axes.fill_between(GRID, height, color=looks[group][0], alpha=0.3, linewidth=0)
                    axes.plot(GRID, height, color=looks[group][0])
                    axes.set(xlim=(0, 1), ylim=(0, None), yticks=[])
                    axes.set_title(f"{group}: {source}")
            figure.supxlabel("Uncertainty")
            return figure


def _mean(rows: dict[float, int]) -> float:
    return sum(value * count for value, count in rows.items()) / sum(rows.values())
