"""The table of the paper: methods below each other, data sets side by side, the best three marked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import isnan

from rmix.experiment.result import Result
from rmix.reports.estimate import Estimate, per_cent
from rmix.reports.summary import Row, Summary
from rmix.reports.text_table import for_latex

MEASURES = {"average": (r"Avg.$_{(\uparrow)}$", 1), "worst": (r"Worst$_{(\uparrow)}$", 1)}
GAP = {"gap": (r"Gap$_{(\downarrow)}$", -1)}  # less is better
BEST, NEXT = "blue", "brown"


@dataclass(frozen=True)
class Column:
    """One measure on one data set; ``sign`` is -1 where less is better."""

    dataset: str
    head: str
    sign: int
    cells: dict[str, Estimate]  # method -> what it reached

    def written(self, method: str, marked: int) -> str:
        """A cell as the paper writes it, in colour where it is among the best ``marked`` values."""
        of = self.cells.get(method)
        if of is None or isnan(of.mean):
            return "--"
        text = per_cent(of.mean)
        if self.head != GAP["gap"][0] and not isnan(of.std):  # the paper's gaps have no deviation
            text += f"$_{{({per_cent(of.std)})}}$"
        place = self.best.index(per_cent(of.mean))
        if place >= marked:
            return text
        return rf"\textcolor{{{NEXT if place else BEST}}}{{\textbf{{{text}}}}}"

    @property
    def best(self) -> list[str]:
        """The values as written, best first; equal ones share a place."""
        known = sorted({per_cent(of.mean) for of in self.cells.values() if not isnan(of.mean)}, key=float)
        return known[:: -self.sign]


def latex(results: Iterable[Result], caption: str = "") -> str:
    """The table in LaTeX, with the packages it needs in a comment; the same results give the same text.

    Args:
        results: runs of any methods on any data sets.
        caption: what stands below the paper's own words about the numbers.
    """
    rows = Summary(results).rows
    methods = {row.series.method: row for row in rows}
    columns = [column for dataset in _names(rows) for column in _columns(dataset, rows)]
    marked = 3 if len(methods) > 3 else 1
    lines = [
        r"% needs \usepackage{booktabs} and \usepackage{xcolor}",
        r"\begin{table*}[!htbp]",
        r"\centering",
        rf"\caption{{{_caption(marked)}{' ' * bool(caption)}{for_latex(caption)}}}",
        *_head(columns),
        r"\midrule",
    ]
    for method, row in methods.items():
        cells = [for_latex(method), setting_of(row), *(column.written(method, marked) for column in columns)]
        lines.append(" & ".join(cells) + r" \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", r"\end{table*}", ""])


def setting_of(row: Row) -> str:
    """The paper's word for whether group labels of the training rows were read."""
    return "aware" if row.fit == "yes" else "oblivious"


def _names(rows: Sequence[Row]) -> list[str]:
    return list(dict.fromkeys(row.series.dataset for row in rows))


def _columns(dataset: str, rows: Iterable[Row]) -> list[Column]:
    """Average, worst and gap; the average alone where there are no groups."""
    of = {row.series.method: row for row in rows if row.series.dataset == dataset}
    grouped = any(row.series.first.group_names for row in of.values())
    measures = MEASURES | GAP if grouped else {"average": MEASURES["average"]}
    return [
        Column(dataset, head, sign, {method: getattr(row, measure) for method, row in of.items()})
        for measure, (head, sign) in measures.items()
    ]


def _head(columns: Sequence[Column]) -> list[str]:
    names = dict.fromkeys(column.dataset for column in columns)
    widths = {name: sum(column.dataset == name for column in columns) for name in names}
    over = [rf"\multicolumn{{{width}}}{{c|}}{{{for_latex(name)}}}" for name, width in widths.items()]
    aligned = "lc|" + "".join("c" * width + "|" for width in widths.values())
    return [
        rf"\begin{{tabular}}{{{aligned}}}",
        r"\toprule",
        " & ".join(["Method", "Setting", *over]) + r" \\",
        " & ".join(["", "", *(column.head for column in columns)]) + r" \\",
    ]


def _caption(marked: int) -> str:
    words = "Test accuracy in per cent: mean and, in parentheses, standard deviation over seeds."
    words += r" Best in \textcolor{blue}{\textbf{blue}}"
    return words + (r", second and third in \textcolor{brown}{\textbf{brown}}." if marked > 1 else ".")
