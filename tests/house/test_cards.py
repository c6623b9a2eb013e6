"""What a card says a method costs is what the benchmarks measured."""

import re

import pytest
from readme_table import README

from rmix.methods import METHODS
from rmix.methods.cards import card

BENCHMARKS = (README.parent / "docs" / "benchmarks.md").read_text()
MEASURED = {name: float(ratio) for name, ratio in re.findall(r"`(\w+)` \| (\d\.\d+)", BENCHMARKS)}


@pytest.mark.parametrize("name", [name for name in METHODS if name != "erm"])
def test_the_cost_in_a_card_is_that_of_the_benchmarks(name):
    said = re.search(r"Measured: ([\d.]+) of an ERM update", card(METHODS[name])["Cost"])
    assert said, "every card but that of ERM says it"
    assert float(said[1]) == pytest.approx(MEASURED[name], abs=0.1)  # from run to run
