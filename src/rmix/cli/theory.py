"""`rmix theory`: the paper's theory in numbers."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tyro
from rich.console import Console
from rich.table import Table
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]  # comes with scikit-learn

from rmix.theory.buys import gaussian_bounds, over_dimension, over_weight
from rmix.theory.claims import Toy, identities, mixture, orders, readings
from rmix.theory.features import SEEDS, feature_bounds, feature_sweeps, two_classes_of
from rmix.theory.figures import FIGURES, write_figure
from rmix.theory.sheet import Sheet


@dataclass(frozen=True)
class Options:
    """Check each claim of the paper's theory in numbers: identities, expansions, complexities and bounds.

    Args:
        data: data sets on whose trained features the bound is evaluated: two classes, disjoint groups.
        seed: of the claims and of the training runs.
        seeds: draws of Gaussian groups that the sweeps average over.
        out: folder of the tables (CSV) and figures (SVG and PNG).
    """

    data: tuple[str, ...] = ("moons", "digits")
    seed: int = 0
    seeds: int = 10
    out: Path = Path("theory")


def run(argv: Sequence[str]) -> int:
    """Compute, print and write each table, then draw."""
    options, console, started = tyro.cli(Options, args=list(argv), prog="rmix theory"), Console(), time.monotonic()
    for name in options.data:
        two_classes_of(name)  # says what is wrong before anything is computed
    options.out.mkdir(parents=True, exist_ok=True)
    found: dict[str, Sheet] = {}
    with threadpool_limits(1):  # small matrices: threads only wait for each other
        for sheet in sheets(options):
            for table in tables_of(sheet, console.width):
                console.print(table)
            console.print(sheet.note, style="dim", end="\n\n")
            sheet.write(options.out)
            found[sheet.name] = sheet
    for figure in FIGURES:
        if figure.sheet in found:
            write_figure(figure, found[figure.sheet], options.out)
    seconds = time.monotonic() - started
    console.print(f"Tables and figures: {options.out} ({seconds:.0f} s). What they say: docs/theory.md", soft_wrap=True)
    return 0


def sheets(options: Options) -> Iterator[Sheet]:
    """Every table, as it gets ready."""
    toy = Toy(options.seed)
    yield identities(toy)
    yield mixture(options.seed)
    yield readings(toy)
    yield orders(toy)
    yield over_dimension(options.seeds)
    yield over_weight(options.seeds)
    swept = [row for name in options.data for row in feature_sweeps(name, options.seed)]
    note = (
        f"New last layers on features of ERM along their first principal axes, seeds {options.seed} to "
        f"{options.seed + SEEDS - 1}, weights of mean one, alpha 0.5. Complexities are times √n, radius one."
    )
    if swept:
        yield Sheet("features", "On features of trained networks", note, 4, swept)
    bounds = gaussian_bounds(options.seed)
    for name in options.data:
        bounds += feature_bounds(name, options.seed)
    note = (
        f"In nats of the weighted loss, mixup alpha 0.5, delta 0.05, seed {options.seed}. gamma, rho, L and B are read "
        "from the training rows and flatter every bound; features were fitted to the same rows."
    )
    yield Sheet("bounds", "The bound at trained models, beside the gap that was measured", note, 2, bounds)


def tables_of(sheet: Sheet, width: int) -> Iterator[Table]:
    """The sheet for a terminal of ``width`` columns: where it is wider, the rest follows below, named again."""
    cells = {name: [name.replace("_", " "), *map(_shown, sheet.column(name))] for name in sheet.columns}
    wide = {name: max(map(len, texts)) + 3 for name, texts in cells.items()}
    naming, rest = sheet.columns[: sheet.naming], sheet.columns[sheet.naming :]
    title = sheet.title
    while rest:
        room, taken = width - 1 - sum(wide[name] for name in naming), 0
        while taken < len(rest) and (taken == 0 or sum(wide[name] for name in rest[: taken + 1]) <= room):
            taken += 1
        table = Table(title=title, title_justify="left")
        for name in (*naming, *rest[:taken]):
            right = isinstance(sheet.column(name)[0], int | float)
            table.add_column(cells[name][0], justify="right" if right else "left")
        for row in zip(*(cells[name][1:] for name in (*naming, *rest[:taken])), strict=True):
            table.add_row(*row)
        yield table
        rest, title = rest[taken:], f"{sheet.title}, continued"


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return "–" if value != value else f"{value:.3g}"
    return str(value)
