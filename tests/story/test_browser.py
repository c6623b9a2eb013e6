"""The page in a real browser: it sorts, it fits a phone, it says nothing to the console."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from chromium import chromium, width
from test_reports_figures import NOTED, RIGHT, history, surfaced
from test_reports_summary import TWO, made

from rmix.metrics import GroupTable
from rmix.reports import write_page

RESULTS = [
    *NOTED,
    surfaced(RIGHT, method="mixup", history=history((9, 3))),
    made("iw", correct=None),
    made("a_method_of_a_long_name", settings={"capacity": 20}, correct=(10, 5)),
    made(
        dataset={"name": "many groups"},
        test=GroupTable([5] * 16, [10] * 16, 80, 160),
        group_names=tuple(f"other_religions_{g}, non-toxic" for g in range(16)),
        train_counts=(2695,) * 16,
    ),
    *TWO,
]


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    folder = tmp_path_factory.mktemp("browser")
    with chromium(folder) as driven:
        driven.get(write_page(RESULTS, folder / "page.html").as_uri())
        yield driven


def column(browser: Any, table: str, place: int) -> list[str]:
    rows = "[...document.querySelector(arguments[0]).tBodies[0].rows]"
    script = f"return {rows}.map(row => row.cells[arguments[1]].innerText)"
    return [text.split("\n")[0] for text in browser.execute_script(script, table, place)]


def press(browser: Any, table: str, place: int) -> str | None:
    """Click the heading of a column; how it is sorted then."""
    head = browser.find_element("css selector", f'{table} th[data-column="{place}"]')
    head.find_element("css selector", "button").click()
    sorted_as: str | None = head.get_attribute("aria-sort")
    return sorted_as


def test_tables_sort_by_number_with_the_unknown_last(browser):
    width(browser, 1200)
    assert press(browser, ".summary", 1) == "descending"  # the largest number first
    values = column(browser, ".summary", 1)
    assert values[-1] == "–"  # a failed run
    numbers = [float(text.split(" ")[0]) for text in values[:-1]]
    assert numbers == sorted(numbers, reverse=True)
    assert press(browser, ".summary", 1) == "ascending"
    assert [float(text.split(" ")[0]) for text in column(browser, ".summary", 1)[:-1]] == sorted(numbers)
    assert column(browser, ".summary", 1)[-1] == "–"
    assert press(browser, ".summary", 0) == "ascending"  # names from the beginning of the alphabet
    names = column(browser, ".summary", 0)
    assert names == sorted(names)


def test_every_column_sorts_what_it_heads(browser):
    script = """return [...document.querySelectorAll("table.sortable")].map(t => [
        [...t.querySelectorAll("th[data-column]")].map(h => Number(h.dataset.column)),
        t.tBodies[0].rows[0].cells.length])"""
    for places, n_cells in browser.execute_script(script):
        assert len(places) == len(set(places))
        assert set(range(n_cells)) - set(places) <= {5}  # the drawing has no heading to sort by
    numbers = column(browser, ".paired", 1)
    press(browser, ".paired", 1)
    assert column(browser, ".paired", 1) == sorted(numbers, key=lambda text: (text == "–", -_number(text)))


def _number(text: str) -> float:
    return 0.0 if text == "–" else float(text)


@pytest.mark.parametrize("pixels", [360, 390, 768, 1200])
def test_the_page_is_never_wider_than_the_window(browser, pixels):
    assert width(browser, pixels) <= pixels


def test_the_worst_group_is_in_sight_on_a_phone(browser):
    width(browser, 390)
    cell = browser.find_element("css selector", ".summary tbody tr:last-child td.worst b")
    assert cell.rect["x"] + cell.rect["width"] <= 390


def test_figures_and_tables_have_names(browser):
    for figure in browser.find_elements("css selector", "figure svg"):
        assert figure.aria_role in ("img", "image")
        assert len(figure.accessible_name) > 10
    for region in browser.find_elements("css selector", ".scroll"):
        assert region.accessible_name


def test_printed_it_is_whole(browser):
    import base64

    pdf = base64.b64decode(browser.execute_cdp_cmd("Page.printToPDF", {"printBackground": False})["data"])
    assert pdf.startswith(b"%PDF")
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    width(browser, 760)  # of A4 less its margins
    cut = "return [...document.querySelectorAll('.scroll')].filter(s => s.scrollWidth > 760).length"
    assert browser.execute_script(cut) == 0
    button = "return getComputedStyle(document.querySelector('th button')).display"
    assert browser.execute_script(button) == "contents"  # else the headings are missing from a table's second page
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


def test_the_console_stays_silent(browser):
    assert browser.get_log("browser") == []


def test_without_scripts_the_headings_are_plain_text(tmp_path: Path):
    text = write_page(TWO, tmp_path / "page.html").read_text(encoding="utf-8")
    assert "<button" not in text
