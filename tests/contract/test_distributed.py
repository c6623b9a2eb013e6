"""Contract 12, with two real processes."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from subjects import SUBJECTS

from rmix.experiment.plain import to_plain
from rmix.testing.distributed import compare, one_process


def torchrun(*words: str) -> subprocess.CompletedProcess:
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", "-m", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=500)


@pytest.fixture(scope="module")
def left_by_two(tmp_path_factory: pytest.TempPathFactory) -> dict:
    folder = tmp_path_factory.mktemp("two")
    methods, left = folder / "methods.json", folder / "left.pt"
    methods.write_text(json.dumps({name: to_plain(method) for name, method in SUBJECTS.items()}))
    done = torchrun("rmix.testing.distributed", str(methods), str(left))
    assert done.returncode == 0, done.stderr[-3000:]
    return torch.load(left, weights_only=True)


@pytest.mark.slow
@pytest.mark.xdist_group("two processes")
@pytest.mark.parametrize("name", SUBJECTS)
def test_two_processes_train_as_one(left_by_two, name):
    assert compare(one_process(SUBJECTS[name]), left_by_two[name]) == []


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
