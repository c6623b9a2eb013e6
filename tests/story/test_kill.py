"""A run killed at any moment and started again ends in the same bytes as one left alone."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

COMMAND = [
    *(sys.executable, "-m", "rmix.cli", "train", "moons", "rmix"),
    *("--epochs", "60", "--first.epochs", "40", "--dataset.test-size", "50"),
]


def start(out: Path) -> subprocess.Popen:
    return subprocess.Popen([*COMMAND, "--out", str(out)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def wait_for(out: Path, lines: int, process: subprocess.Popen) -> None:
    """Until the run has logged so many events; events tell the moment without a clock."""
    while process.poll() is None:
        logs = list(out.glob("runs/*/events.jsonl"))
        if logs and len(logs[0].read_text().splitlines()) >= lines:
            return
        time.sleep(0.002)


def outcome(out: Path) -> dict[str, bytes]:
    (run,) = (out / "runs").iterdir()
    return {name: (run / name).read_bytes() for name in ("result.json", "model.pt", "config.json")}


@pytest.mark.slow
def test_killed_runs_end_in_the_same_bytes(tmp_path):
    alone = start(tmp_path / "alone")
    said, _ = alone.communicate()
    assert alone.returncode == 0, said
    draw = random.Random(0)
    killed = tmp_path / "killed"
    stages_killed = 0
    for events in (12, 35, 70, 100):  # within stage one, twice, and within stage two, twice
        process = start(killed)
        wait_for(killed, events, process)
        time.sleep(draw.random() * 0.01)  # somewhere within an epoch, a checkpoint or an evaluation
        if process.poll() is None:
            os.kill(process.pid, signal.SIGKILL)
            stages_killed += 1
        process.communicate()
    last = start(killed)
    said, _ = last.communicate()
    assert last.returncode == 0, said
    assert stages_killed == 4
    assert "Going on after epoch" in said
    assert outcome(killed) == outcome(tmp_path / "alone")

    again = start(killed)  # a finished command says so, and shows the result
    said, _ = again.communicate()
    assert again.returncode == 0
    assert "ended before" in said
