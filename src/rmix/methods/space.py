"""Ranges of hyper-parameters, for searches."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Uniform:
    """Any number from ``low`` to ``high``; ``log`` spreads them evenly over orders of magnitude."""

    low: float
    high: float
    log: bool = False


@dataclass(frozen=True)
class Choice:
    """One of ``options``."""

    options: tuple[Any, ...]


def log_uniform(low: float, high: float) -> Uniform:
    """A range spread evenly over orders of magnitude."""
    return Uniform(low, high, log=True)


Space = Mapping[str, Uniform | Choice]
