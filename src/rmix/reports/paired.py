"""Is one method better than another? Differences on the same seeds, with an interval."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import isnan, nan, sqrt
from statistics import fmean, stdev
from typing import Any

from rmix.experiment.result import Result
from rmix.reports.estimate import UNKNOWN, per_cent
from rmix.reports.series import Series, series_of


@dataclass(frozen=True)
class Difference:
    """Worst-group accuracy of one method minus that of another, run by run of the same seed."""

    dataset: str
    method: str
    baseline: str
    values: tuple[float, ...]  # one a seed that both have

    @property
    def mean(self) -> float:
        """Mean difference."""
        return fmean(self.values) if self.values else nan

    @property
    def interval(self) -> tuple[float, float]:
        """95 % interval of the mean by Student's t; nan with fewer than two seeds."""
        if len(self.values) < 2:
            return nan, nan
        from scipy.stats import t

        half = float(t.ppf(0.975, len(self.values) - 1)) * stdev(self.values) / sqrt(len(self.values))
        return self.mean - half, self.mean + half

    @property
    def verdict(self) -> str:
        """Better or worse where the interval excludes zero, else a tie; nothing where there is no interval."""
        low, high = self.interval
        if isnan(low):
            return UNKNOWN
        return "better" if low > 0 else "worse" if high < 0 else "tie"


class Paired:
    """Each pair of methods on each data set where both were run.

    Args:
        results: runs of several methods with the same seeds.
        pairs: (method, baseline) names.
    """

    def __init__(self, results: Iterable[Result], pairs: Sequence[tuple[str, str]]) -> None:
        found = {(series.dataset, series.method): series for series in series_of(results)}
        self.differences = [
            difference(found[dataset, a], found[dataset, b])
            for dataset in dict.fromkeys(dataset for dataset, _ in found)
            for a, b in pairs
            if (dataset, a) in found and (dataset, b) in found
        ]

    def frame(self) -> dict[str, list[Any]]:
        """Columns of numbers as shares."""
        rows = self.differences
        return {
            "dataset": [d.dataset for d in rows],
            "method": [d.method for d in rows],
            "baseline": [d.baseline for d in rows],
            "difference": [d.mean for d in rows],
            "low": [d.interval[0] for d in rows],
            "high": [d.interval[1] for d in rows],
            "seeds": [len(d.values) for d in rows],
        }

    def markdown(self) -> str:
        """A table in points of per cent."""
        lines = ["| Data set | Worst group of | minus that of | points | 95 % interval | | Seeds |"]
        lines.append("|---|---|---|---:|---:|---|---:|")
        for d in self.differences:
            low, high = (_signed(v) for v in d.interval)
            cells = (d.dataset, d.method, d.baseline, _signed(d.mean), f"{low} to {high}", d.verdict, len(d.values))
            lines.append("| " + " | ".join(map(str, cells)) + " |")
        return "\n".join(lines) + "\n"


def difference(one: Series, other: Series) -> Difference:
    """The difference over the seeds that both have finished."""
    worst = [{r.seed: r.test.worst for r in series.finished if r.test} for series in (one, other)]
    seeds = sorted(worst[0].keys() & worst[1].keys())
    return Difference(one.dataset, one.method, other.method, tuple(worst[0][s] - worst[1][s] for s in seeds))


def _signed(share: float) -> str:
    return UNKNOWN if isnan(share) else ("+" if share > 0 else "") + per_cent(share)
