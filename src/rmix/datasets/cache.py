"""Where what was computed from data is kept."""

from __future__ import annotations

import os
from pathlib import Path


def cache_folder(name: str) -> Path | None:
    """The folder that ``cache`` names.

    Example:
        >>> cache_folder("none") is None, cache_folder("pictures")
        (True, PosixPath('pictures'))
    """
    if name == "default":
        return default_cache()
    return None if name == "none" else Path(name).expanduser()


def default_cache() -> Path:
    """``$RMIX_CACHE``, else ``rmix`` in the user's cache folder."""
    given = os.environ.get("RMIX_CACHE")
    return Path(given) if given else Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "rmix"
