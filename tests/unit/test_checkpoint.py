"""Checkpoints: whole or not at all, and nothing is executed on reading."""

from __future__ import annotations

import errno
import os
import pickle
from pathlib import Path
from typing import Any

import pytest
import torch
from toys import KilledError

from rmix.errors import CheckpointError, StoreError
from rmix.training.checkpoint import NoShelf, Shelf, load, save, write_whole

STATE = {"epoch": 3, "model": {"w": torch.arange(4.0)}, "history": "[]"}


def damaged(path: Path, how: str) -> None:
    """Spoil a file in one of the ways that happen."""
    whole = path.read_bytes()
    path.write_bytes({
        "empty": b"",
        "one byte": whole[:1],
        "truncated": whole[: len(whole) // 2],
        "last byte missing": whole[:-1],
        "garbage": b"\x00\xff garbage \n" * 100,
        "text": b"epoch: 3\n",
    }[how])  # fmt: skip


DAMAGE = ["empty", "one byte", "truncated", "last byte missing", "garbage", "text"]


def sentence(error: BaseException) -> str:
    text = str(error)
    assert "\n" not in text
    return text


def test_what_was_saved_is_loaded(tmp_path: Path) -> None:
    save(tmp_path / "c.pt", "run-1", STATE)
    state = load(tmp_path / "c.pt", "run-1")
    assert torch.equal(state["model"]["w"], torch.arange(4.0))
    assert (state["epoch"], state["history"]) == (3, "[]")


@pytest.mark.parametrize("how", DAMAGE)
def test_a_damaged_file_gives_one_sentence_with_its_path(how: str, tmp_path: Path) -> None:
    path = tmp_path / "c.pt"
    save(path, "run-1", STATE)
    damaged(path, how)
    with pytest.raises(CheckpointError) as error:
        load(path, "run-1")
    assert sentence(error.value) == f"Checkpoint {path} cannot be read (it is damaged, or no checkpoint)."


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=r"c\.pt cannot be read \(No such file or directory\)\."):
        load(tmp_path / "c.pt", "run-1")


def test_a_file_of_something_else_is_foreign(tmp_path: Path) -> None:
    path = tmp_path / "c.pt"
    for content in ({"w": torch.ones(2)}, torch.ones(2), {"format": "rmix checkpoint 0", "key": "run-1"}):
        torch.save(content, path)
        with pytest.raises(CheckpointError) as error:
            load(path, "run-1")
        assert sentence(error.value) == f"Checkpoint {path} was not written by this version of rmix."


def test_a_checkpoint_of_another_run_is_foreign(tmp_path: Path) -> None:
    save(tmp_path / "c.pt", "run-2", STATE)
    with pytest.raises(CheckpointError, match=r"belongs to another run \(run-2, not run-1\)"):
        load(tmp_path / "c.pt", "run-1")


class Malicious:
    """Makes a file when it is unpickled."""

    def __init__(self, target: Path) -> None:
        self.target = target

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self.target),)


@pytest.mark.parametrize("how", ["pickle", "torch"])
def test_no_pickle_is_executed(how: str, tmp_path: Path) -> None:
    path, target = tmp_path / "c.pt", tmp_path / "executed"
    content = {"format": "rmix checkpoint 1", "key": "run-1", "model": Malicious(target)}
    if how == "pickle":
        path.write_bytes(pickle.dumps(content))
    else:
        torch.save(content, path)
    with pytest.raises(CheckpointError, match="cannot be read"):
        load(path, "run-1")
    assert not target.exists()
    with path.open("rb") as file:  # and it would have worked: the file is what it seems
        (pickle.load if how == "pickle" else lambda f: torch.load(f, weights_only=False))(file)
    assert target.exists()


def shelf(folder: Path) -> Shelf:
    (folder / "run").mkdir(exist_ok=True)
    return Shelf(folder / "run", "run-1", folder / "stages")


def state(epoch: int) -> dict[str, Any]:
    return {**STATE, "epoch": epoch}


def test_an_empty_shelf_has_nothing(tmp_path: Path) -> None:
    for empty in (shelf(tmp_path), NoShelf()):
        assert empty.load_epoch() is None
        assert empty.load_stage("notes") is None


def test_a_run_without_a_folder_keeps_nothing() -> None:
    nothing = NoShelf()
    nothing.save_epoch(state(1))
    nothing.save_stage("notes", state(1))
    assert nothing.load_epoch() is nothing.load_stage("notes") is None


def test_the_newest_of_two_is_taken(tmp_path: Path) -> None:
    for epoch in (1, 2, 3):
        shelf(tmp_path).save_epoch(state(epoch))
    assert shelf(tmp_path).load_epoch()["epoch"] == 3
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == ["checkpoint-previous.pt", "checkpoint.pt"]


@pytest.mark.parametrize("how", DAMAGE)
def test_a_damaged_newest_falls_back_to_the_one_before(
    how: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for epoch in (1, 2):
        shelf(tmp_path).save_epoch(state(epoch))
    damaged(tmp_path / "run" / "checkpoint.pt", how)
    assert shelf(tmp_path).load_epoch()["epoch"] == 1
    (record,) = caplog.records
    assert "cannot be read" in record.getMessage()
    assert "\n" not in record.getMessage()


def test_two_damaged_ones_are_a_fresh_start(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    for epoch in (1, 2):
        shelf(tmp_path).save_epoch(state(epoch))
    for name in ("checkpoint.pt", "checkpoint-previous.pt"):
        damaged(tmp_path / "run" / name, "truncated")
    assert shelf(tmp_path).load_epoch() is None
    assert len(caplog.records) == 2


def test_a_foreign_newest_falls_back(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    for epoch in (1, 2):
        shelf(tmp_path).save_epoch(state(epoch))
    save(tmp_path / "run" / "checkpoint.pt", "run-2", state(9))
    assert shelf(tmp_path).load_epoch()["epoch"] == 1
    assert "belongs to another run" in caplog.text


def killed(*_: Any) -> None:
    raise KilledError


def test_a_good_checkpoint_survives_the_save_after_a_damaged_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Epoch 2 was damaged, so epoch 1 is all there is; a kill while epoch 2 is saved anew must not lose it."""
    for epoch in (1, 2):
        shelf(tmp_path).save_epoch(state(epoch))
    damaged(tmp_path / "run" / "checkpoint.pt", "truncated")
    ours = shelf(tmp_path)
    assert ours.load_epoch()["epoch"] == 1

    monkeypatch.setattr("rmix.training.checkpoint.save", killed)
    with pytest.raises(KilledError):
        ours.save_epoch(state(2))
    assert shelf(tmp_path).load_epoch()["epoch"] == 1


def test_what_a_kill_left_half_written_goes(tmp_path: Path) -> None:
    shelf(tmp_path).save_epoch(state(1))
    (tmp_path / "run" / ".checkpoint.pt.123").write_bytes(b"half")
    assert shelf(tmp_path).load_epoch()["epoch"] == 1
    assert [path.name for path in (tmp_path / "run").iterdir()] == ["checkpoint.pt"]


def test_stages_are_shared_by_key(tmp_path: Path) -> None:
    shelf(tmp_path).save_stage("abc", state(5))
    other = Shelf(tmp_path / "run-2", "run-2", tmp_path / "stages")
    assert other.load_stage("abc")["epoch"] == 5
    assert other.load_stage("abd") is None


@pytest.mark.parametrize("durable", [False, True])
def test_a_write_that_fails_leaves_the_old_file(durable: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "result.json"
    write_whole(path, b"old", durable=durable)
    assert path.read_bytes() == b"old"

    def full(self: Path, target: Path) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(StoreError, match=r"result\.json cannot be written \(No space left on device\)\."):
        write_whole(path, b"new", durable=durable)
    assert [(left.name, left.read_bytes()) for left in tmp_path.iterdir()] == [("result.json", b"old")]


def test_a_folder_in_whose_place_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "stages").write_text("mine")
    with pytest.raises(StoreError, match=r"The folder .*stages cannot be made \(File exists\)"):
        shelf(tmp_path).save_stage("abc", state(5))


def test_the_same_state_gives_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a.pt", "b.pt"):
        save(tmp_path / name, "run-1", STATE)
    assert (tmp_path / "a.pt").read_bytes() == (tmp_path / "b.pt").read_bytes()
