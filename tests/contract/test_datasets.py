"""Every data set keeps its contract; of those that must be downloaded, the card."""

import subprocess
import sys

import pytest

from rmix.datasets import DATASETS, DigitsOnBackgrounds, FourMoons
from rmix.testing import check_card, check_dataset

EMBEDDED = {"moons": FourMoons(), "digits": DigitsOnBackgrounds()}


@pytest.mark.parametrize("name", EMBEDDED)
def test_embedded_dataset(name):
    check_dataset(EMBEDDED[name])


@pytest.mark.parametrize("name", DATASETS)
def test_card(name):
    check_card(DATASETS[name]())


def test_a_fresh_process_loads_the_same_bits():
    program = "from rmix.datasets import DATASETS; print(*(DATASETS[n]().load().checksum for n in {}))"
    command = [sys.executable, "-c", program.format(list(EMBEDDED))]
    there = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert there == [dataset.load().checksum for dataset in EMBEDDED.values()]


def test_a_seed_of_the_data_changes_them():
    assert FourMoons(seed=0).load().checksum != FourMoons(seed=1).load().checksum
    assert DigitsOnBackgrounds(seed=0).load().checksum != DigitsOnBackgrounds(seed=1).load().checksum
