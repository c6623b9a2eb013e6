"""A number over seeds, and how it is written."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import isnan, nan
from statistics import fmean, stdev

UNKNOWN = "–"


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
    def text(self) -> str:
        """In per cent; one seed says nothing about the spread, so none is shown."""
        if isnan(self.mean):
            return UNKNOWN
        return per_cent(self.mean) + ("" if isnan(self.std) else f" ± {per_cent(self.std)}")


def per_cent(share: float) -> str:
    """A share as per cent with one decimal.

    Example:
        >>> per_cent(0.1234)
        '12.3'
    """
    return UNKNOWN if isnan(share) else f"{100 * share + 0.0:.1f}"
