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


# Pinned from our own run, to what holds on any machine: every number in the benchmarks rests on these rows.
PINNED = {
    "moons": {
        "train": ([600, 600, 8, 8], 0.00464, 1.34674, [-0.9252, 0.7354]),
        "valid": ([100] * 4, -0.01148, 1.31531, [-1.7196, 1.3733]),
        "test": ([500] * 4, 0.01524, 1.35162, [-2.2361, -0.0811]),
    },
    "digits": {
        "train": ([463, 30, 25, 482], 0.27920, 0.90565, [-0.4276, -0.4276]),
        "valid": ([190] * 4, 0.27774, 0.90453, [-0.9129, -0.9129]),
        "test": ([190] * 4, 0.27568, 0.91314, [0.5142, 0.5142]),
    },
}


@pytest.mark.parametrize(("name", "split"), [(name, split) for name in PINNED for split in PINNED[name]])
def test_the_rows_are_those_of_the_benchmarks(name, split):
    rows = EMBEDDED[name].load().splits[split]
    sizes, mean, spread, first = PINNED[name][split]
    assert rows.member(4).sum(0).tolist() == sizes
    x = rows.x.double()
    assert [x.mean().item(), x.std().item()] == pytest.approx([mean, spread], abs=1e-5)
    assert x[0].flatten()[:2].tolist() == pytest.approx(first, abs=1e-4)


def test_a_seed_of_the_data_changes_them():
    assert FourMoons(seed=0).load().checksum != FourMoons(seed=1).load().checksum
    assert DigitsOnBackgrounds(seed=0).load().checksum != DigitsOnBackgrounds(seed=1).load().checksum
