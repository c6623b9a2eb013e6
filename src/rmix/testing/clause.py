"""A clause of a contract: a check whose error names the clause and the object that breaks it."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Concatenate, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")
Check = Callable[Concatenate[T, P], str | None]


def clause(check: Check[T, P]) -> Check[T, P]:
    """Name the clause and the object in every error of ``check``, as an ``AssertionError``."""

    @functools.wraps(check)
    def checked(subject: T, /, *args: P.args, **kwargs: P.kwargs) -> str | None:
        try:
            return check(subject, *args, **kwargs)
        except Exception as error:
            what = str(error) if isinstance(error, AssertionError) else f"{type(error).__name__}: {error}"
            raise AssertionError(f"{check.__name__} is broken by {subject!r}: {what}") from error

    return checked


def table(*checks: Check[T, P]) -> dict[str, Check[T, P]]:
    """The clauses by name, without their prefix.

    Example:
        >>> def contract_01_is_even(number: int) -> str | None: ...
        >>> list(table(contract_01_is_even))
        ['01_is_even']
    """
    return {check.__name__.removeprefix("contract_"): check for check in checks}


def run_all(
    subject: T, clauses: Mapping[str, Callable[[T], str | None]], exceptions: Mapping[str, str]
) -> dict[str, str]:
    """Check every clause but the exceptions; returns what was found, or why not looked for, by clause."""
    unknown = sorted(set(exceptions) - set(clauses))
    assert not unknown, f"Exceptions name no clause: {unknown}; clauses: {sorted(clauses)}"
    found = {}
    for name, check in clauses.items():
        if name in exceptions:
            found[name] = f"exception: {exceptions[name]}"
        else:
            found[name] = check(subject) or "holds"
    return found
