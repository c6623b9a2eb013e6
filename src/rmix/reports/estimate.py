"""A number over seeds, and how it is written."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import isnan, nan, sqrt
from statistics import fmean, stdev

UNKNOWN = "–"
Interval = tuple[float, float]
Z = 1.959963984540054  # 97.5 % point of the normal distribution


@dataclass(frozen=True)
class Estimate:
    """Mean and sample standard deviation over ``n`` seeds; nan where there are none, or only one to deviate.

    Example:
        >>> Estimate.of([0.5, 0.7]).text, Estimate.of([0.5]).text, Estimate.of([]).text
        ('60.0 ± 14.1', '50.0', '–')
    """

    mean: float
    std: float
    n: int

    @classmethod
    def of(cls, values: Iterable[float]) -> Estimate:
        """The estimate from one value a seed; one unknown value makes the mean unknown."""
        known = list(values)
        if not known or any(map(isnan, known)):
            return cls(nan, nan, len(known))
        return cls(fmean(known), stdev(known) if len(known) > 1 else nan, len(known))

    @property
    def interval(self) -> Interval:
        """95 % interval of the mean by Student's t, nan with fewer than two seeds; it may leave 0 to 1."""
        if isnan(self.std):
            return nan, nan
        from scipy.special import stdtrit

        half = float(stdtrit(self.n - 1, 0.975)) * self.std / sqrt(self.n)
        return self.mean - half, self.mean + half

    @property
    def text(self) -> str:
        """In per cent; one seed says nothing about the spread, so none is shown."""
        if isnan(self.mean):
            return UNKNOWN
        return per_cent(self.mean) + ("" if isnan(self.std) else f" ± {per_cent(self.std)}")

    @property
    def interval_text(self) -> str:
        """The interval in per cent."""
        return interval_text(self.interval)


def wilson(share: float, rows: float) -> Interval:
    """95 % interval of an accuracy that was counted on ``rows`` rows (Wilson 1927); nan without rows.

    Unlike mean ± 2 standard errors it stays inside 0 to 1, and says something where all rows are right.

    Example:
        >>> [round(end, 4) for end in wilson(1.0, 56)]
        [0.9358, 1.0]
    """
    if not rows:
        return nan, nan
    shrink = 1 + Z * Z / rows
    middle = (share + Z * Z / (2 * rows)) / shrink
    half = Z * sqrt(share * (1 - share) / rows + Z * Z / (4 * rows * rows)) / shrink
    return max(0.0, middle - half), min(1.0, middle + half)


def per_cent(share: float) -> str:
    """A share as per cent with one decimal.

    Example:
        >>> per_cent(0.1234)
        '12.3'
    """
    return UNKNOWN if isnan(share) else f"{100 * share + 0.0:.1f}"


def points(share: float) -> str:
    """A difference of shares as points of per cent, with its sign.

    Example:
        >>> points(0.021), points(-0.1)
        ('+2.1', '-10.0')
    """
    return ("+" if share > 0 else "") + per_cent(share)


def interval_text(interval: Interval) -> str:
    """Both ends in per cent.

    Example:
        >>> interval_text((0.5, 0.75))
        '50.0 to 75.0'
    """
    return UNKNOWN if isnan(interval[0]) else f"{per_cent(interval[0])} to {per_cent(interval[1])}"
