"""What a grid costs beside the runs in it, and what a search saves by training the first stage once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter, process_time

from benchmarks.timing import Line, interleaved
from rmix.experiment.config import Config, config_from
from rmix.experiment.run import run_config
from rmix.experiment.store import Store
from rmix.studies import Local, run_grid
from rmix.studies.tune import Search, tune
from rmix.training.settings import FirstStage

CELLS, TRIALS, JOBS = 20, 20, 2


def directly(configs: Sequence[Config]) -> None:
    """Each run by itself, nothing kept."""
    for config in configs:
        run_config(config)


def independently(configs: Sequence[Config]) -> None:
    """Each run by itself, kept in a store of its own, where it finds no first stage."""
    for config in configs:
        with TemporaryDirectory() as store:
            run_config(config, store=store)


def in_grid(configs: Sequence[Config], jobs: int) -> None:
    """All runs as a grid in an empty store."""
    with TemporaryDirectory() as store:
        run_grid(configs, store, jobs)


def overhead_line(what: str, grid: Sequence[float], alone: Sequence[float]) -> Line:
    """Seconds a cell takes longer in a grid, against the target."""
    seconds = [(a - b) / CELLS for a, b in zip(grid, alone, strict=True)]
    return Line(what, f"{spread(seconds)} s a cell", "<= 0.20 s", median(seconds) <= 0.2)


def spread(values: Sequence[float]) -> str:
    """Median and range."""
    return f"{median(values):.3f}  ({min(values):.3f} to {max(values):.3f})"


def cells() -> list[Line]:
    """Short runs of ERM; with several workers, which were started before, the time of each of them counts."""
    base = config_from({"dataset": "moons", "method": "erm", "training": {"epochs": 2}})
    configs = [replace(base, seed=seed) for seed in range(CELLS)]
    things = {"alone": lambda: directly(configs), "grid": lambda: in_grid(configs, 1)}
    here = interleaved(things, 3, process_time)
    there = interleaved({"alone": things["alone"], "grid": lambda: in_grid(configs, JOBS)}, 3, perf_counter)
    return [
        overhead_line("a cell of a grid, over the run by itself", here["grid"], here["alone"]),
        overhead_line(
            f"  in {JOBS} workers, by the clock on the wall", [JOBS * t for t in there["grid"]], there["alone"]
        ),
    ]


def search(base: Config) -> list[Config]:
    """Tune RMix; gives the settings that were tried."""
    with TemporaryDirectory() as folder:
        store = Store(folder)
        made = Search(base, base.dataset.load().checksum, store)
        tune([made], TRIALS, store, Local(1))
        return [config_from(result.config) for result in Store(made.folder).results()]


def tuning() -> list[Line]:
    """Both stages of as many epochs, as published for Waterbirds and Camelyon17."""
    base = replace(config_from({"dataset": "moons", "method": "rmix"}), first=FirstStage())
    configs = search(base)
    things = {"tune": lambda: search(base), "alone": lambda: independently(configs)}
    seconds = interleaved(things, 2, process_time)
    ratios = [a / b for a, b in zip(seconds["tune"], seconds["alone"], strict=True)]
    what = f"tuning eta, sigma, alpha of RMix, {TRIALS} trials / {TRIALS} runs of two stages"
    return [Line(what, spread(ratios), "<= 0.60", median(ratios) <= 0.6)]


def lines() -> list[Line]:
    """The lines of the table."""
    return cells() + tuning()
