"""Errors that say what is wrong, the value, what is allowed and what to do."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import TypeVar

T = TypeVar("T")


class RMixError(Exception):
    """Every error that rmix raises on purpose."""


class UnknownNameError(RMixError, KeyError):
    """A name that no table holds."""

    def __str__(self) -> str:  # KeyError would show the repr of the message
        return str(self.args[0])


class InvalidValueError(RMixError, ValueError):
    """A setting outside what is allowed."""


class DataError(RMixError, ValueError):
    """Data that cannot be trained or evaluated on."""


class HiddenGroupsError(RMixError):
    """A part asked for group labels that its method does not declare, or that do not exist."""


class StoreError(RMixError, OSError):
    """A store folder that cannot be used."""


class BusyError(RMixError):
    """Something that another process is at work on."""


class CheckpointError(RMixError):
    """A checkpoint that cannot be read, or that belongs to something else."""


class DivergedError(RMixError, ArithmeticError):
    """The training loss became nan or infinite."""


def require(ok: bool, message: str) -> None:
    """Raise :class:`InvalidValueError` with ``message`` unless ``ok``."""
    if not ok:
        raise InvalidValueError(message)


def suggestion(name: str, known: Iterable[str]) -> str:
    """A sentence with the nearest known name, or an empty string.

    Example:
        >>> suggestion("groupdro", ["erm", "group_dro"])
        " Did you mean 'group_dro'?"
    """
    near = difflib.get_close_matches(name, list(known), n=1, cutoff=0.5)
    return f" Did you mean {near[0]!r}?" if near else ""


def lookup(kind: str, name: str, table: Mapping[str, T]) -> T:
    """The entry of ``table`` called ``name``, or an error with the nearest name.

    Example:
        >>> lookup("method", "ermm", {"erm": 1})
        Traceback (most recent call last):
        rmix.errors.UnknownNameError: No method named 'ermm'. Did you mean 'erm'? Known: erm.
    """
    if name in table:
        return table[name]
    known = ", ".join(sorted(table))
    raise UnknownNameError(f"No {kind} named {name!r}.{suggestion(name, table)} Known: {known}.")
