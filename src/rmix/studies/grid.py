"""Many runs side by side, none of them trained twice."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path

from rmix.datasets import DataSet
from rmix.experiment.config import Config
from rmix.experiment.result import Result
from rmix.experiment.run import blank_result
from rmix.experiment.store import Store, run_id
from rmix.models import Encoder, embed
from rmix.studies.cell import Cell, Ended, load_once
from rmix.studies.executors import Executor, Local, WorkerDiedError

ATTEMPTS = 3  # with workers that die before any cell has ended


class Grid:
    """Configurations and what became of them.

    Runs that ended in the store before are read; one that fails gives a result that says why, and
    stops no other. Several processes may train the same grid in the same store: each leaves alone
    what another is at work on, and reads it in the end.

    Args:
        configs: what to train.
        store: where runs are kept.
        executor: where they are trained.
        device: of every run.
        study: names what this grid is part of; its data are read once in each process.
    """

    def __init__(
        self,
        configs: Sequence[Config],
        store: str | Path,
        executor: Executor | None = None,
        device: str = "cpu",
        study: str = "",
    ) -> None:
        self.configs, self.device = configs, device
        self.store = Store(Path(store).resolve())  # workers may be elsewhere
        self.executor = executor or Local()
        self._study = study or uuid.uuid4().hex
        self.runs = [run_id(c.to_plain(), load_once(c.dataset, self._study).checksum) for c in configs]
        self.config_of = dict(zip(self.runs, configs, strict=True))
        self.ended: dict[str, Result] = {}  # by run
        for run in self.config_of:
            result = self.store.result(run)
            if result is not None and result.failure is None:
                self.ended[run] = result

    @property
    def left(self) -> list[str]:
        """Runs that have not ended."""
        return [run for run in self.config_of if run not in self.ended]

    @property
    def results(self) -> list[Result]:
        """Of the runs that have ended, in the order of the configurations."""
        return [self.ended[run] for run in self.runs if run in self.ended]

    def train(self) -> Iterator[Result]:
        """Train what is left; gives each result as it ends."""
        if self.executor.local:
            self._embed()
        for wait in (False, True):  # first what nobody is at work on
            yield from self._train(wait)

    def _train(self, wait: bool) -> Iterator[Result]:
        attempts, skipped = 0, set[str]()
        while cells := [self._cell(run, wait) for run in self.left if run not in skipped]:
            try:
                for ended in self.executor(cells):
                    attempts = 0
                    if ended.result is None and not ended.failure:
                        skipped.add(ended.run)
                    else:
                        yield self._end(ended)
            except WorkerDiedError:
                attempts += 1
                if attempts == ATTEMPTS:
                    yield from [self._end(Ended(cell.run, failure=DIED)) for cell in cells if cell.run in self.left]

    def _embed(self) -> None:
        """Make the features that runs need, with all cores and told in the log, before workers wait for each other."""
        made: list[tuple[DataSet, Encoder]] = []
        for config in (self.config_of[run] for run in self.left):
            if config.features and (config.dataset, config.features) not in made:
                made.append((config.dataset, config.features))
                embed(load_once(config.dataset, self._study), config.features, device=self.device)

    def _cell(self, run: str, wait: bool) -> Cell:
        parent = os.getpid() if self.executor.local else None
        return Cell(run, self.config_of[run], self.store.root, self.device, self._study, parent, wait)

    def _end(self, ended: Ended) -> Result:
        result = ended.result or self._failed(ended)
        self.ended[ended.run] = result
        return result

    def _failed(self, ended: Ended) -> Result:
        config = self.config_of[ended.run]
        bundle = load_once(config.dataset, self._study)
        return blank_result(ended.run, config, bundle, self.device, failure=ended.failure)


DIED = "Its worker was killed, as happens when memory runs out; try fewer --jobs."


def run_grid(configs: Sequence[Config], store: str | Path, jobs: int = 1) -> list[Result]:
    """Results of every configuration, in their order, trained ``jobs`` at a time.

    Example:
        >>> from rmix.experiment.config import config_from
        >>> configs = [config_from({"dataset": "moons", "training": {"epochs": 1}, "seed": s}) for s in range(2)]
        >>> [result.seed for result in run_grid(configs, getfixture("tmp_path"))]
        [0, 1]
    """
    grid = Grid(configs, store, Local(jobs))
    for _ in grid.train():
        pass
    return grid.results
