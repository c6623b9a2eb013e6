"""Where the cells of a grid are trained: in processes of this machine, or on a cluster."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from typing import Any, Protocol

from rmix.errors import InvalidValueError, require
from rmix.studies.cell import Cell, Ended, run_cell

# Seconds after which workers that have nothing to do end. A grid that begins in the moment in which they do can wait
# for ever (seen with joblib 1.6 and its five minutes), so let it be a rare moment.
IDLE = 3600


class WorkerDiedError(Exception):
    """A worker ended without a word, as happens where memory runs out; the cells it had are not done."""


class Executor(Protocol):
    """Trains cells, and gives each as it ends, in any order."""

    local: bool  # the workers end when this process does

    def __call__(self, cells: Iterable[Cell]) -> Iterator[Ended]:
        """Train ``cells``; raises :class:`WorkerDiedError` where workers die."""


@dataclass(frozen=True)
class Local:
    """Processes of this machine.

    Args:
        jobs: runs at a time; 0 = one a core; 1 = in this process.
    """

    jobs: int = 1
    local = True

    def __post_init__(self) -> None:
        require(self.jobs >= 0, f"jobs must be >= 0 (0 = one a core), got {self.jobs}")

    def __call__(self, cells: Iterable[Cell]) -> Iterator[Ended]:
        from joblib.externals.loky.process_executor import TerminatedWorkerError

        yield from _parallel(cells, self.jobs or os.cpu_count() or 1, TerminatedWorkerError, idle_worker_timeout=IDLE)


@dataclass(frozen=True)
class Cluster:
    """The workers of a Dask cluster, which must see the store under the same path.

    Args:
        scheduler: its address, such as tcp://10.0.0.1:8786.
    """

    scheduler: str
    local = False

    def __call__(self, cells: Iterable[Cell]) -> Iterator[Ended]:
        try:
            from distributed import Client
            from distributed.scheduler import KilledWorker
        except ImportError:
            raise InvalidValueError("The executor dask needs dask; pip install 'rmix[cluster]'.") from None
        from joblib import parallel_config

        with ExitStack() as stack:
            try:
                client = stack.enter_context(Client(self.scheduler, set_as_default=False))  # type: ignore[no-untyped-call]
            except OSError as error:
                raise InvalidValueError(f"No Dask scheduler answers at {self.scheduler} ({error}).") from error
            backend: AbstractContextManager[Any] = parallel_config("dask", client=client)
            stack.enter_context(backend)
            yield from _parallel(cells, -1, KilledWorker)


def _parallel(cells: Iterable[Cell], jobs: int, died: type[BaseException], **backend: int) -> Iterator[Ended]:
    from joblib import Parallel, delayed

    workers = Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1, **backend)
    try:
        yield from workers(delayed(run_cell)(cell) for cell in cells)
    except died as error:
        raise WorkerDiedError from error
