"""One process at a time, and no lock outlives its holder."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from threading import Event, Thread

import pytest
from toys import TWO_STAGES, KilledError, StopAt, Told, same, small

from rmix.errors import BusyError
from rmix.experiment.run import run_config
from rmix.experiment.store import Store, run_id
from rmix.lock import locked
from rmix.training.checkpoint import Shelf

HOLDER = """
import sys, time
from pathlib import Path
from rmix.lock import locked
with locked(Path(sys.argv[1]), "It"):
    print("held", flush=True)
    time.sleep(600)
"""


@contextmanager
def held_elsewhere(path: Path) -> Iterator[subprocess.Popen]:
    """Another process holds the lock; it is killed at the end, if it was not before."""
    process = subprocess.Popen([sys.executable, "-c", HOLDER, str(path)], stdout=subprocess.PIPE, text=True)
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        try:
            yield process
        finally:
            process.kill()


def test_a_lock_dies_with_its_holder(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", logger="rmix")
    path = tmp_path / "lock"
    with held_elsewhere(path) as holder:
        with (
            pytest.raises(BusyError, match=r"^It is being worked on by another process\.$"),
            locked(path, "It", wait=False),
        ):
            pass
        os.kill(holder.pid, signal.SIGKILL)
        with locked(path, "It"):
            pass
    with locked(path, "It", wait=False):  # and is free again
        pass


def test_who_waits_is_told_and_comes_second(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", logger="rmix")
    path, told, order = tmp_path / "lock", Event(), []

    def second() -> None:
        with locked(path, "It"):
            order.append("second")

    waiting = Thread(target=second)
    with locked(path, "It"):
        waiting.start()
        while "It is being worked on by another process; waiting for it." not in caplog.text:
            told.wait(0.01)
        order.append("first")
    waiting.join()
    assert order == ["first", "second"]


def test_an_error_frees_the_lock(tmp_path: Path) -> None:
    with pytest.raises(KilledError), locked(tmp_path / "lock", "It"):
        raise KilledError
    with locked(tmp_path / "lock", "It", wait=False):
        pass


def test_a_run_that_another_process_trains_is_busy(tmp_path: Path) -> None:
    config = small()
    identity = run_id(config.to_plain(), config.dataset.load().checksum)
    with Store(tmp_path).lock(identity):
        with pytest.raises(BusyError, match=f"Run {identity} is being worked on by another process"):
            run_config(config, store=tmp_path, wait=False)
        run_config(small(seed=1), store=tmp_path, wait=False)  # others are not
    assert not run_config(config, store=tmp_path, wait=False).reused


def test_who_waited_for_a_run_reads_it(tmp_path: Path) -> None:
    """What ends while one waits for the lock must be seen: the result is looked for under the lock."""
    config, runs = small(), []
    identity = run_id(config.to_plain(), config.dataset.load().checksum)
    with Store(tmp_path).lock(identity):
        waiting = Thread(target=lambda: runs.append(run_config(config, store=tmp_path)))
        waiting.start()
        alone = run_config(config, store=tmp_path / "other")
        for name in ("model.pt", "result.json"):
            source = Store(tmp_path / "other").folder(identity) / name
            (Store(tmp_path).folder(identity) / name).write_bytes(source.read_bytes())
    waiting.join()
    assert runs[0].reused
    assert same(runs[0], alone)


def test_a_stage_is_for_one_at_a_time(tmp_path: Path) -> None:
    """Two that need the same stage at the same moment: the first trains it, the second finds it whole."""
    found: list[object] = []

    def needs(name: str) -> None:
        with Shelf(tmp_path / name, name, tmp_path / "stages").at_stage("abc") as shelf:
            found.append(shelf.load_stage("abc"))
            if found[-1] is None:
                Event().wait(0.1)  # the other one is at the door
                shelf.save_stage("abc", {"epoch": 5})

    threads = [Thread(target=needs, args=(name,)) for name in ("a", "b")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found[0] is None
    assert found[1]["epoch"] == 5  # type: ignore[index]


@pytest.mark.parametrize("epoch", [0, 1])
def test_another_run_goes_on_with_the_stage_of_one_that_died(epoch: int, tmp_path: Path) -> None:
    with pytest.raises(KilledError):
        run_config(small(TWO_STAGES), store=tmp_path, callbacks=[StopAt("notes", epoch)])
    other, told = small(replace(TWO_STAGES, eta=80.0)), Told()
    run = run_config(other, store=tmp_path, callbacks=[told])
    wanted = [("notes", e) for e in range(2)] + [("main", e) for e in range(3)]
    assert told.epochs == wanted[epoch:]
    assert same(run, run_config(other))
    assert [path.name for path in tmp_path.glob("stages/*/*")] == ["lock"]  # checkpoints of a kept stage are gone
