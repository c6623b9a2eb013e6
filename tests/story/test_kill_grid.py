"""A grid or a worker killed at any moment, here or on a cluster: the store ends in the same bytes."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

DATA = ["--dataset.test-size", "50", "--dataset.sizes", "300", "300", "8", "8"]
GRID = ["--methods", "erm", "rmix", "jtt", "--seeds", "2", "--epochs", "25", "--first.epochs", "10", *DATA]
EVENTS = 6 * 27 + 4 * 11  # start, stage, epochs, end of six runs; stage and epochs of the first stages of four


def start(out: Path, *words: str) -> subprocess.Popen[str]:
    """The grid, in a group of processes of its own: a kill of the group leaves no worker."""
    command = [sys.executable, "-m", "rmix.cli", "compare", "moons", *GRID, *(words or ("--jobs", "2"))]
    pipe = subprocess.PIPE
    return subprocess.Popen(
        [*command, "--out", str(out)],
        stdout=pipe,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
        preexec_fn=hears_ctrl_c,
    )


def hears_ctrl_c() -> None:
    """A test run in the background of a shell ignores Ctrl-C, and so would all that it starts."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def finished(process: subprocess.Popen[str]) -> str:
    said, _ = process.communicate(timeout=300)
    assert process.returncode == 0, said
    return said


def events(out: Path) -> int:
    return sum(path.read_text().count("\n") for path in out.glob("runs/*/events.jsonl"))


def wait_for(out: Path, count: int, process: subprocess.Popen[str]) -> None:
    """Until so many events were logged; events tell the moment without a clock."""
    while process.poll() is None and events(out) < count:
        time.sleep(0.005)
    assert process.poll() is None, process.communicate()[0]


def outcome(out: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(out)): path.read_bytes()
        for name in ("result.json", "model.pt", "config.json")
        for path in out.glob(f"runs/*/{name}")
    }


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """What a grid leaves that nobody disturbs."""
    out = tmp_path_factory.mktemp("alone")
    said = finished(start(out))
    assert said.count(" on validation") == 6
    assert events(out) <= EVENTS
    found = outcome(out)
    assert len(found) == 3 * 6
    return found


@pytest.mark.slow
@pytest.mark.xdist_group("kills")
def test_a_killed_grid_ends_in_the_same_bytes(alone: dict[str, bytes], tmp_path: Path) -> None:
    draw = random.Random(0)
    for share in (0.1, 0.4, 0.7):
        process = start(tmp_path)
        wait_for(tmp_path, int(share * EVENTS), process)
        time.sleep(draw.random() * 0.02)  # somewhere within an epoch, a checkpoint or an evaluation
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        assert len(list(tmp_path.glob("runs/*/result.json"))) < 6
    finished(start(tmp_path))
    assert outcome(tmp_path) == alone
    again = finished(start(tmp_path))
    assert "All 6 runs had ended before" in again


@pytest.mark.slow
@pytest.mark.xdist_group("kills")
def test_two_grids_in_one_store_at_once(alone: dict[str, bytes], tmp_path: Path) -> None:
    both = [start(tmp_path, "--jobs", "1") for _ in range(2)]
    for process in both:
        finished(process)
    assert outcome(tmp_path) == alone
    logs = [path.read_text() for path in tmp_path.glob("runs/*/events.jsonl")]
    assert [log.count('"start"') for log in logs] == [1] * 6  # no run was trained twice
    assert sum(log.count('"stage": "notes", "epochs": 10, "reused": false') for log in logs) == 2  # a stage a seed


def is_running(pid: int) -> bool:
    """Whether it is more than an entry that nobody has asked for yet."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def workers_of(process: subprocess.Popen[str]) -> list[int]:
    """Those of its children that train."""
    path = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    children = [int(word) for word in path.read_text().split()]
    return [pid for pid in children if "popen_loky" in Path(f"/proc/{pid}/cmdline").read_text()]


@pytest.mark.slow
@pytest.mark.xdist_group("kills")
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="looks for workers in /proc")
def test_a_killed_worker_is_replaced(alone: dict[str, bytes], tmp_path: Path) -> None:
    process = start(tmp_path)
    wait_for(tmp_path, EVENTS // 3, process)
    workers = workers_of(process)
    assert len(workers) == 2
    os.kill(workers[0], signal.SIGKILL)
    finished(process)
    assert outcome(tmp_path) == alone


@pytest.mark.slow
@pytest.mark.xdist_group("kills")
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="looks for workers in /proc")
def test_workers_stop_when_their_grid_is_killed(tmp_path: Path) -> None:
    process = start(tmp_path, "--jobs", "2", "--epochs", "100000")
    wait_for(tmp_path, 20, process)
    workers = workers_of(process)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    deadline = time.monotonic() + 60
    while left := [pid for pid in workers if is_running(pid)]:
        assert time.monotonic() < deadline, left
        time.sleep(0.05)


@pytest.mark.slow
@pytest.mark.xdist_group("kills")
def test_ctrl_c_ends_with_a_sentence(tmp_path: Path) -> None:
    process = start(tmp_path, "--jobs", "2", "--epochs", "100000")
    wait_for(tmp_path, 20, process)
    os.killpg(process.pid, signal.SIGINT)
    try:
        said, _ = process.communicate(timeout=60)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode == 130, said
    assert said.strip().endswith("rmix: stopped; the same command goes on from the last finished epoch.")
    assert "Traceback" not in said


@contextmanager
def cluster(folder: Path) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """A Dask scheduler and two workers, each a process of its own."""
    address = folder / "scheduler.json"
    common = ["--scheduler-file", str(address), "--no-dashboard"]
    dask = [sys.executable, "-m", "dask"]
    with (folder / "cluster.log").open("wb") as log:
        processes = [subprocess.Popen([*dask, "scheduler", *common, "--port", "0"], stdout=log, stderr=log)]
        while not address.exists() or not address.read_text().endswith("}"):
            assert processes[0].poll() is None, (folder / "cluster.log").read_text()
            time.sleep(0.05)
        worker = [*dask, "worker", *common, "--nthreads", "1", "--no-nanny"]
        processes += [subprocess.Popen(worker, stdout=log, stderr=log) for _ in range(2)]
        try:
            yield json.loads(address.read_text())["address"], processes[1:]
        finally:
            for process in processes:
                process.kill()
                process.wait()


@pytest.mark.slow
@pytest.mark.xdist_group("kills")
def test_a_cluster_that_loses_a_worker_ends_in_the_same_bytes(alone: dict[str, bytes], tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    store = tmp_path / "store"
    with cluster(tmp_path) as (address, workers):
        process = start(store, "--executor", "dask", "--scheduler", address)
        wait_for(store, EVENTS // 3, process)
        workers[0].kill()
        finished(process)
    assert outcome(store) == alone
