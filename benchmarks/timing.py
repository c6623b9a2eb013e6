"""Timing two or more things side by side, so that what else the machine does slows all of them alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import median, quantiles
from time import perf_counter


@dataclass(frozen=True)
class Line:
    """One line of the table."""

    what: str
    measured: str
    target: str = ""
    met: bool | None = None  # None: there is no target


def interleaved(things: Mapping[str, Callable[[], object]], repetitions: int) -> dict[str, list[float]]:
    """Seconds of each thing in each repetition; every repetition runs all of them, in turning order."""
    seconds: dict[str, list[float]] = {name: [] for name in things}
    names = list(things)
    for name in names:
        things[name]()  # the first call of anything is slow, and not measured
    for repetition in range(repetitions):
        turn = repetition % len(names)
        for name in names[turn:] + names[:turn]:
            start = perf_counter()
            things[name]()
            seconds[name].append(perf_counter() - start)
    return seconds


def ratio_line(what: str, above: list[float], below: list[float], limit: float | None = None, note: str = "") -> Line:
    """The ratio of the medians, with the quartiles of the ratios of single repetitions."""
    ratio = median(above) / median(below)
    low, _, high = quantiles([a / b for a, b in zip(above, below, strict=True)], n=4)
    target = note if limit is None else f"<= {limit:.2f}{note}"
    return Line(what, f"{ratio:.2f}  ({low:.2f} to {high:.2f})", target, None if limit is None else ratio <= limit)
