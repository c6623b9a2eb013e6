"""Which groups plain training learns, and when."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from rmix.experiment.result import Result
from rmix.reports.bands import Bands, columns_of, draw_band
from rmix.reports.estimate import per_cent
from rmix.reports.series import Series, series_of
from rmix.reports.style import drawing, figure_of, group_looks

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STAGE = "notes"  # of ERM, that notes what it gets wrong


class TrainAccuracy:
    """Training accuracy of each group during the ERM stage that RMix learns its weights from.

    Args:
        results: runs of one data set; the first method that has such a stage is shown.
    """

    name = "accuracy"
    title = "Training accuracy by group"
    caption = (
        "How much of each group plain training (ERM) gets right in each epoch. Small groups that go against the "
        "rest are learned late or never, and this is what RMix without group labels reads its weights from."
    )

    def __init__(self, results: Iterable[Result]) -> None:
        noted = [series for series in series_of(results) if any(map(_noted, series.finished))]
        self.series: Series | None = noted[0] if noted else None

    @cached_property
    def bands(self) -> Bands:
        """Values (seeds, epochs) of each group that has rows."""
        if self.series is None:
            return {}
        found = {}
        for group, name in enumerate(self.series.first.group_names):
            runs = [result.described[STAGE] for result in self.series.finished if _noted(result)]
            if all(run["train_total"][group] for run in runs):
                right = [[epoch[group] / run["train_total"][group] for epoch in run["train_correct"]] for run in runs]
                found[name] = np.array(right)
        return found

    @property
    def text(self) -> str:
        """The figure in words."""
        ends = (f"{group} ends at {per_cent(float(v[:, -1].mean()))} %" for group, v in self.bands.items())
        return f"Lines of training accuracy by epoch, one a group: {'; '.join(ends)}."

    def frame(self) -> dict[str, list[Any]]:
        """Columns: group, epoch (from 1), mean, std (nan for one seed) and seeds."""
        return columns_of("group", self.bands)

    def figure(self) -> Figure:
        """One line a group."""
        with drawing():
            figure, (axes,) = figure_of(min(1, len(self.bands)), 3.4)
            looks = group_looks(self.series.first.group_names if self.series else ())
            for group, values in self.bands.items():
                draw_band(axes, group, values, looks[group])
            axes.set(xlabel="Epoch of the ERM stage", ylabel="Training accuracy (%)")
            figure.legend(loc="outside upper left", ncols=2, alignment="left")
            return figure


def _noted(result: Result) -> bool:
    return "train_correct" in result.described.get(STAGE, {})
