"""Timing two or more things side by side, so that what else the machine does slows all of them alike."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import median
from time import thread_time

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3  # of glibc's malloc.h


def keep_memory() -> None:
    """Let glibc keep what is freed.

    Otherwise it gives memory back and faults it in again, some steps and not others, which moves the
    ratio of two equal things between 0.8 and 1.5 from one run to the next.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(M_TRIM_THRESHOLD, 2**31 - 1)
        mallopt(M_MMAP_THRESHOLD, 2**25)


@dataclass(frozen=True)
class Line:
    """One line of the table."""

    what: str
    measured: str
    target: str = ""
    met: bool | None = None  # None: there is no target


def interleaved(
    things: Mapping[str, Callable[[], object]], repetitions: int, clock: Callable[[], float] = thread_time
) -> dict[str, list[float]]:
    """Seconds of each thing in each repetition; every repetition runs all of them, in turning order.

    The default clock counts the processor time of this thread: what other programs take is not in it.
    """
    seconds: dict[str, list[float]] = {name: [] for name in things}
    names = list(things)
    for name in names:
        things[name]()  # the first call of anything is slow, and not measured
    for repetition in range(repetitions):
        turn = repetition % len(names)
        for name in names[turn:] + names[:turn]:
            start = clock()
            things[name]()
            seconds[name].append(clock() - start)
    return seconds


def ratio_line(what: str, above: list[float], below: list[float], limit: float | None = None, note: str = "") -> Line:
    """The ratio of the medians, and the range it has in the fifths of the repetitions."""
    ratio = median(above) / median(below)
    fifths = [median(above[i::5]) / median(below[i::5]) for i in range(5)]
    target = note if limit is None else f"<= {limit:.2f}{note}"
    met = None if limit is None else ratio <= limit
    return Line(what, f"{ratio:.3f}  ({min(fifths):.3f} to {max(fifths):.3f})", target, met)
