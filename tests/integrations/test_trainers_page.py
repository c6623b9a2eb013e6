"""The page about other people's trainers runs."""

import re
from pathlib import Path

import pytest
from pages import ROOT, before, blocks, code_of, said_by

PAGE = ROOT / "docs" / "trainers.md"


@pytest.mark.slow
def test_the_code_of_the_page_runs(tmp_path: Path) -> None:
    said = said_by(code_of(PAGE), tmp_path)
    assert len(re.findall(r"^(?:worst group|loss|right) \d\.\d\d$", said, flags=re.MULTILINE)) == 3


@pytest.mark.slow
def test_what_the_diff_starts_from_runs_without_rmix(tmp_path: Path) -> None:
    (diff,) = blocks(PAGE, "diff")
    plain = before(diff)
    assert [line for line in plain.splitlines() if "rmix" in line] == ["from rmix.datasets import FourMoons"]
    said_by(plain, tmp_path)
