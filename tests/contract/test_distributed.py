"""Contract 12, with two real processes."""

import subprocess
import sys
from pathlib import Path

import pytest
import torch

from rmix.methods import METHODS
from rmix.testing.distributed import compare, one_process


def torchrun(*words: str) -> subprocess.CompletedProcess:
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", "-m", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=500)


@pytest.fixture(scope="module")
def left_by_two(tmp_path_factory: pytest.TempPathFactory) -> dict:
    file = tmp_path_factory.mktemp("two") / "left.pt"
    done = torchrun("rmix.testing.distributed", str(file))
    assert done.returncode == 0, done.stderr[-3000:]
    return torch.load(file, weights_only=True)


@pytest.mark.slow
@pytest.mark.xdist_group("two processes")
@pytest.mark.parametrize("name", METHODS)
def test_two_processes_train_as_one(left_by_two, name):
    method = METHODS[name]()
    assert compare(one_process(method), left_by_two[repr(method)]) == []


@pytest.mark.slow
@pytest.mark.xdist_group("two processes")
def test_the_command_line_runs_in_two_processes_and_one_writes(tmp_path: Path):
    words = ["moons", "rmix", "--epochs", "3", "--first.epochs", "2", "--dataset.test-size", "20"]
    done = torchrun("rmix.cli", "train", *words, "--out", str(tmp_path))
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.count("← worst") == 1
    (run,) = (tmp_path / "runs").iterdir()
    events = (run / "events.jsonl").read_text().splitlines()
    assert len(events) == 1 + 2 + 5 + 1  # start, stages, epochs, end: written once
