"""`rmix data describe NAME` and `rmix data check NAME --root DIR`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, fields, make_dataclass
from typing import Annotated, Any

import tyro
from rich.console import Console
from rich.progress import track
from rich.table import Table
from rich.text import Text

from rmix.cli.dataset_options import as_it_is, gathered, short
from rmix.cli.progress import show_log
from rmix.datasets import DATASETS, Bundle, DataSet
from rmix.datasets.on_disk import OnDisk, group_rows
from rmix.datasets.own_file import OwnFile
from rmix.errors import DataError, InvalidValueError, lookup
from rmix.methods.cards import card

USAGE = """usage: rmix data describe NAME ...
       rmix data check NAME [--root DIR] [--quick]

describe  what it is, its licence, where to obtain it, the files expected, the rows of each group.
check     read your copy: its files, the rows of each group against the published ones, and images that
          cannot be read (not with --quick). Exit code 0 where all is well, 1 where something is not.
          Your own data take the options of `rmix train`: rmix data check table --file F --label C."""
SHOWN = 20  # problems that are spelt out


def run(argv: Sequence[str]) -> int:
    """Describe or check."""
    console = Console()
    if not argv or argv[0] in ("-h", "--help"):
        print(USAGE)
        return 0
    what, *words = argv
    lookup("action of rmix data", what, {"describe": 1, "check": 1})
    if not words or words[0].startswith("-"):
        raise InvalidValueError(f"Which data set? Say: rmix data {what} NAME; one of {', '.join(DATASETS)}.")
    if what == "check":
        return check(console, words[0], words[1:])
    for name in words:
        describe(console, name)
    return 0


def describe(console: Console, name: str) -> None:
    """The card of a data set, and the rows of its groups."""
    cls: type[Any] = lookup("data set", name, DATASETS)
    about = Table.grid(padding=(0, 2))
    about.add_column(style="bold", no_wrap=True)
    about.add_column(overflow="fold")  # long paths go on below
    for section, text in card(cls).items():
        about.add_row(name if section == "summary" else section, Text(text))
    about.add_row("Settings", Text(f"{', '.join(f.name for f in fields(cls))}: rmix train {name} METHOD --help"))
    console.print(about)
    if issubclass(cls, OnDisk):
        console.print(files_table(cls))
        if cls.published:
            console.print(counts(cls.published, "Published rows by group"))
        if cls.published_rows:
            console.print("Published rows:", ", ".join(f"{split} {n:,}" for split, n in cls.published_rows.items()))
    elif not issubclass(cls, OwnFile):
        bundle = cls().load()
        console.print(counts({split: group_rows(bundle, split) for split in bundle.splits}, "Rows by group"))


def files_table(cls: type[OnDisk]) -> Table:
    """What must be in the folder."""
    table = Table("file", "what it holds", title=f"Files, in --root DIR or in DIR/{cls.folders[0]}")
    for file, what in cls.files.items():
        table.add_row(file, what)
    return table


def counts(rows: Mapping[str, Mapping[str, int]], title: str) -> Table:
    """Rows of each group in each split; a dash where the groups of a split are not known."""
    table = Table("group", title=title)
    for split in rows:
        table.add_column(split, justify="right")
    for group in dict.fromkeys(group for groups in rows.values() for group in groups):
        table.add_row(Text(group), *(f"{groups[group]:,}" if group in groups else "–" for groups in rows.values()))
    return table


def check(console: Console, name: str, words: Sequence[str]) -> int:
    """Load a data set, compare it with what was published, read its images; the exit code."""
    default = short(lookup("data set", name, DATASETS)())
    unread = Annotated[bool, tyro.conf.arg(help="leave the images unread"), tyro.conf.FlagCreatePairsOff]
    parts = [("quick", unread, field(default=False)), ("dataset", type(default), field(default=default))]
    form: Any = make_dataclass("Check", parts)
    about = "Read a copy, and say what is wrong with it."
    options = tyro.cli(form, args=gathered(default, words), prog=f"rmix data check {name}", description=about)
    dataset = as_it_is(options.dataset)
    show_log(console)
    try:
        bundle = dataset.load()
    except DataError as error:
        complain(console, str(error))
        return 1
    if isinstance(dataset, OnDisk):
        console.print(f"Found in {dataset.folder()}.", highlight=False, soft_wrap=True)
    return report(console, dataset, bundle, quick=options.quick)


def report(console: Console, dataset: DataSet, bundle: Bundle, *, quick: bool) -> int:
    """Show what was found; the exit code."""
    rows = {split: group_rows(bundle, split) for split in bundle.splits}
    console.print(counts(rows, f"{bundle.name}: rows by group") if bundle.n_groups else "There are no groups.")
    other = dataset.differences(bundle) if isinstance(dataset, OnDisk) else []
    bad = [] if quick else [why for split in bundle.splits for why in unreadable(console, bundle, split)]
    for problem in [*other, *bad][:SHOWN]:
        complain(console, problem)
    if len(other) + len(bad) > SHOWN:
        complain(console, f"… and {len(other) + len(bad) - SHOWN:,} more.")
    sizes = " / ".join(f"{len(split):,}" for split in bundle.splits.values())
    found = [f"counts that differ from the published ones: {len(other):,}"] if other else []
    found += [f"images that cannot be read: {len(bad):,}"] if bad else []
    said = f"{bundle.name}: {sizes} rows, {bundle.n_classes} classes, {bundle.n_groups} groups; "
    console.print(said + (", ".join(found) or "no problem") + ".", highlight=False, soft_wrap=True)
    if other:
        console.print("So it is another version: results on it compare with one another, not with published ones.")
    return 1 if other or bad else 0


def complain(console: Console, problem: str) -> None:
    """One line in red."""
    console.print(Text(problem, style="red"), soft_wrap=True)


def unreadable(console: Console, bundle: Bundle, split: str) -> list[str]:
    """Why inputs of a split cannot be read, where they are files."""
    x: Any = bundle.splits[split].x
    if not hasattr(x, "unreadable"):
        return []
    return [why for why in track(x.unreadable(), f"images of {split}", len(x), console=console) if why]
