"""What every part keeps: its settings are data."""

from __future__ import annotations

import json
from dataclasses import fields, is_dataclass
from typing import Any

from rmix.experiment.config import PARTS
from rmix.experiment.plain import named_from_plain, to_plain


def goes_round(value: Any) -> None:
    """JSON gives the object back, and so does its repr."""
    assert is_dataclass(value), f"{type(value).__name__} must be a frozen dataclass, so that its settings are data"
    plain = json.loads(json.dumps(to_plain(value)))
    again = named_from_plain("object", plain, {plain["name"]: type(value)}, PARTS)
    assert again == value, f"JSON gives back {again!r}"
    again = eval(repr(value), _classes(value))
    assert again == value, f"the repr gives {again!r}"


def _classes(value: Any) -> dict[str, type]:
    """The classes that the repr of a dataclass names."""
    if not is_dataclass(value):
        return {}
    found = {type(value).__name__: type(value)}
    for f in fields(value):
        found |= _classes(getattr(value, f.name))
    return found
