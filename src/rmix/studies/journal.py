"""Optuna's journal, whose lock dies with its holder."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

from filelock import FileLock

from rmix.errors import InvalidValueError


def optuna() -> ModuleType:
    """The package, or how to get it."""
    try:
        import optuna
    except ImportError:
        raise InvalidValueError("A search needs optuna; pip install 'rmix[tune]'.") from None
    return optuna


def open_study(path: Path, name: str) -> Any:
    """The study of this name in the journal, made if it is not there; `optuna-dashboard PATH` shows them all."""
    tuner = optuna()
    tuner.logging.set_verbosity(tuner.logging.WARNING)
    storage = tuner.storages.JournalStorage(tuner.storages.journal.JournalFileBackend(str(path), _Lock(path)))
    return tuner.create_study(storage=storage, study_name=name, direction="maximize", load_if_exists=True)


class _Lock:
    """What Optuna asks of a lock; its own ones outlive a killed holder by half a minute."""

    def __init__(self, path: Path) -> None:
        self._lock = FileLock(path.with_suffix(".lock"))  # not the name that optuna-dashboard locks

    def acquire(self) -> bool:
        """Wait for the lock."""
        self._lock.acquire()
        return True

    def release(self) -> None:
        """Let others write."""
        self._lock.release()
