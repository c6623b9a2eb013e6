"""Many runs side by side: each is what it would be alone, none is trained twice, none stops another."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import pytest
from torch import Tensor, nn
from toys import SMALL_MOONS, TWO_STAGES, same, small

from rmix.datasets import Bundle, FourMoons
from rmix.errors import DataError
from rmix.experiment.run import run_config
from rmix.experiment.store import Store
from rmix.methods import ERM, JTT, Method
from rmix.models import Encoder
from rmix.recipe import Facts, Recipe
from rmix.studies import Grid, Local, run_grid
from rmix.studies.cell import Cell, Ended, EndsWithParent, load_once, run_cell
from rmix.studies.executors import WorkerDiedError
from rmix.training.callbacks import Moment
from rmix.training.settings import Training

CONFIGS = [small(method, seed=seed) for method in (ERM(), TWO_STAGES) for seed in range(2)]
DIVERGES = small(training=Training(epochs=2, batch_size=16, lr=1e30))


@dataclass(frozen=True)
class Broken(Method):
    """Has a mistake in its code."""

    name: ClassVar[str] = "broken"

    def recipe(self, facts: Facts) -> Recipe:
        raise ZeroDivisionError("oh no")


class Here:
    """Trains in this process, and remembers what it was given."""

    local = True

    def __init__(self) -> None:
        self.given: list[list[Cell]] = []

    def __call__(self, cells: Iterable[Cell]) -> Iterator[Ended]:
        self.given.append(list(cells))
        for cell in self.given[-1]:
            yield run_cell(cell)


def trained(configs: Any, store: Path, executor: Any = None) -> Grid:
    grid = Grid(configs, store, executor or Here())
    for _ in grid.train():
        pass
    return grid


def test_every_run_is_what_it_would_be_alone(tmp_path: Path) -> None:
    results = run_grid(CONFIGS, tmp_path)
    assert [(r.method, r.seed) for r in results] == [("erm", 0), ("erm", 1), ("rmix", 0), ("rmix", 1)]
    for config, result in zip(CONFIGS, results, strict=True):
        assert result.to_json() == run_config(config).result.to_json()


def test_what_ended_is_not_given_to_a_worker(tmp_path: Path) -> None:
    trained(CONFIGS[:2], tmp_path)
    executor = Here()
    grid = trained(CONFIGS, tmp_path, executor)
    assert [[cell.config for cell in cells] for cells in executor.given] == [CONFIGS[2:]]
    assert len(grid.results) == 4
    again = Here()
    assert [r.to_json() for r in trained(CONFIGS, tmp_path, again).results] == [r.to_json() for r in grid.results]
    assert again.given == []


def test_the_same_configuration_twice_is_one_run(tmp_path: Path) -> None:
    executor = Here()
    grid = trained([small(), small()], tmp_path, executor)
    assert len(executor.given[0]) == 1
    assert len(grid.results) == 2


@pytest.mark.parametrize(("config", "sentence"), [
    (DIVERGES, "The loss became nan in stage 'main', epoch 0"),
    (small(JTT(epoch=9)), "epoch (T) must be at most 2"),
    (small(Broken()), "ZeroDivisionError: oh no (see "),
])  # fmt: skip
def test_a_run_that_fails_stops_no_other(config: Any, sentence: str, tmp_path: Path) -> None:
    grid = trained([small(), config, small(seed=1)], tmp_path)
    first, failed, last = grid.results
    assert first.test is not None
    assert last.test is not None
    assert failed.test is None
    assert failed.failure is not None
    assert sentence in failed.failure
    assert failed.config == config.to_plain()
    executor = Here()
    trained([small(), config, small(seed=1)], tmp_path, executor)
    assert [cell.config for cell in executor.given[0]] == [config]  # and is tried again


def test_a_mistake_in_code_leaves_its_traceback(tmp_path: Path) -> None:
    grid = trained([small(Broken())], tmp_path)
    (written,) = tmp_path.glob("runs/*/failure.txt")
    assert str(written) in str(grid.results[0].failure)
    assert 'raise ZeroDivisionError("oh no")' in written.read_text()


def test_runs_of_another_process_are_left_alone_and_read_in_the_end(tmp_path: Path) -> None:
    """While the other is at the first run, the others are trained; the first is waited for last."""

    class OtherIsDone(Here):
        def __call__(self, cells: Iterable[Cell]) -> Iterator[Ended]:
            if self.given:
                other.__exit__(None, None, None)
            yield from super().__call__(cells)

    executor = OtherIsDone()
    grid = Grid(CONFIGS[:2], tmp_path, executor)
    other = Store(tmp_path).lock(grid.runs[0])
    other.__enter__()
    assert [result.seed for result in grid.train()] == [1, 0]
    assert [[(cell.run, cell.wait) for cell in cells] for cells in executor.given] == [
        [(grid.runs[0], False), (grid.runs[1], False)],
        [(grid.runs[0], True)],
    ]


class Dying(Here):
    """Trains one cell, then its workers die; with ``fatal``, a cell of that seed kills them first."""

    def __init__(self, fatal: int | None = None) -> None:
        super().__init__()
        self.fatal = fatal

    def __call__(self, cells: Iterable[Cell]) -> Iterator[Ended]:
        self.given.append(list(cells))
        for cell in self.given[-1]:
            if cell.config.seed == self.fatal:
                raise WorkerDiedError
            yield run_cell(cell)
            if self.fatal is None:
                raise WorkerDiedError


def test_dead_workers_are_replaced(tmp_path: Path) -> None:
    executor = Dying()
    grid = trained(CONFIGS, tmp_path, executor)
    assert [len(cells) for cells in executor.given] == [4, 3, 2, 1]
    assert all(result.test is not None for result in grid.results)


def test_a_cell_that_kills_every_worker_is_given_up(tmp_path: Path) -> None:
    executor = Dying(fatal=1)
    grid = trained(CONFIGS[:2], tmp_path, executor)
    assert [result.failure for result in grid.results] == [
        None, "Its worker was killed, as happens when memory runs out; try fewer --jobs."
    ]  # fmt: skip
    assert [len(cells) for cells in executor.given] == [2, 1, 1]  # three deaths in a row


def test_data_that_cannot_be_read_say_so_before_anything_is_trained(tmp_path: Path) -> None:
    class Gone(FourMoons):
        def load(self) -> Bundle:
            raise DataError("The data are gone.")

    with pytest.raises(DataError, match="The data are gone"):
        Grid([small(dataset=Gone())], tmp_path)


class Counted(FourMoons):
    """Counts how often it is read."""

    reads: ClassVar[int] = 0

    def load(self) -> Bundle:
        type(self).reads += 1
        return super().load()


def test_data_are_read_once_a_grid(tmp_path: Path) -> None:
    dataset = Counted(SMALL_MOONS.sizes, valid_size=10, test_size=10)
    trained([small(dataset=dataset, seed=seed) for seed in range(3)], tmp_path)
    assert Counted.reads == 1
    trained([small(dataset=dataset, seed=seed) for seed in range(4)], tmp_path)
    assert Counted.reads == 2  # they may have changed since: another grid reads them anew


MADE: list[str] = []  # of what


@dataclass(frozen=True)
class Same(Encoder):
    """Features are the inputs."""

    checksum: str = "a"
    name: ClassVar[str] = "same"

    def view(self, x: Any) -> Any:
        return Shown(x)

    def network(self) -> nn.Module:
        MADE.append("features")
        return nn.Identity()


@dataclass
class Shown:
    x: Tensor

    @property
    def checksum(self) -> str:
        return str(self.x.sum().item())

    def __len__(self) -> int:
        return len(self.x)

    def __getitem__(self, rows: Tensor) -> Tensor:
        return self.x[rows]


def test_features_are_made_before_workers_wait_for_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Looks(Here):
        def __call__(self, cells: Iterable[Cell]) -> Iterator[Ended]:
            MADE.append("workers")
            yield from super().__call__(cells)

    monkeypatch.setenv("RMIX_CACHE", str(tmp_path / "cache"))
    configs = [small(seed=seed, features=Same()) for seed in range(2)]
    MADE.clear()
    trained(configs, tmp_path, Looks())
    assert MADE == ["features"] * 3 + ["workers"]  # one a split
    trained(configs, tmp_path, Looks())
    assert len(MADE) == 4
    away = Looks()
    away.local = False  # the workers of a cluster have caches of their own
    next(Grid(configs, tmp_path / "other", away).train())
    assert MADE[4:] == ["workers"]


def test_another_data_set_is_another_bundle() -> None:
    one, other = SMALL_MOONS, replace(SMALL_MOONS, seed=1)
    assert load_once(one, "grid") is load_once(one, "grid")
    assert load_once(other, "grid").checksum == other.load().checksum != one.load().checksum


def test_a_worker_ends_with_its_parent(monkeypatch: pytest.MonkeyPatch) -> None:
    ends: list[int] = []
    monkeypatch.setattr(os, "_exit", ends.append)
    EndsWithParent(os.getppid()).on_epoch(Moment("main"), {})
    assert ends == []
    EndsWithParent(-1).on_epoch(Moment("main"), {})
    assert ends == [1]


@pytest.mark.slow
def test_two_at_a_time_share_the_first_stage(tmp_path: Path) -> None:
    """Both need the notes at the same moment: one takes them, the other takes them up."""
    configs = [small(replace(TWO_STAGES, eta=eta)) for eta in (2.0, 5.0)]
    grid = trained(configs, tmp_path, Local(2))
    for config, result in zip(configs, grid.results, strict=True):
        assert result.to_json() == run_config(config).result.to_json()
    logs = [path.read_text() for path in tmp_path.glob("runs/*/events.jsonl")]
    assert sum('"stage": "notes", "epochs": 2, "reused": false' in log for log in logs) == 1
    assert sum('"stage": "notes", "epochs": 2, "reused": true' in log for log in logs) == 1


def test_results_survive_a_way_through_the_store(tmp_path: Path) -> None:
    config = small(TWO_STAGES)
    trained([config], tmp_path)
    assert same(run_config(config, store=tmp_path), run_config(config))


def test_workers_do_not_end_between_grids() -> None:
    """Joblib's own five minutes are as long as a user thinks, and a grid that begins in that moment hung."""
    from joblib.externals.loky import reusable_executor

    for _ in Local(2)([]):
        pass
    assert reusable_executor._executor._timeout >= 3600
