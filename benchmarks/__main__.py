"""``python -m benchmarks`` measures everything, ``python -m benchmarks step epoch`` these parts."""

from __future__ import annotations

import argparse

import torch
from rich.console import Console
from rich.table import Table

from benchmarks import epoch, estimator, grid, images, methods, notes, startup, step, tables
from benchmarks.timing import keep_memory

PARTS = {
    "step": step.lines,
    "epoch": epoch.lines,
    "notes": notes.lines,
    "startup": startup.lines,
    "methods": methods.lines,
    "estimator": estimator.lines,
    "tables": tables.lines,
    "images": images.lines,
    "grid": grid.lines,
}


def main() -> None:
    """Measure and print one table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"any of {', '.join(PARTS)}; all if none is named")
    parts = parser.parse_args().parts or list(PARTS)
    if unknown := set(parts) - set(PARTS):
        parser.error(f"no part named {sorted(unknown)[0]!r}; there are {', '.join(PARTS)}")
    torch.set_num_threads(1)
    keep_memory()
    table = Table("measured in this run, one thread, processor time", "ratio of medians (range)", "target", "")
    for part in parts:
        for line in PARTS[part]():
            table.add_row(line.what, line.measured, line.target, {None: "", True: "met", False: "missed"}[line.met])
    Console(width=120).print(table)


if __name__ == "__main__":
    main()
