"""The page about scikit-learn runs, and says what it says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pages import ROOT, code_of, said_by

PAGE = ROOT / "docs" / "scikit_learn.md"


@pytest.mark.slow
def test_the_python_of_the_page_runs(tmp_path: Path) -> None:
    said = said_by(code_of(PAGE), tmp_path)
    erm, dro, both = (float(value) for value in re.findall(r"'select': True}: worst group (\d\.\d\d)", said))
    assert min(dro, both) > erm + 0.2
    assert re.search(r"all rows +1,000", said)
    assert "{'rmixclassifier__ratio': 10} worst group 0." in said
    assert said.endswith("True\n")
    assert list(tmp_path.iterdir()) == []  # what the page writes it takes away
