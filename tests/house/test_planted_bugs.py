"""Every planted bug is caught, and every clause of the contract of methods has caught one."""

import re

import pytest
from plant_bugs import BUGS, ROOT, plant_all

from rmix.testing import METHOD_CONTRACTS


@pytest.mark.slow
def test_every_planted_bug_is_caught():
    assert {name: fate for name, fate in plant_all(BUGS).items() if fate != "caught"} == {}


def test_every_bug_still_has_its_line():
    stale = [bug.name for bug in BUGS if bug.old not in (ROOT / "src" / "rmix" / bug.file).read_text()]
    assert stale == []


def test_every_number_of_the_contract_has_a_bug():
    numbers = {clause[:2] for clause in METHOD_CONTRACTS}
    planted = {match[1] for bug in BUGS if (match := re.search(r"test_method\[(\d\d)_", bug.test))}
    assert numbers - planted <= {"02"}  # 02 is planted against the test in a fresh process
