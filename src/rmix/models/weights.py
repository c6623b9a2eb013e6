"""Files of trained weights: what is in them, and that they are the same as before."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from rmix.errors import DataError, InvalidValueError

CHUNK = 1 << 20


def checksum_of(path: str | Path, names: Sequence[str] | None = None) -> str:
    """A hash of a file, or of the names and contents of the files of a folder, or of some of them."""
    path = Path(path)
    if names is None:
        names = [p.relative_to(path).as_posix() for p in path.rglob("*") if p.is_file()] if path.is_dir() else [""]
    try:
        found = [(name, (path / name).stat()) for name in sorted(names)]
    except FileNotFoundError:
        raise DataError(f"There is no file or folder of weights {path}.") from None
    return _hashed(path, tuple((name, stat.st_size, stat.st_mtime_ns) for name, stat in found))


@lru_cache(maxsize=64)
def _hashed(path: Path, seen: tuple[tuple[str, int, int], ...]) -> str:
    digest = hashlib.sha256()
    for name, size, _ in seen:
        digest.update(repr((name, size)).encode())
        with (path / name).open("rb") as file:
            while chunk := file.read(CHUNK):
                digest.update(chunk)
    return digest.hexdigest()[:16]


def same_weights(path: str | Path, expected: str, what: str, names: Sequence[str] | None = None) -> str:
    """The checksum of the weights at ``path``; another one than ``expected``, where that is known, is an error."""
    found = checksum_of(path, names)
    if expected not in ("", found):
        raise InvalidValueError(
            f"The weights of {what} in {path} have checksum {found}, but the run was made with {expected}."
        )
    return found


def read_weights(path: str | Path) -> dict[str, Tensor]:
    """The state dict in a file of torch or safetensors, read without executing anything."""
    path = Path(path)
    try:
        state: Any = _read(path)
    except FileNotFoundError:
        raise DataError(f"There is no file of weights {path}.") from None
    except Exception as error:  # a foreign file fails in many ways, all of which mean the same here
        reason = (str(error) or type(error).__name__).splitlines()[0]
        raise DataError(f"{path} cannot be read as weights ({reason[:80]}).") from error
    state = state.get("state_dict", state) if isinstance(state, dict) else state
    if not isinstance(state, dict) or not all(isinstance(value, Tensor) for value in state.values()):
        raise DataError(f"{path} holds no state dict (names and tensors).")
    return state


def _read(path: Path) -> Any:
    if path.suffix != ".safetensors":
        return torch.load(path, map_location="cpu", weights_only=True)
    from safetensors.torch import load_file

    return load_file(path)
