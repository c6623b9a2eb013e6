"""No published number is left out: each case is named by a test beside it."""

from pathlib import Path
from typing import Any


def test_every_case_is_named_by_a_test(reference: dict[str, Any]) -> None:
    tests = "".join(path.read_text() for path in Path(__file__).parent.glob("test_*.py"))
    assert len(reference["cases"]) == 36
    assert [name for name in reference["cases"] if f'"{name}"' not in tests] == []
