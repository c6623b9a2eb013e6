"""The settings of a data set as options: `--label` rather than `--dataset.label`, where nothing else has the name."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import field, fields, make_dataclass
from typing import Annotated, Any, get_origin, get_type_hints

import tyro

from rmix.datasets import DataSet


def short(dataset: Any, taken: Collection[str] = ()) -> DataSet:
    """The data set, of a subclass whose fields tell tyro their names; :func:`as_it_is` undoes it.

    Args:
        dataset: its values are the defaults.
        taken: names of options that something else has; the settings of that name keep their long form.
    """
    hints = get_type_hints(type(dataset))
    typed = []
    for one in fields(dataset):
        named = tyro.conf.arg(aliases=[f"--{dashed(one.name)}"])
        kind = hints[one.name] if one.name in taken else Annotated[hints[one.name], named]
        typed.append((one.name, kind, field(default=getattr(dataset, one.name), metadata=one.metadata)))
    cls = make_dataclass(type(dataset).__name__, typed, bases=(type(dataset),), frozen=True)
    cls.__doc__ = type(dataset).__doc__
    made: DataSet = cls()
    return made


def as_it_is(dataset: Any) -> DataSet:
    """The data set itself, of what :func:`short` made."""
    own = type(dataset).__mro__[1]
    made: DataSet = own(**{one.name: getattr(dataset, one.name) for one in fields(dataset)})
    return made


def gathered(dataset: DataSet, words: Sequence[str]) -> list[str]:
    """``--group sex --group race`` as ``--group sex race``, for settings that take several values.

    Example:
        >>> from rmix.datasets import Table
        >>> gathered(Table(), ["--group", "sex", "--lr", "1", "--group", "race"])
        ['--lr', '1', '--group', 'sex', 'race']
    """
    hints = get_type_hints(type(dataset))
    several = {name for name in hints if get_origin(hints[name]) is tuple}
    spelt = {f"--{start}{dashed(name)}": name for name in several for start in ("", "dataset.")}
    values: dict[str, list[str]] = {}
    rest: list[str] = []
    into = rest
    for word in words:
        option, equals, value = word.partition("=")
        if word.startswith("--"):
            into = values.setdefault(option, []) if option in spelt else rest
            word = value if option in spelt else word
            if option in spelt and not equals:
                continue
        into.append(word)
    return rest + [part for option, given in values.items() for part in (option, *given)]


def dashed(name: str) -> str:
    """A name as it is typed."""
    return name.replace("_", "-")
