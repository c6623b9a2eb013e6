"""Packages that are needed by some models only."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from rmix.errors import InvalidValueError


def needed(what: str, package: str, extra: str = "pretrained") -> ModuleType:
    """The package, or a sentence with the extra that installs it; where rmix has none, the package itself."""
    try:
        return import_module(package)
    except ImportError:
        install = f"'rmix[{extra}]'" if extra else package
        raise InvalidValueError(f"{what} needs {package}; pip install {install}") from None
