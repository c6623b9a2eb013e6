"""Frozen dataclasses with a name, as plain values (JSON, TOML) and back, strictly."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from rmix.errors import InvalidValueError, lookup, suggestion

Table = Mapping[str, type[Any]]


def to_plain(value: Any) -> Any:
    """A dataclass as ``{"name": ..., field: ...}``; lists, numbers, strings and None as they are.

    Example:
        >>> from rmix.models import MLP
        >>> to_plain(MLP(width=8))
        {'name': 'mlp', 'width': 8, 'depth': 2, 'dropout': 0.0}
    """
    if is_dataclass(value) and not isinstance(value, type):
        named = {"name": value.name} if hasattr(value, "name") else {}
        written = [f.name for f in fields(value) if f.metadata.get("plain", True)]
        return named | {name: to_plain(getattr(value, name)) for name in written}
    if isinstance(value, tuple | list):
        return [to_plain(item) for item in value]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise InvalidValueError(f"{type(value).__name__} {value!r} cannot be written down as plain values.")


def named_from_plain(kind: str, plain: str | Mapping[str, Any], table: Table, parts: Table | None = None) -> Any:
    """The object that ``plain`` describes: a name, or a mapping with ``name`` and settings.

    ``name:value`` is one of the settings too, where the class says which in ``after_colon``.

    Example:
        >>> from rmix.models import MODELS
        >>> named_from_plain("model", {"name": "mlp", "width": 8}, MODELS)
        MLP(width=8, depth=2, dropout=0.0)
    """
    if isinstance(plain, str):
        plain = {"name": plain}
    if not isinstance(plain, Mapping) or "name" not in plain:
        raise InvalidValueError(f"A {kind} needs a name, got {plain!r}.")
    name, _, value = str(plain["name"]).partition(":")
    setting = getattr(table.get(name), "after_colon", None) if value else None
    cls = lookup(kind, name if setting else plain["name"], table)
    given = {k: v for k, v in plain.items() if k != "name"} | ({setting: value} if setting else {})
    return from_plain(cls, given, parts or {}, name)


def from_plain(cls: type[Any], plain: Mapping[str, Any], parts: Table | None = None, where: str = "") -> Any:
    """An instance of the dataclass ``cls``; an unknown key or a value of the wrong type is an error."""
    where = where or cls.__name__
    hints = get_type_hints(cls)
    known = {f.name: hints[f.name] for f in fields(cls)}
    values = {}
    for key, value in plain.items():
        if key not in known:
            raise InvalidValueError(
                f"No setting named {key!r} in {where}.{suggestion(key, known)} Known: {', '.join(known) or 'none'}."
            )
        values[key] = _value(value, known[key], f"{where}.{key}", parts or {})
    return cls(**values)


def _value(value: Any, hint: Any, where: str, parts: Table) -> Any:
    if isinstance(value, Mapping) and "name" in value:
        value = named_from_plain("part", value, _fitting(hint, parts), parts)
    elif isinstance(value, Mapping) and is_dataclass(hint):
        return from_plain(hint, value, parts, where)  # type: ignore[arg-type]
    if isinstance(value, list):
        item = next((get_args(option)[0] for option in _options(hint) if get_origin(option) is tuple), Any)
        value = tuple(_value(each, item, f"{where}[{i}]", parts) for i, each in enumerate(value))
    if isinstance(value, int) and not isinstance(value, bool) and float in _options(hint) and int not in _options(hint):
        value = float(value)
    if not _fits(value, hint):
        raise InvalidValueError(f"{where} must be {_readable(hint)}, got {value!r}.")
    return value


def _fitting(hint: Any, parts: Table) -> Table:
    """The parts by name; where two of a kind each have one name, the one that ``hint`` asks for."""
    kinds = tuple(option for option in _options(hint) if isinstance(option, type))
    fitting = {name.split()[-1]: cls for name, cls in parts.items() if issubclass(cls, kinds)}
    return {**parts, **fitting}


def _options(hint: Any) -> tuple[Any, ...]:
    return get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)


def _fits(value: Any, hint: Any) -> bool:
    for option in _options(hint):
        if get_origin(option) is Literal:
            if value in get_args(option):
                return True
        elif isinstance(option, type) or get_origin(option) is tuple:
            plain_type = get_origin(option) or option
            if isinstance(value, plain_type) and not (isinstance(value, bool) and plain_type is not bool):
                return True
        elif option is Any:
            return True
    return False


def _readable(hint: Any) -> str:
    names = []
    for option in _options(hint):
        if get_origin(option) is Literal:
            names += [repr(choice) for choice in get_args(option)]
        else:
            names.append("none" if option is NoneType else getattr(option, "__name__", str(option)))
    return " or ".join(names)
