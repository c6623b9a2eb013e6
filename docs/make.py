"""Makes the figures and tables of the README and of docs/benchmarks.md: `make numbers`.

Runs are kept in runs/docs, so making them again takes seconds.
"""

import os
from collections.abc import Sequence
from pathlib import Path

from rmix.experiment.config import config_from
from rmix.experiment.result import Result
from rmix.methods import METHODS
from rmix.reports.boundary import Boundary
from rmix.reports.paired import Paired
from rmix.reports.style import svg
from rmix.reports.summary import Summary
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


def picture(results: Sequence[Result]) -> None:
    """The decision boundaries at the top of the README."""
    boundary = Boundary([r for r in results if r.method in ("erm", "mixup", "rmix", "rmix_aware")])
    path = ROOT / "docs" / "pictures" / "moons.svg"
    path.parent.mkdir(exist_ok=True)
    path.write_text(svg(boundary.figure(), "moons", "Decision boundaries on four moons", boundary.text))


def main() -> None:
    """Run what was not run yet, and write."""
    found = {dataset: runs(dataset) for dataset in ("moons", "digits")}
    everything = [result for results in found.values() for result in results]
    picture(found["moons"])
    put(ROOT / "README.md", "results", Summary(r for r in everything if r.method in SHOWN).markdown())
    tables = Summary(everything).markdown() + "\n" + Paired(everything, PAIRS).markdown()
    put(ROOT / "docs" / "benchmarks.md", "embedded", tables)


if __name__ == "__main__":
    main()
