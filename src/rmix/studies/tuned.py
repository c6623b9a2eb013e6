"""The best settings that searches found, kept in the store for comparisons."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rmix._version import __version__
from rmix.errors import StoreError
from rmix.experiment.config import Config, config_from
from rmix.experiment.result import Result
from rmix.experiment.store import Store
from rmix.training.checkpoint import write_whole


@dataclass(frozen=True)
class Tuned:
    """A configuration that a search found, and how."""

    config: Config
    how: Mapping[str, Any]


def identity(base: Config, checksum: str, *more: Any) -> str:
    """A readable name, and a hash of all but the seed."""
    plain = {key: value for key, value in base.to_plain().items() if key != "seed"}
    text = json.dumps([plain, checksum, __version__, *more], sort_keys=True)
    return f"{base.dataset.name}-{base.method.name}-{hashlib.sha256(text.encode()).hexdigest()[:12]}"


def path_of(base: Config, checksum: str, store: Store) -> Path:
    """Where the best settings for ``base`` are."""
    return store.root / "tuned" / f"{identity(base, checksum)}.json"


def keep(tuned: Tuned, base: Config, checksum: str, store: Store) -> None:
    """Write down what was found for ``base``."""
    path = path_of(base, checksum, store)
    path.parent.mkdir(exist_ok=True)
    plain = tuned.config.to_plain()
    kept = {"method": plain["method"], "training": plain["training"], "how": tuned.how}
    write_whole(path, (json.dumps(kept, indent=1, sort_keys=True) + "\n").encode(), durable=True)


def tuned_configs(bases: Sequence[Config], checksum: str, store: Store) -> list[Tuned]:
    """The best settings for each; a method that nobody tuned, though it could be, is an error."""
    missing = [base for base in bases if base.method.space and not path_of(base, checksum, store).exists()]
    if missing:
        names = " ".join(base.method.name for base in missing)
        raise StoreError(
            f"No search for {names} with these settings has ended in {store.root}; "
            f"run: rmix tune {bases[0].dataset.name} {names}, with the same other options."
        )
    return [_read(base, path_of(base, checksum, store)) for base in bases]


def same_budget(found: Sequence[Tuned]) -> bool:
    """Whether every method had as many trials and seeds, and the same say in how it is optimised."""
    searched = [each.how for each in found if each.how]
    training = [any("." in key for key in how["settings"]) for how in searched]
    budgets = {(how["trials"], len(how["seeds"]), any_of) for how, any_of in zip(searched, training, strict=True)}
    return len(budgets) < 2 and not (any(training) and len(searched) < len(found))


def _read(base: Config, path: Path) -> Tuned:
    if not path.exists():
        return Tuned(base, {})
    kept = json.loads(path.read_text())
    config = config_from({**vars(base), "method": kept["method"], "training": kept["training"]})
    return Tuned(config, kept["how"])


def mark(result: Result, how: Mapping[str, Any], store: Store) -> Result:
    """The result saying that its settings were searched for, in the store as well."""
    if not how or result.tuned == how:
        return result
    marked = replace(result, tuned=dict(how))
    if result.failure is None:
        store.finish(marked, None)
    return marked
