"""A table of text, and the ways to write it."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.table import Table

NUMBER = "+-–0123456789"  # a line that starts so is not broken


@dataclass(frozen=True)
class TextTable:
    """Cells as text, the first ``n_words`` columns of which are words and the others numbers.

    Example:
        >>> print(TextTable("Sizes", "", ("Group", "Rows"), [("a|b", "7")], n_words=1).markdown(), end="")
        | Group | Rows |
        | --- | ---: |
        | a\\|b | 7 |
    """

    title: str
    caption: str
    headers: Sequence[str]
    rows: Sequence[Sequence[str]]
    n_words: int

    def markdown(self) -> str:
        """For a README or a notebook."""
        rule = ["---" if place < self.n_words else "---:" for place in range(len(self.headers))]
        lines = [self.headers, rule, *([for_markdown(cell) for cell in row] for row in self.rows)]
        return "".join(f"| {' | '.join(line)} |\n" for line in lines)

    def rich(self) -> Table:
        """For the terminal: the first column is said once, as a heading; numbers stay on one line, words may wrap."""
        from rich import box
        from rich.table import Table
        from rich.text import Text

        table = Table(title=self.title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, padding=0)
        for place, header in enumerate(self.headers[1:], start=1):
            if place < self.n_words:
                table.add_column(header.replace(" ", "\n"), overflow="fold")
            else:  # below a number there may be words
                lines = [line for row in self.rows for line in row[place].split("\n") if line[:1] in NUMBER]
                width = max(map(len, [*header.split(), *lines]))
                table.add_column("\n".join(header.rsplit(" ", 1)), justify="right", min_width=width)
        heading = None
        for first, *rest in self.rows:
            if first != heading:
                heading = first
                table.add_section()
                table.add_row(Text(first, style="bold", no_wrap=True, overflow="ignore"))
            table.add_row(*map(Text, rest))
        return table

    def latex(self) -> str:
        """A plain table with the rules of booktabs."""
        lines = [" & ".join(map(for_latex, cells)) + r" \\" for cells in (self.headers, *self.rows)]
        aligned = "l" * self.n_words + "r" * (len(self.headers) - self.n_words)
        body = [r"\toprule", lines[0], r"\midrule", *lines[1:], r"\bottomrule"]
        return "\n".join([rf"\begin{{tabular}}{{{aligned}}}", *body, r"\end{tabular}", ""])


def csv_text(frame: Mapping[str, Sequence[Any]]) -> str:
    """Columns as CSV: numbers in full, what is unknown empty, the same on every system.

    Example:
        >>> csv_text({"method": ["erm"], "worst": [0.5], "std": [float("nan")]})
        'method,worst,std\\nerm,0.5,\\n'
    """
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(frame)
    writer.writerows([_for_csv(value) for value in row] for row in zip(*frame.values(), strict=True))
    return file.getvalue()


def _for_csv(value: Any) -> Any:
    return "" if value is None or (isinstance(value, float) and isnan(value)) else value


def for_markdown(text: str) -> str:
    """Names that would end the cell or be read as HTML, made harmless."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace("|", "\\|").replace("\n", " ")


LATEX = {
    "\\": r"\textbackslash{}",
    **{sign: "\\" + sign for sign in "&%$#_{}"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "±": r"$\pm$",
    "–": "--",
    "←": r"$\leftarrow$",
    "χ": r"$\chi$",
}


def for_latex(text: str) -> str:
    """Names with the signs of LaTeX made harmless.

    Example:
        >>> for_latex("group_dro & 50 %")
        'group\\\\_dro \\\\& 50 \\\\%'
    """
    return "".join(LATEX.get(sign, sign) for sign in text)
