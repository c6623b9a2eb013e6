"""What MkDocs asks while it builds the site: which pages are made from the code, and where links out of docs/ lead."""

import os
import re
from pathlib import PurePosixPath
from typing import Any

from made import CARDS, COPIED, FILES, MADE, deviations
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

LINK = re.compile(r"(?<=\]\()(\.\.?/[^)#\s]*|\w[\w./]*\.(?:md|py))(#[^)\s]*)?(?=\))")
DEVIATIONS = re.compile(r"<!-- deviations -->.*<!-- /deviations -->", re.DOTALL)


def on_config(config: MkDocsConfig) -> None:
    """Sections of the navigation that are a folder get all of its pages."""
    decisions = sorted(os.listdir(os.path.join(config.docs_dir, "decisions")))
    pages = [*MADE, *(f"decisions/{name}" for name in decisions)]
    _extend(config.nav, pages)


def _extend(nav: Any, pages: list[str]) -> None:
    for item in nav:
        for below in item.values():
            if isinstance(below, list) and isinstance(below[0], str):
                folder = below[0].rpartition("/")[0]
                below += [page for page in pages if page.startswith(f"{folder}/") and page not in below]
            elif isinstance(below, list):
                _extend(below, pages)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """The pages that are made from the code join those of docs/."""
    for name, make in MADE.items():
        files.append(File.generated(config, name, content=make()))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Links that lead out of docs/, as a reader on the code's host needs them, lead to the page of that file."""
    source = page.file.src_uri
    start = COPIED.get(source, f"docs/{source}")
    markdown = DEVIATIONS.sub(lambda _: deviations(), markdown)
    return LINK.sub(lambda link: _led(link[1], link[2] or "", start, source), markdown)


def _led(link: str, anchor: str, start: str, page: str) -> str:
    goal = os.path.normpath(PurePosixPath(start).parent / link)
    if goal in CARDS:
        to, anchor = CARDS[goal], ""
    elif goal + anchor in FILES:
        to, anchor = FILES[goal + anchor], ""
    elif goal in FILES:
        to = FILES[goal]
    elif goal.startswith("docs/"):
        to = goal.removeprefix("docs/")
    else:
        raise PluginError(f"{start} leads to {goal}, which has no page; add it to FILES in docs/made.py.")
    return os.path.relpath(to, PurePosixPath(page).parent) + anchor
