"""Makes the figures and tables of the README and of docs/benchmarks.md: `make numbers`.

Runs are kept in runs/docs, so making them again takes seconds. Tables of data that do not ship with the package are
made from stores of runs: ``python docs/make.py waterbirds=STORE tuned=STORE,STORE``.
"""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from rmix.cli.found import find_runs
from rmix.experiment.config import config_from
from rmix.experiment.result import Result
from rmix.methods import METHODS
from rmix.reports import Boundary, GroupAccuracy, Paired, Summary, TrainAccuracy
from rmix.reports.style import svg
from rmix.studies import run_grid

ROOT = Path(__file__).parents[1]
STORE = ROOT / "runs" / "docs"
SEEDS = 10
PAIRS = [
    ("rmix", "erm"),
    ("rmix", "mixup"),
    ("rmix_aware", "iw"),
    ("rmix_aware", "iw_sampling"),
    ("rmix", "iw"),
    ("mixup", "erm"),
    ("rmix", "jtt"),
    ("rmix_aware", "group_dro"),
    ("rmix_aware", "lisa"),
]
SHOWN = ("erm", "mixup", "iw", "rmix", "rmix_aware")  # in the README
BY_GROUP = ("erm", "iw", "rmix", "rmix_aware")  # of a store


def runs(dataset: str) -> list[Result]:
    """Every method on an embedded data set with its shipped settings."""
    configs = [
        config_from({"dataset": dataset, "method": method, "seed": seed}) for method in METHODS for seed in range(SEEDS)
    ]
    return run_grid(configs, STORE, jobs=os.cpu_count() or 1)


def put(path: Path, mark: str, text: str) -> None:
    """Put ``text`` between the marks of a Markdown file."""
    start, end = f"<!-- {mark} -->\n", f"<!-- /{mark} -->"
    before, rest = path.read_text().split(start)
    path.write_text(before + start + text + end + rest.split(end)[1])


def study() -> list[Result]:
    """The nine runs of docs/grid.md."""
    short = {"dataset": "moons", "training": {"epochs": 10}}
    configs = [config_from({**short, "method": m, "seed": s}) for m in ("erm", "rmix", "rmix_aware") for s in range(3)]
    return run_grid(configs, STORE, jobs=os.cpu_count() or 1)


def picture(name: str, figure: Boundary | GroupAccuracy | TrainAccuracy) -> None:
    """Put a figure into docs/pictures."""
    path = ROOT / "docs" / "pictures" / f"{name}.svg"
    path.parent.mkdir(exist_ok=True)
    path.write_text(svg(figure.figure(), name, figure.title, figure.text))


def pictures(moons: Sequence[Result]) -> None:
    """Those of the README and the pages; the theory makes its own."""
    picture("moons", Boundary([r for r in moons if r.method in ("erm", "mixup", "rmix", "rmix_aware")]))
    runs = study()
    picture("groups", GroupAccuracy(runs))
    picture("learned", TrainAccuracy(runs))


def stored(mark: str, stores: str) -> None:
    """The tables of the runs of one store or, with commas, of several."""
    order = list(METHODS)
    found = [find_runs([store], Path(store)).values() for store in stores.split(",")]
    results = [r for runs in found for r in sorted(runs, key=lambda r: (order.index(r.method), r.seed))]
    there = {r.method for r in results}
    tables = [
        Summary(results),
        GroupAccuracy([r for r in results if r.method in BY_GROUP]).table(),
        Paired(results, [pair for pair in PAIRS if there.issuperset(pair)]),
    ]
    put(ROOT / "docs" / "benchmarks.md", mark, "\n".join(table.markdown() for table in tables))


def main() -> None:
    """Run what was not run yet, and write."""
    for word in sys.argv[1:]:
        mark, _, stores = word.partition("=")
        stored(mark, stores)
    if not sys.argv[1:]:
        embedded()


def embedded() -> None:
    """Everything about the data that ship with the package."""
    found = {dataset: runs(dataset) for dataset in ("moons", "digits")}
    everything = [result for results in found.values() for result in results]
    pictures(found["moons"])
    put(ROOT / "README.md", "results", Summary(r for r in everything if r.method in SHOWN).markdown())
    tables = Summary(everything).markdown() + "\n" + Paired(everything, PAIRS).markdown()
    put(ROOT / "docs" / "benchmarks.md", "embedded", tables)


if __name__ == "__main__":
    main()
