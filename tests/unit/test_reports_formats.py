"""The same numbers in every format, and the same bytes each time."""

from __future__ import annotations

import csv as reader
import io

import pytest
from test_reports_summary import TWO, made, ungrouped

from rmix.errors import UnknownNameError
from rmix.reports.formats import FORMATS, Asked, csv, markdown, terminal
from rmix.reports.latex import latex
from rmix.reports.text_table import TextTable, csv_text

# means of average, worst, gap: erm 73.3 55.0 18.3; iw 80.0 60.0 20.0; mixup 93.3 90.0 3.3; a 66.7 50.0 16.7
FOUR = [*TWO, made("iw", correct=(9, 3)), made("mixup", correct=(9, 5)), made("a_1", correct=(5, 5))]


def line_of(method: str) -> list[str]:
    (line,) = (line for line in latex(FOUR).splitlines() if line.startswith(method + " "))
    return line.removesuffix(r" \\").split(" & ")


def test_latex_marks_the_best_three_of_each_column() -> None:
    best, next_ = r"\textcolor{blue}{\textbf{%s}}", r"\textcolor{brown}{\textbf{%s}}"
    assert line_of("mixup") == ["mixup", "oblivious", best % "93.3", best % "90.0", best % "3.3"]
    assert line_of("iw") == ["iw", "aware", next_ % "80.0", next_ % "60.0", "20.0"]  # the largest gap is the last
    erm = [next_ % "73.3$_{(9.4)}$", next_ % "55.0$_{(7.1)}$", next_ % "18.3"]
    assert line_of("erm") == ["erm", "oblivious", *erm]
    assert line_of(r"a\_1") == [r"a\_1", "oblivious", "66.7", "50.0", next_ % "16.7"]


def test_latex_of_few_methods_marks_the_best_alone() -> None:
    assert "brown" not in latex(FOUR[:3])
    assert r"\textcolor{blue}{\textbf{80.0}}" in latex(FOUR[:3])


def test_latex_puts_data_sets_side_by_side() -> None:
    other = made(dataset={"name": "b&w"}, correct=(10, 5))
    plain = ungrouped()
    text = latex([*TWO, made("iw"), other, made("erm", dataset={"name": "flat"}, group_names=(), test=plain.test)])
    assert r"\multicolumn{3}{c|}{toy} & \multicolumn{3}{c|}{b\&w} & \multicolumn{1}{c|}{flat}" in text
    assert r"\begin{tabular}{lc|ccc|ccc|c|}" in text
    (iw,) = (line for line in text.splitlines() if line.startswith("iw"))
    assert iw.endswith("-- & -- & -- & -- \\\\")  # was not run on the others
    assert text.count("{") == text.count("}")


def test_a_plain_latex_table_escapes_names() -> None:
    text = TextTable("t", "c", ("A", "B"), [("x_1 & 50 %", "1 ± 2")], n_words=1).latex()
    assert r"x\_1 \& 50 \% & 1 $\pm$ 2 \\" in text
    assert text.startswith("\\begin{tabular}{lr}\n\\toprule\nA & B")


def test_csv_can_be_read_back_exactly() -> None:
    rows = list(reader.DictReader(io.StringIO(csv(Asked(TWO)))))
    assert float(rows[0]["worst"]) == (0.6 + 0.5) / 2
    assert rows[0]["method"] == "erm"
    assert csv_text({"a": ["x,y", None], "b": [0.1, float("nan")]}) == 'a,b\n"x,y",0.1\n,\n'


@pytest.mark.parametrize(("table", "n_lines"), [("summary", 4), ("groups", 8), ("paired", 3), ("runs", 15)])
def test_every_table_has_a_csv(table: str, n_lines: int) -> None:
    assert len(csv(Asked(FOUR, table=table)).splitlines()) == 1 + n_lines


def test_an_unknown_table_is_named() -> None:
    with pytest.raises(UnknownNameError, match=r"No table named 'group'. Did you mean 'groups'"):
        csv(Asked(TWO, table="group"))


def test_markdown_has_a_heading_a_table() -> None:
    text = markdown(Asked(FOUR, title="Mine"))
    assert text.startswith("# Mine\n\n## Test accuracy")
    assert text.count("\n## ") == 3
    assert "| toy | mixup | erm |" in text
    assert markdown(Asked([ungrouped()])).count("\n## ") == 1  # no groups, nothing to compare


def test_the_terminal_shows_the_same_tables() -> None:
    assert len(terminal(Asked(FOUR))) == 3
    assert len(terminal(Asked([ungrouped()]))) == 1


@pytest.mark.parametrize("name", FORMATS)
def test_same_results_same_text(name: str) -> None:
    assert FORMATS[name](Asked(FOUR)) == FORMATS[name](Asked(FOUR))
