"""Every example runs, and prints a number."""

import re

import pytest
from pages import ROOT, said_by

EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


@pytest.mark.slow
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)
def test_example(path, tmp_path):
    assert re.search(r"\d\.\d", said_by(path, tmp_path))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)
def test_examples_are_short(path):
    assert len(path.read_text().splitlines()) < 60


def test_every_example_is_listed():
    text = (ROOT / "examples" / "README.md").read_text()
    assert [path.name for path in EXAMPLES if f"]({path.name})" not in text] == []
