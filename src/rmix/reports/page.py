"""One self-contained HTML page about a list of results."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from itertools import pairwise
from math import isnan
from pathlib import Path

from rmix.errors import require
from rmix.experiment.result import Result
from rmix.reports.accuracy import TrainAccuracy
from rmix.reports.boundary import Boundary
from rmix.reports.curves import Curves
from rmix.reports.estimate import interval_text, per_cent, points
from rmix.reports.groups import GroupAccuracy, GroupRow
from rmix.reports.paired import Difference, Paired
from rmix.reports.picture import Picture
from rmix.reports.series import NONE, baseline_of, by_dataset, differing, flat, settings_of, tuned_of
from rmix.reports.style import Look, method_looks, svg
from rmix.reports.summary import Row, Summary
from rmix.reports.uncertainty import UncertaintyDensity

TITLE = "How every group fares"
MOST_COLUMNS = 5  # of groups side by side


@dataclass(frozen=True)
class Drawn:
    """A figure of the page."""

    name: str
    title: str
    caption: str
    svg: str


@dataclass(frozen=True)
class GroupColumn:
    """A group, and how it fares."""

    name: str
    train_rows: str
    share: str  # of the training rows of all groups
    test_rows: str
    rows: Mapping[str, GroupRow]  # method -> its accuracy


@dataclass(frozen=True)
class Section:
    """What the page says about one data set."""

    name: str
    anchor: str
    rows: Sequence[Row]
    best: Row | None  # by worst group, where there is a choice
    close: Sequence[str]  # methods within one standard deviation of the best
    best_blind: Row | None  # of those that read no group labels in training
    groups: Sequence[Sequence[GroupColumn]]  # in tables that fit a printed page
    paired: Sequence[Difference]  # of every other method and the baseline
    failures: Sequence[tuple[str, int, str]]  # method, seed, message
    figures: Sequence[Drawn]
    data: Mapping[str, str]  # settings of the data set
    shared: Mapping[str, str]  # settings that all methods have in common
    own: Mapping[str, Mapping[str, str]]  # method -> its other settings
    tuned: Mapping[str, str]  # method -> how they were searched for


def write_page(results: Iterable[Result], path: str | Path, title: str = TITLE, baseline: str | None = None) -> Path:
    """Write the page; it needs no network, and the same results give the same bytes.

    Args:
        results: runs of any methods on any data sets.
        path: the file to write, for example ``report.html``.
        title: its heading.
        baseline: the method that the others are compared with; None = erm, where it was run.
    """
    path = Path(path)
    path.write_text(page(results, title, baseline), encoding="utf-8", newline="\n")
    return path


def page(results: Iterable[Result], title: str, baseline: str | None = None) -> str:
    """The text of the page."""
    from jinja2 import Environment, StrictUndefined

    results = list(results)
    require(bool(results), "A report needs at least one result, got none")
    looks, against = method_looks(results), baseline_of(results, baseline)
    by_name = by_dataset(results).items()
    sections = [_section(name, i, of, looks, against) for i, (name, of) in enumerate(by_name, start=1)]
    template = resources.files("rmix.reports") / "templates" / "page.html.j2"
    jinja = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    return jinja.from_string(template.read_text(encoding="utf-8")).render(
        title=title,
        sections=sections,
        n_runs=sum(len(row.series.results) for section in sections for row in section.rows),
        environment=environment_of(results),
        points=points,
        interval_text=interval_text,
    )


def _section(name: str, place: int, results: list[Result], looks: Mapping[str, Look], baseline: str) -> Section:
    rows = Summary(results).rows
    settings = [settings_of(row.series.first.config) for row in rows]
    own = [key for key in differing(settings) if key != "name"]
    return Section(
        name=name,
        anchor=f"data-{place}",
        rows=rows,
        best=best_of(rows),
        close=close_to(best_of(rows), rows),
        best_blind=best_of([row for row in rows if row.fit == "no"]),
        groups=in_tables(groups_of(GroupAccuracy(results, looks).rows)),
        paired=Paired.against(results, baseline).differences,
        failures=[(row.series.method, r.seed, r.failure or "") for row in rows for r in row.series.failed],
        figures=draw(results, looks, f"data-{place}"),
        data=_told(flat(results[0].config["dataset"]), lambda key: True),
        shared=_told(settings[0], lambda key: key not in own),
        own={row.series.method: _told(of, own.__contains__) for row, of in zip(rows, settings, strict=True)},
        tuned={row.series.method: tuned_of(row.series.first) for row in rows},
    )


def _told(settings: Mapping[str, str], wanted: Callable[[str], bool]) -> dict[str, str]:
    """Settings worth telling: the name is told elsewhere, and what is none says nothing."""
    return {key: text for key, text in settings.items() if key != "name" and text != NONE and wanted(key)}


def best_of(rows: Sequence[Row]) -> Row | None:
    """The method of the highest mean worst group, where there is more than one to choose from."""
    known = [row for row in rows if not isnan(row.worst.mean)]
    return max(known, key=lambda row: row.worst.mean) if len(known) > 1 else None


def close_to(best: Row | None, rows: Iterable[Row]) -> list[str]:
    """The other methods whose worst group is below the best by less than the larger of the two standard deviations."""
    if best is None:
        return []
    spread = {row.series.method: max(best.worst.std, row.worst.std) for row in rows if row is not best}
    below = {row.series.method: best.worst.mean - row.worst.mean for row in rows}
    return [method for method, std in spread.items() if below[method] < std]


def groups_of(rows: Iterable[GroupRow]) -> list[GroupColumn]:
    """Name, sizes and the accuracy under each method, one a group."""
    by_place: dict[int, list[GroupRow]] = {}
    for row in rows:
        by_place.setdefault(row.place, []).append(row)
    known = sum(of[0].train_rows or 0 for of in by_place.values())
    return [
        GroupColumn(
            name=of[0].name,
            train_rows="–" if of[0].train_rows is None else f"{of[0].train_rows:,}",
            share="" if of[0].train_rows is None else f" ({per_cent(of[0].train_rows / max(1, known))} %)",
            test_rows=f"{max(row.test_rows for row in of):,.0f}",
            rows={row.series.method: row for row in of},
        )
        for of in by_place.values()
    ]


def in_tables(columns: Sequence[GroupColumn]) -> list[Sequence[GroupColumn]]:
    """The columns in as few tables as fit a printed page, all about as wide."""
    n = -(-len(columns) // MOST_COLUMNS)
    ends = [len(columns) * i // n for i in range(n + 1)] if n else []
    return [columns[start:end] for start, end in pairwise(ends)]


def draw(results: list[Result], looks: Mapping[str, Look], prefix: str) -> list[Drawn]:
    """The figures that these runs have numbers for. A new figure is a line here."""
    pictures: list[Picture] = [
        GroupAccuracy(results, looks),
        Curves(results, looks),
        TrainAccuracy(results),
        UncertaintyDensity(results),
        Boundary(results),
    ]
    shown = [picture for picture in pictures if any(picture.frame().values())]
    return [Drawn(p.name, p.title, p.caption, svg(p.figure(), f"{prefix}-{p.name}", p.title, p.text)) for p in shown]


def environment_of(results: Iterable[Result]) -> dict[str, str]:
    """Versions and checksums under which the runs were made, each value once."""
    found: dict[str, dict[str, None]] = {}
    for result in results:
        for key, text in flat(result.environment).items():
            found.setdefault(key, {})[text] = None
    return {key: ", ".join(texts) for key, texts in found.items()}
