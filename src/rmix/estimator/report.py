"""How a classifier fares on every group, to print, to draw and to compute with."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from rmix.metrics import GroupTable
from rmix.reports.dots import draw_dots, figure_of_dots
from rmix.reports.estimate import interval_text, per_cent, wilson
from rmix.reports.style import METHODS, drawing

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HEADERS = ("Group", "Rows", "Accuracy (%)", "95 % interval", "")


@dataclass(frozen=True)
class GroupReport:
    """Accuracy of every group of some rows, with counts and Wilson intervals.

    Args:
        table: correct and total of each group.
        group_names: of the groups of these rows.
        known: groups that the classifier was fitted with, so that new ones can be pointed out; empty = unknown.

    Example:
        >>> print(GroupReport(GroupTable((9, 2), (10, 4), 11, 14), ("a", "b")))
        Group     Rows  Accuracy (%)  95 % interval
        a           10          90.0   59.6 to 98.2
        b            4          50.0   15.0 to 85.0  worst
        all rows    14          78.6   52.4 to 92.4
    """

    table: GroupTable
    group_names: tuple[str, ...]
    known: Collection[str] = ()

    @property
    def worst(self) -> float:
        """Accuracy of the worst group."""
        return self.table.worst

    @property
    def average(self) -> float:
        """Accuracy over all rows."""
        return self.table.average

    @property
    def unseen(self) -> tuple[str, ...]:
        """Groups of these rows that no row given to ``fit`` was in."""
        return tuple(name for name in self.group_names if name not in self.known) if self.known else ()

    def frame(self) -> dict[str, list[Any]]:
        """Columns of numbers, one row a group, for ``pandas.DataFrame``; low and high end the Wilson interval."""
        accuracy = self.table.accuracy.tolist()
        ends = [wilson(share, rows) for share, rows in zip(accuracy, self.table.total, strict=True)]
        return {
            "group": list(self.group_names),
            "rows": list(self.table.total),
            "correct": list(self.table.correct),
            "accuracy": accuracy,
            "low": [low for low, _ in ends],
            "high": [high for _, high in ends],
        }

    def figure(self) -> Figure:
        """Groups from top to bottom: a dot and its interval, the worst marked, a line at the accuracy over all rows."""
        frame, names = self.frame(), zip(self.group_names, self.table.total, strict=True)
        dots = list(zip(frame["accuracy"], zip(frame["low"], frame["high"], strict=True), strict=True))
        with drawing():
            figure, (axes,) = figure_of_dots([0.24 * self.table.n_groups + 0.2])
            draw_dots(axes, dots, (METHODS[1], "solid"))
            if self.table.worst_group is not None:
                axes.plot(100 * self.worst, self.table.worst_group, "o", color=METHODS[5], label="worst group")
            axes.axvline(
                100 * self.average, color=METHODS[0], linestyle="dotted", label=f"all {self.table.rows:,} rows"
            )
            axes.set_yticks(range(len(dots)), [f"{name} ({rows:,})" for name, rows in names])
            axes.set(ylim=(len(dots) - 0.5, -0.5), xlabel="Accuracy (%) with its 95 % interval (Wilson)")
            figure.legend(loc="outside upper left", ncols=2, alignment="left")
            return figure

    def __str__(self) -> str:
        cells = [HEADERS, *self._cells()]
        widths = [max(len(row[place]) for row in cells) for place in range(len(HEADERS))]
        pads = (str.ljust, str.rjust, str.rjust, str.rjust, str.ljust)
        padded = ([pad(text, width) for pad, text, width in zip(pads, row, widths, strict=True)] for row in cells)
        return "\n".join([*("  ".join(row).rstrip() for row in padded), *self._notes()])

    def _repr_html_(self) -> str:
        head = _html_row("th", HEADERS)
        body = "".join(_html_row("td", row, bold=row[-1] != "") for row in self._cells())
        notes = "".join(f"<p>{escape(note)}</p>" for note in self._notes())
        return f"<table><thead>{head}</thead><tbody>{body}</tbody></table>{notes}"

    def _cells(self) -> list[tuple[str, ...]]:
        def cells(name: str, share: float, rows: int, mark: str) -> tuple[str, ...]:
            return name, f"{rows:,}", per_cent(share), interval_text(wilson(share, rows)), mark

        table = self.table
        shown = zip(self.group_names, table.accuracy.tolist(), table.total, strict=True)
        marks = ("worst" if place == table.worst_group else "" for place in range(table.n_groups))
        return [
            *(cells(*row, mark) for row, mark in zip(shown, marks, strict=True)),
            cells("all rows", table.average, table.rows, ""),
        ]

    def _notes(self) -> list[str]:
        totals = dict(zip(self.group_names, self.table.total, strict=True))
        notes = [f"No row given to fit was in group {name!r}, which has {totals[name]:,} here." for name in self.unseen]
        if len(self.unseen) == len(self.group_names) > 0:
            fitted = min(self.known)
            notes = [f"Fit was given none of these groups, but such as {fitted!r}: are the columns called alike?"]
        without = self.table.rows - sum(self.table.total)
        return notes + ([f"Rows in no group, as a value is missing: {without:,}."] if without else [])


def _html_row(tag: str, cells: Sequence[str], bold: bool = False) -> str:
    look = f"padding: 0.1em 0.6em; {'font-weight: bold; ' if bold else ''}"
    aligned = ["left", *["right"] * (len(cells) - 2), "left"]
    styled = zip(aligned, cells, strict=True)
    inside = (f'<{tag} style="{look}text-align: {side}">{escape(text)}</{tag}>' for side, text in styled)
    return f"<tr>{''.join(inside)}</tr>"
