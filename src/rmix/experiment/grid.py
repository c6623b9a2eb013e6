"""Many runs side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from rmix.errors import DivergedError
from rmix.experiment.config import Config
from rmix.experiment.result import Result
from rmix.experiment.run import run_config
from rmix.experiment.store import Store, run_id


def run_grid(configs: Sequence[Config], store: Path, jobs: int = 1) -> Iterator[tuple[int, Result]]:
    """Train every configuration, ``jobs`` at a time; gives its position and result as each ends.

    Runs that ended in the store before are read; a run that diverged gives its failed result.
    """
    from joblib import Parallel, delayed

    Store(store)  # says once, and early, if the folder cannot be used
    workers = Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1)
    yield from workers(delayed(_cell)(i, config, store) for i, config in enumerate(configs))


def _cell(position: int, config: Config, store: Path) -> tuple[int, Result]:
    try:
        return position, run_config(config, store=store).result
    except DivergedError:
        failed = Store(store).result(run_id(config.to_plain(), config.dataset.load().checksum))
        assert failed is not None  # a run that diverges leaves its result
        return position, failed
