"""What TensorBoard is told is what the history holds."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import torch
from toys import TWO_STAGES, same, small

from rmix.cli import main
from rmix.errors import InvalidValueError
from rmix.experiment.run import run_config
from rmix.metrics import GroupTable
from rmix.tracking import TensorBoard

pytest.importorskip("tensorboard")


def scalars(folder: Path) -> dict[str, list[tuple[int, float]]]:
    """Tag -> (step, value), read by TensorBoard itself."""
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    read = EventAccumulator(str(folder)).Reload()
    return {tag: [(e.step, e.value) for e in read.Scalars(tag)] for tag in read.Tags()["scalars"]}


def test_every_epoch_of_both_stages_is_written(tmp_path):
    run = run_config(small(TWO_STAGES), callbacks=[TensorBoard(tmp_path)])
    found = scalars(tmp_path)
    history = run.result.history
    assert [step for step, _ in found["main/loss"]] == [1, 2, 3]
    assert [value for _, value in found["main/loss"]] == pytest.approx([epoch["loss"] for epoch in history["main"]])
    worst = [GroupTable.from_json(epoch["valid"]).worst for epoch in history["main"]]
    assert [value for _, value in found["main/valid worst group"]] == pytest.approx(worst)
    stages = {tag.split("/")[0] for tag in found}
    assert stages == set(history)
    assert {f"main/valid group {group}" for group in range(4)} <= set(found)


def test_looking_on_changes_nothing(tmp_path):
    assert same(run_config(small(), callbacks=[TensorBoard(tmp_path)]), run_config(small()))


def test_events_lie_in_the_folder_of_the_run(tmp_path):
    run = run_config(small(), store=tmp_path, callbacks=[TensorBoard()])
    assert "main/loss" in scalars(tmp_path / "runs" / run.result.id / "tensorboard")


def test_without_a_store_a_folder_must_be_given():
    with pytest.raises(InvalidValueError, match=r"give TensorBoard\(folder\)"):
        run_config(small(), callbacks=[TensorBoard()])


def test_a_missing_package_names_the_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    with pytest.raises(InvalidValueError, match=r"pip install 'rmix\[track\]'"):
        run_config(small(), callbacks=[TensorBoard(tmp_path)])


def test_an_option_of_train(tmp_path, capsys):
    assert torch.get_num_threads() == 1
    words = ["--tensorboard", "--epochs", "1", "--dataset.sizes", "9", "9", "3", "3", "--dataset.test-size", "5"]
    assert main(["train", "moons", "erm", *words, "--out", str(tmp_path)]) == 0
    (run,) = (tmp_path / "runs").iterdir()
    assert "main/loss" in scalars(run / "tensorboard")
