"""Runs on disk."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
import torch
from toys import SMALL_MOONS, TWO_STAGES, small

from rmix.errors import StoreError
from rmix.experiment.run import run_config
from rmix.experiment.store import Store, run_id
from rmix.methods import ERM, RMix
from rmix.models import MLP
from rmix.training.settings import FirstStage, Training

PLAIN = small(TWO_STAGES).to_plain()


def shuffled(plain: Any) -> Any:
    """The same mapping with its keys in the reverse order, throughout."""
    if not isinstance(plain, dict):
        return plain
    return {key: shuffled(value) for key, value in reversed(plain.items())}


def test_the_name_is_readable_and_pinned() -> None:
    """Pinned from our own run: a change here orphans every stored run."""
    name = run_id({"dataset": {"name": "moons"}, "method": {"name": "rmix"}, "seed": 3}, "abc")
    assert name == "moons-rmix-s3-e81a9ccedeb0"


def test_the_order_of_keys_does_not_matter() -> None:
    assert list(shuffled(PLAIN)) != list(PLAIN)
    assert run_id(shuffled(PLAIN), "abc") == run_id(PLAIN, "abc")


def test_the_data_matter() -> None:
    assert run_id(PLAIN, "abc") != run_id(PLAIN, "abd")


def other(value: Any) -> Any:
    """Another value of the same kind."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1
    return {"none": "mean_one", "mean_one": "none", "mixup": "cutmix", "training": "clean", "sgd": "adamw",
            "constant": "linear", None: 1}[value]  # fmt: skip


@pytest.mark.parametrize(("section", "field"), [
    (section, field.name)
    for section, cls in (("method", RMix), ("model", MLP), ("training", Training), ("first", FirstStage))
    for field in fields(cls)
])  # fmt: skip
def test_any_setting_changes_the_address(section: str, field: str) -> None:
    value = PLAIN[section][field]
    changed = {**PLAIN, section: {**PLAIN[section], field: other(value)}}
    assert changed[section][field] != value
    assert run_id(changed, "abc") != run_id(PLAIN, "abc")


@pytest.mark.parametrize("change", [
    {"seed": 1}, {"selection": "last"}, {"method": ERM()}, {"dataset": replace(SMALL_MOONS, noise=0.2)},
])  # fmt: skip
def test_any_section_changes_the_address(change: dict[str, Any]) -> None:
    assert run_id(replace(small(TWO_STAGES), **change).to_plain(), "abc") != run_id(PLAIN, "abc")


def test_what_a_run_leaves(tmp_path: Path) -> None:
    run = run_config(small(TWO_STAGES), store=tmp_path)
    folder = tmp_path / "runs" / run.result.id
    assert {path.name for path in folder.iterdir()} == {
        "config.json", "result.json", "model.pt", "checkpoint.pt", "checkpoint-previous.pt", "events.jsonl", "lock",
    }  # fmt: skip
    assert len(list((tmp_path / "stages").glob("*.pt"))) == 1
    assert json.loads((folder / "config.json").read_text()) == PLAIN
    assert run.result.config == PLAIN


def test_what_a_run_leaves_can_be_read(tmp_path: Path) -> None:
    run = run_config(small(), store=tmp_path)
    store = Store(tmp_path)
    assert store.result(run.result.id).to_json() == run.result.to_json()
    weights = run.model.state_dict()
    assert all(torch.equal(value, weights[key]) for key, value in store.model(run.result.id).items())


def test_results_of_ended_runs_by_name(tmp_path: Path) -> None:
    assert Store(tmp_path).results() == []
    runs = [run_config(small(seed=seed), store=tmp_path).result.id for seed in (2, 0, 1)]
    Store(tmp_path).begin("moons-erm-s9-killed", PLAIN)  # begun, and not ended
    assert [result.id for result in Store(tmp_path).results()] == sorted(runs)


def test_a_run_that_has_not_ended_has_no_result(tmp_path: Path) -> None:
    assert Store(tmp_path).result("nothing") is None


@pytest.mark.parametrize("text", ["", "{", "[]", '{"id": 3}', "null"])
def test_a_result_that_cannot_be_read(text: str, tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.begin("run", PLAIN)
    path = store.folder("run") / "result.json"
    path.write_text(text)
    with pytest.raises(StoreError, match=r"result\.json is not a result of this version of rmix .*; move it away\.$"):
        store.result("run")


def test_what_happened_is_logged_line_by_line(tmp_path: Path) -> None:
    run = run_config(small(TWO_STAGES), store=tmp_path)
    lines = (tmp_path / "runs" / run.result.id / "events.jsonl").read_text().splitlines()
    events = [json.loads(line) for line in lines]
    assert [event["event"] for event in events] == [
        "start", "stage", "epoch", "epoch", "stage", "epoch", "epoch", "epoch", "end",
    ]  # fmt: skip
    assert [event["reused"] for event in events if event["event"] == "stage"] == [False, False]
    first = run.result.history["notes"][0]
    assert events[2]["loss"] == first["loss"]
    assert events[2]["valid_average"] == first["valid"]["rows_correct"] / 40
