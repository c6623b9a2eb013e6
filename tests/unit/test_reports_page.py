"""The page: self-contained, the same bytes each time, and readable without seeing."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from importlib import resources
from pathlib import Path
from xml.etree import ElementTree

import pytest
from test_reports_figures import NOTED, RIGHT, history, surfaced
from test_reports_summary import TWO, made, ungrouped

from rmix import train
from rmix.errors import InvalidValueError
from rmix.experiment.result import Result
from rmix.metrics import GroupTable
from rmix.reports import write_page
from rmix.reports.page import best_of, close_to, in_tables, page
from rmix.reports.series import by_dataset
from rmix.reports.summary import Summary

EVERYTHING = [*NOTED, surfaced(RIGHT, method="mixup", history=history((9, 3))), made("iw", correct=None), *TWO]


class Tags(HTMLParser):
    """All start tags of a page with their attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


@pytest.fixture(scope="module")
def text() -> str:
    return page(EVERYTHING, "A title")


def svgs(text: str) -> list[ElementTree.Element]:
    return [ElementTree.fromstring(found) for found in re.findall(r"<svg.*?</svg>", text, re.DOTALL)]


def test_every_figure_has_a_text_alternative(text: str) -> None:
    space = "{http://www.w3.org/2000/svg}"
    figures = svgs(text)
    assert len(figures) == 5  # groups, curves, training accuracy, uncertainty, boundary
    for figure in figures:
        assert figure.get("role") == "img"
        named = [figure.find(f"{space}title"), figure.find(f"{space}desc")]
        assert figure.get("aria-labelledby") == " ".join(str(part.get("id")) for part in named if part is not None)
        assert all(part is not None and part.text for part in named)


def test_nothing_is_fetched(text: str) -> None:
    addresses = [
        value for _, attrs in Tags(text).found for key, value in attrs.items() if key.split(":")[-1] in ("href", "src")
    ]
    assert addresses
    assert all(str(value).startswith(("#", "data:image/png;base64,")) for value in addresses)
    without_namespaces = re.sub(r'xmlns(:\w+)?="[^"]*"|src="data:', "", text)
    for word in ("http", "src=", "fetch(", "@import", "<link", "url(h"):
        assert word not in without_namespaces


def test_ids_are_unique_and_references_lead_somewhere(text: str) -> None:
    ids = [attrs["id"] for _, attrs in Tags(text).found if "id" in attrs]
    assert len(ids) == len(set(ids))
    assert set(re.findall(r'(?:url\(#|href="#)([^")]+)', text)) <= set(ids)


def test_names_are_escaped() -> None:
    evil = made("<b>&x", group_names=("<i>", "a & b"), history=history((9, 3)))
    text = page([evil, made()], "<title> & more")
    assert "<h1>&lt;title&gt; &amp; more</h1>" in text
    assert "&lt;b&gt;&amp;x" in text
    assert "&lt;i&gt;" in text
    assert not re.search(r"<b>&x|<b><|<i>|<title> ", text)
    assert len(svgs(text)) == 2  # well-formed


def test_numbers_labels_and_settings_are_on_the_page(text: str) -> None:
    for words in (
        "73.3 ± 9.4",
        "72.5 ± 14.1",
        "55.0 ± 7.1",
        "18.3 ± 2.4",
        "training.lr=0.1",
        "30 train (75.0 %)",
        "10 test",
    ):
        assert words in text


def test_failed_runs_are_said(text: str) -> None:
    assert "Runs that failed" in text
    assert "<b>iw</b>, seed 0: The loss became nan." in text
    assert "0 (1 failed)" in text
    assert "Runs that failed" not in page(TWO, "t")


def test_one_seed_shows_no_spread() -> None:
    shown = page([made()], "t")
    assert not re.search(r"\d ± \d", shown)


def test_without_groups_the_average_is_shown_alone() -> None:
    shown = page([ungrouped(), ungrouped(1)], "t")
    assert "60.0 ± 0.0" in shown
    assert "Accuracy of each group" not in shown
    assert "nan" not in shown.replace("The loss became nan", "")


def test_no_results_are_refused() -> None:
    with pytest.raises(InvalidValueError, match="at least one result"):
        page([], "t")


def test_the_best_is_named_with_those_close_to_it() -> None:
    rows = Summary(
        [
            *(made("iw", seed, (10, right)) for seed, right in enumerate((4, 5))),  # 0.8 and 1.0: 0.9 ± 0.14
            *(made("rmix", seed, (8, 5)) for seed in (0, 1)),  # 0.8 ± 0: 0.1 below, less than 0.14
            *(made("erm", seed, (5, 5)) for seed in (0, 1)),  # 0.5
        ]
    ).rows
    best = best_of(rows)
    assert best is rows[0]
    assert close_to(best, rows) == ["rmix"]
    assert best_of(rows[:1]) is None  # nothing to choose from


@pytest.mark.parametrize(("groups", "widths"), [(0, []), (1, [1]), (5, [5]), (6, [3, 3]), (16, [4, 4, 4, 4])])
def test_many_groups_take_several_tables(groups: int, widths: list[int]) -> None:
    columns = list(range(groups))
    tables = in_tables(columns)  # type: ignore[arg-type]
    assert [len(table) for table in tables] == widths
    assert [column for table in tables for column in table] == columns


def test_every_group_of_many_is_on_the_page() -> None:
    names = tuple(f"group {g}" for g in range(8))
    many = made(test=GroupTable([1] * 8, [2] * 8, 8, 16), group_names=names, train_counts=(5,) * 8)
    shown = page([many], "t")
    assert [shown.count(f"<b>{name}</b>") for name in names] == [1] * 8
    assert shown.count('class="sortable groups"') == 2
    assert 'aria-label="Groups of toy, 2 of 2"' in shown


def test_the_page_says_which_settings_were_searched_for() -> None:
    tuned = made("rmix", tuned={"trials": 20, "rule": "worst_group", "settings": {"eta": 3.0}})
    shown = page([tuned, made("iw")], "t")
    assert shown.count("best of 20 trials by worst_group on validation") == 1


def test_results_are_split_by_data_set() -> None:
    results = [made(), made(dataset={"name": "other"}), made("iw")]
    assert {name: [r.method for r in of] for name, of in by_dataset(results).items()} == {
        "toy": ["erm", "iw"],
        "other": ["erm"],
    }


def test_same_results_same_bytes_in_another_process(tmp_path: Path, text: str) -> None:
    for place, result in enumerate(EVERYTHING):
        (tmp_path / f"{place}.json").write_text(result.to_json())
    program = (
        "import sys; from pathlib import Path\n"
        "from rmix.experiment.result import Result; from rmix.reports import write_page\n"
        "assert not {'torch', 'matplotlib', 'sklearn'} & set(sys.modules)\n"
        f"files = [Path({str(tmp_path)!r}) / f'{{i}}.json' for i in range({len(EVERYTHING)})]\n"
        f"write_page([Result.from_json(f.read_text()) for f in files], {str(tmp_path / 'page.html')!r}, 'A title')\n"
        "assert 'matplotlib.pyplot' not in sys.modules\n"
    )
    environment = os.environ | {"PYTHONHASHSEED": "7", "SOURCE_DATE_EPOCH": "1"}
    subprocess.run([sys.executable, "-c", program], check=True, env=environment)
    assert (tmp_path / "page.html").read_bytes() == text.encode()


def test_a_real_run_makes_a_whole_page(tmp_path: Path) -> None:
    run = train("moons", "rmix", training={"epochs": 2}).result
    path = write_page([run], tmp_path / "report.html")
    shown = path.read_text(encoding="utf-8")
    assert [title in shown for title in ("Worst-group", "Training acc", "Uncertainty", "Decision")] == [True] * 4
    assert "data:image/png;base64," in shown  # the points of the large groups
    again = Result.from_json(run.to_json())
    assert write_page([again], tmp_path / "again.html").read_bytes() == path.read_bytes()


def test_the_template_is_part_of_the_package() -> None:
    assert (resources.files("rmix.reports") / "templates" / "page.html.j2").is_file()
