"""`rmix reproduce TABLE|FIGURE`: the paper's experiments, our numbers beside the paper's."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import tyro
from rich.console import Console

from rmix.cli.progress import make_bars, show_log
from rmix.datasets.on_disk import OnDisk
from rmix.errors import RMixError, lookup, require
from rmix.experiment.config import Config
from rmix.experiment.result import Result
from rmix.reports import TrainAccuracy, UncertaintyDensity
from rmix.reports.picture import Picture
from rmix.reports.style import svg
from rmix.reports.text_table import csv_text
from rmix.studies import Grid, Local
from rmix.studies.miniature import distilbert, make
from rmix.studies.reproduce import Cell, Reproduction, cells_of, changed, shortened
from rmix.studies.uncertainties import TwoSources

TABLES = {
    "group_aware": "methods that read group labels in training",
    "group_oblivious": "methods that read none",
    "validation_labels": "RMix selected with and without group labels in validation",
    "ablation": "RMix, mixup and importance weighting",
}
FIGURES = {
    "uncertainty": "densities of the uncertainty by group",
    "accuracy": "training accuracy by group along ERM",
    "ensemble": "uncertainty from one trajectory and from an ensemble, on four moons",
}
PICTURED = ("waterbirds", "celeba")


@dataclass(frozen=True)
class Options:
    """Run a table or a figure of the paper again; finished runs are read, not trained again.

    Args:
        name: a table (group_aware, group_oblivious, validation_labels, ablation) or a figure (uncertainty, accuracy,
            ensemble).
        root: folder that holds the data sets; what is not there is not run.
        smoke: the whole path in minutes, on data made up in miniature in the exact formats.
        datasets: only these; none = all of the table.
        methods: only these; none = all of the table.
        weights: published weights as MODEL=PATH, such as resnet50=resnet50.pth or distilbert=FOLDER.
        seeds: runs of each cell.
        jobs: runs at a time; 0 = one a core.
        device: where to train.
        out: folder of the runs, and of what is written: NAME.md and .csv of a table, NAME.svg and .csv of a figure.
    """

    name: Annotated[str, tyro.conf.Positional]
    root: Path = Path("data")
    smoke: bool = False
    datasets: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    weights: tuple[str, ...] = ()
    seeds: int = 3
    jobs: int = 1
    device: str = "cpu"
    out: Path = Path("reproduced")

    def wants(self, cell: Cell) -> bool:
        """Whether a cell is to be run."""
        return (not self.datasets or cell.dataset in self.datasets) and (
            not self.methods or cell.method in self.methods
        )


def run(argv: Sequence[str]) -> int:
    """Plan, train what is missing, write, show."""
    options = tyro.cli(Options, args=list(argv), prog="rmix reproduce")
    lookup("table or figure of the paper", options.name, TABLES | FIGURES)
    console = Console()
    show_log(console)
    cells = _cells(options)
    configs, notes = _configs(cells, options)
    results = _train(configs, options, console)
    if options.name in TABLES:
        _write_table(Reproduction(options.name, results, smoke=options.smoke), options, console)
    else:
        _write_figures(results, options, console)
    failures = [_failure(result) for result in results if result.failure]
    for note in dict.fromkeys(notes + failures):
        console.print(note, soft_wrap=True)
    return 1 if failures else 0


def _cells(options: Options) -> list[Cell]:
    if options.name in TABLES:
        return [cell for cell in cells_of(options.name, smoke=options.smoke) if options.wants(cell)]
    datasets = ("moons",) if options.name == "ensemble" else PICTURED
    return [cell for name in datasets if options.wants(cell := Cell(None, "Ours", name, "rmix"))]


def _configs(cells: Iterable[Cell], options: Options) -> tuple[list[Config], list[str]]:
    """The runs, and what cannot be run and why."""
    configs, notes = [], []
    weights = _weights(options.weights)
    for cell in cells:
        try:
            ours = [_config(cell, seed, weights, options) for seed in range(options.seeds)]
        except RMixError as error:
            notes.append(f"Not run: {error}")
            continue
        configs += ours
        if not options.smoke and getattr(ours[0].model, "weights", "") is None and cell.dataset != "camelyon17":
            name = ours[0].model.name
            notes.append(f"{name} started from random weights, the paper's from trained ones: --weights {name}=PATH.")
    if options.name == "ensemble":
        many = 3 if options.smoke else 10
        configs += [replace(config, method=changed(config.method, ensemble=many)) for config in configs]
    return configs, notes


def _config(cell: Cell, seed: int, weights: dict[str, str], options: Options) -> Config:
    root = options.root
    if options.smoke:
        root = make(cell.dataset, options.out / "miniature")
    config = cell.config(seed, str(root))
    if isinstance(config.dataset, OnDisk):
        config.dataset.folder()  # says if it is not there
    if options.smoke:
        config = shortened(config)
        text = config.model.name == "distilbert"
        weights = {"distilbert": str(distilbert(root.with_name("distilbert")))} if text else {}
    if config.model.name in weights:
        where = "folder" if hasattr(config.model, "folder") else "weights"
        config = replace(config, model=changed(config.model, **{where: weights[config.model.name]}))
    return config


def _weights(given: Iterable[str]) -> dict[str, str]:
    found = {}
    for text in given:
        name, sign, path = text.partition("=")
        require(bool(sign), f"weights must be MODEL=PATH, got {text!r}.")
        found[name] = path
    return found


def _train(configs: Sequence[Config], options: Options, console: Console) -> list[Result]:
    if not configs:
        return []
    grid = Grid(configs, options.out, Local(options.jobs), options.device)
    with make_bars(console) as bars:
        task = bars.add_task(options.name, total=len(grid.runs), completed=len(grid.runs) - len(grid.left), note="")
        for result in grid.train():
            bars.update(task, advance=1, note=f"last: {result.config['dataset']['name']} {result.method}")
    return grid.results


def _write_table(table: Reproduction, options: Options, console: Console) -> None:
    text = table.table()
    console.print(text.rich())
    options.out.mkdir(parents=True, exist_ok=True)
    written = {"md": f"# {text.title}\n\n{text.markdown()}\n{text.caption}\n", "csv": csv_text(table.frame())}
    for ending, content in written.items():
        _write(options.out / f"{options.name}.{ending}", content)
    console.print(f"{text.caption}\nWritten: {options.out / options.name}.md and .csv", soft_wrap=True)


def _write_figures(results: Sequence[Result], options: Options, console: Console) -> None:
    kinds: dict[str, Any] = {"uncertainty": UncertaintyDensity, "accuracy": TrainAccuracy, "ensemble": TwoSources}
    for dataset in dict.fromkeys(r.config["dataset"]["name"] for r in results):
        picture: Picture = kinds[options.name]([r for r in results if r.config["dataset"]["name"] == dataset])
        path = options.out / f"{options.name}-{dataset}.svg"
        _write(path, svg(picture.figure(), f"{options.name}-{dataset}", picture.title, picture.text))
        _write(path.with_suffix(".csv"), csv_text(picture.frame()))
        console.print(f"{dataset}: {picture.text}\nWritten: {path} and .csv", soft_wrap=True)


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")


def _failure(result: Result) -> str:
    return f"Failed: {result.config['dataset']['name']} {result.method}, seed {result.seed}: {result.failure}"
