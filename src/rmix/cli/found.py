"""Runs as a user names them: by id, by the beginning of an id, by folder, by store."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from rmix.errors import StoreError, suggestion
from rmix.experiment.result import Result


def find_runs(words: Iterable[str], store: Path) -> dict[Path, Result]:
    """Folder and result of each run that is meant, in the order in which they are named.

    Args:
        words: ids, beginnings of ids, folders of runs, files ``result.json``, or folders of stores.
        store: where ids are looked for.
    """
    folders = [folder for word in words for folder in _folders(word, store)]
    return {folder: result_in(folder) for folder in dict.fromkeys(folders)}


def result_in(folder: Path) -> Result:
    """The result in a run's folder, or one sentence about why there is none."""
    path = folder / "result.json"
    if not path.is_file():
        raise StoreError(f"The run {folder} has not ended (it has no result.json); train it again and it goes on.")
    try:
        return Result.from_json(path.read_text())
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise StoreError(f"{path} is not a result of this version of rmix ({error}).") from error


def _folders(word: str, store: Path) -> list[Path]:
    path = Path(word)
    if path.name == "result.json" and path.is_file():
        path = path.parent
    if (path / "config.json").is_file():
        return [path]
    if (path / "runs").is_dir():
        return sorted(found.parent for found in path.glob("runs/*/result.json"))
    if (path.is_dir() and path.name == "runs") or "/" in word:
        raise StoreError(f"{word} is neither a run (it has no config.json) nor a store (it has no folder runs).")
    known = sorted(found.parent.name for found in store.glob("runs/*/config.json"))
    found = [store / "runs" / name for name in known if name.startswith(word)]
    if not found:
        raise StoreError(
            f"No run in {store} has an id that begins with {word!r}.{suggestion(word, known)} It has {len(known)} runs."
        )
    return [folder for folder in found if (folder / "result.json").is_file()] or found  # some may be under way
