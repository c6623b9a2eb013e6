"""The site builds without a warning, every method has a page, and a reader needs no network."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cached_property
from html.parser import HTMLParser
from pathlib import Path
from time import monotonic, sleep
from urllib.parse import unquote, urlsplit

import pytest
from chromium import chromium, width
from pages import ROOT

import rmix
from rmix.datasets import DATASETS
from rmix.methods import METHODS
from rmix.methods.cards import card

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("site")]
LOADED = {("script", "src"), ("img", "src"), ("iframe", "src"), ("source", "src"), ("link", "href")}
NOT_LOADED = {"canonical", "prev", "next", "alternate"}  # links that a browser does not follow by itself


class Html(HTMLParser):
    """What a page loads, where it leads, and what can be led to."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path, self.loads, self.leads, self.anchors = path, [], [], {""}
        self.feed(path.read_text())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.anchors |= {given.get("id", ""), given.get("name", "")}
        if tag == "a" and "href" in given:
            self.leads.append(given["href"])
        if given.get("rel") not in NOT_LOADED:
            self.loads += [value for name, value in given.items() if (tag, name) in LOADED]


class Site:
    """The site, built from the working tree."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
        quiet = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
        done = subprocess.run(command, cwd=ROOT, env=quiet, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[-2000:]

    @cached_property
    def pages(self) -> dict[Path, Html]:
        return {path: Html(path) for path in sorted(self.folder.rglob("*.html")) if path.name != "404.html"}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    return Site(tmp_path_factory.mktemp("site"))


def test_every_method_and_data_set_has_its_card(site: Site) -> None:
    methods = {path.stem for path in (site.folder / "methods").glob("*.html")}
    assert methods == {*METHODS, "index"}
    assert set(DATASETS) <= site.pages[site.folder / "datasets.html"].anchors


def test_every_public_name_has_an_entry(site: Site) -> None:
    shown = site.pages[site.folder / "reference" / "rmix.html"].anchors
    by_card = {cls.__name__ for cls in METHODS.values()}
    assert {name for name in rmix.__all__ if name[0] != "_" and f"rmix.{name}" not in shown} <= by_card
    assert {f"rmix.RMixClassifier.{name}" for name in ("fit", "predict", "report", "save")} <= shown  # inherited


def test_every_deviation_is_listed(site: Site) -> None:
    deviating = {name for name, cls in METHODS.items() if card(cls)["Deviations"] != "None."}
    assert deviating <= site.pages[site.folder / "faithful.html"].anchors


def test_nothing_is_loaded_from_elsewhere(site: Site) -> None:
    elsewhere = {
        (path.name, link)
        for path, page in site.pages.items()
        for link in page.loads
        if urlsplit(link).scheme not in ("", "data") or urlsplit(link).netloc
    }
    assert elsewhere == set()
    styles = "".join(path.read_text() for path in site.folder.rglob("*.css"))
    assert "@import" not in styles
    assert "url(http" not in styles


def test_every_link_leads_somewhere(site: Site) -> None:
    broken = []
    for path, page in site.pages.items():
        for link in page.leads + page.loads:
            to = urlsplit(link)
            if to.scheme:
                continue
            goal = Path(os.path.normpath(path.parent / unquote(to.path))) if to.path else path
            there = site.pages.get(goal)
            if not goal.exists() or (there and unquote(to.fragment) not in there.anchors):
                broken.append((path.name, link))
    assert broken == []


def test_it_reads_and_searches_from_disk_on_a_phone(site: Site, tmp_path: Path) -> None:
    wide = []
    with chromium(tmp_path) as browser:
        for name in ("index", "benchmarks", "theory", "choosing", "methods/index", "methods/rmix", "reference/rmix"):
            browser.get((site.folder / f"{name}.html").as_uri())
            wide += [name] if width(browser, 390) > 390 else []
        width(browser, 1280)
        browser.find_element("css selector", "input.md-search__input").send_keys("lisa")
        found = "return [...document.querySelectorAll('.md-search-result__link')].map(link => link.pathname)"
        until = monotonic() + 30
        while not (paths := browser.execute_script(found)) and monotonic() < until:
            sleep(0.1)
        said = [entry["message"] for entry in browser.get_log("browser")]
    assert (wide, said) == ([], [])
    assert any(path.endswith("/methods/lisa.html") for path in paths)


def test_nothing_else_is_published(site: Site) -> None:
    assert {path.suffix for path in site.folder.rglob("*")} & {".py", ".md"} == set()
