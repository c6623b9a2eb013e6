"""A run that was killed ends as if it had not been; one that diverged is marked and kept."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pytest
import torch
from torch import Tensor
from toys import TWO_STAGES, KilledError, StopAt, Told, same, small

from rmix.batch import Batch
from rmix.errors import DivergedError
from rmix.experiment.config import Config
from rmix.experiment.run import run_config
from rmix.experiment.store import Store
from rmix.methods import Method, PlainMixup, RMix, RMixAware
from rmix.models import MLP
from rmix.recipe import Facts, Recipe, Weighting
from rmix.training.checkpoint import load
from rmix.training.settings import Training


def killed(config: Config, store: Path, stop: StopAt) -> None:
    with pytest.raises(KilledError):
        run_config(config, store=store, callbacks=[stop])


@pytest.mark.parametrize("in_the_middle", [False, True])
@pytest.mark.parametrize(("stage", "epoch"), [("notes", 0), ("notes", 1), ("main", 0), ("main", 1), ("main", 2)])
def test_a_killed_run_ends_as_if_it_had_not_been(stage: str, epoch: int, in_the_middle: bool, tmp_path: Path) -> None:
    config = small(TWO_STAGES)
    killed(config, tmp_path, StopAt(stage, epoch, in_the_middle=in_the_middle))
    told = Told()
    resumed = run_config(config, store=tmp_path, callbacks=[told])
    assert same(resumed, run_config(config))
    wanted = [("notes", e) for e in range(2)] + [("main", e) for e in range(3)]
    assert told.epochs == wanted[wanted.index((stage, epoch)) :]  # only what was missing was trained


def test_killed_again_and_again(tmp_path: Path) -> None:
    config = small(TWO_STAGES)
    for stop in (StopAt("notes", 1), StopAt("main", 0), StopAt("main", 1, in_the_middle=True), StopAt("main", 2)):
        killed(config, tmp_path, stop)
    assert same(run_config(config, store=tmp_path), run_config(config))


@pytest.mark.parametrize("training", [
    Training(epochs=4, batch_size=16, optimizer="adamw", lr=0.01, schedule="cosine", warmup=0.3, clip_norm=1.0),
    Training(epochs=4, batch_size=16, lr=0.1, schedule="linear"),
])  # fmt: skip
def test_optimizer_and_schedule_go_on_where_they_were(training: Training, tmp_path: Path) -> None:
    config = small(PlainMixup(), training=training, model=MLP(width=4, depth=1, dropout=0.3))
    killed(config, tmp_path, StopAt("main", 2))
    assert same(run_config(config, store=tmp_path), run_config(config))


def test_an_ensemble_goes_on_with_the_member_that_was_killed(tmp_path: Path) -> None:
    config = small(RMix(ensemble=3))
    killed(config, tmp_path, StopAt("notes-1", 1))
    told = Told()
    resumed = run_config(config, store=tmp_path, callbacks=[told])
    assert told.stages == [("notes-0", True), ("notes-1", False), ("notes-2", False), ("main", False)]
    assert same(resumed, run_config(config))


def test_a_damaged_newest_checkpoint_costs_one_epoch(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    config = small()
    killed(config, tmp_path, StopAt("main", 2))
    newest = next(tmp_path.glob("runs/*/checkpoint.pt"))
    newest.write_bytes(newest.read_bytes()[:200])
    told = Told()
    resumed = run_config(config, store=tmp_path, callbacks=[told])
    assert told.epochs == [("main", 1), ("main", 2)]
    assert "cannot be read" in caplog.text
    assert same(resumed, run_config(config))


def test_damaged_notes_are_taken_again(tmp_path: Path) -> None:
    config = small(TWO_STAGES)
    killed(config, tmp_path, StopAt("main", 1))
    notes = next(tmp_path.glob("stages/*.pt"))
    notes.write_bytes(b"not notes")
    told = Told()
    resumed = run_config(config, store=tmp_path, callbacks=[told])
    assert told.stages == [("notes", False), ("main", False)]
    assert same(resumed, run_config(config))


def test_a_finished_run_is_read_not_trained(tmp_path: Path) -> None:
    first, told = run_config(small(), store=tmp_path), Told()
    again = run_config(small(), store=tmp_path, callbacks=[told])
    assert (first.reused, again.reused, told.ends) == (False, True, [])
    assert same(first, again)


def test_a_finished_run_whose_model_is_damaged_ends_again(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    first = run_config(small(), store=tmp_path)
    model = tmp_path / "runs" / first.result.id / "model.pt"
    whole = model.read_bytes()
    model.write_bytes(whole[:100])
    told = Told()
    again = run_config(small(), store=tmp_path, callbacks=[told])
    assert (again.reused, told.epochs, same(first, again)) == (False, [], True)
    assert "model.pt cannot be read" in caplog.text
    assert model.read_bytes() == whole


def test_the_model_of_a_run_is_no_checkpoint_of_it(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    first = run_config(small(), store=tmp_path)
    folder = tmp_path / "runs" / first.result.id
    (folder / "checkpoint.pt").write_bytes((folder / "model.pt").read_bytes())
    (folder / "result.json").unlink()
    assert same(run_config(small(), store=tmp_path), first)
    assert "belongs to another run" in caplog.text


class Grows(Weighting):
    """Weights that become infinite after some epochs."""

    memory = ("ended",)

    def __init__(self, good_epochs: int) -> None:
        self.good_epochs, self.ended = good_epochs, torch.zeros((), dtype=torch.int64)

    def __call__(self, batch: Batch) -> Tensor:
        return batch.weight * (1.0 if self.ended < self.good_epochs else float("inf"))

    def end_epoch(self) -> None:
        self.ended = self.ended + 1


@dataclass(frozen=True)
class Explodes(Method):
    """Fine for some epochs, then infinite."""

    name: ClassVar[str] = "explodes"
    good_epochs: int = 2

    def recipe(self, facts: Facts) -> Recipe:
        return Recipe(weighting=Grows(self.good_epochs))


def test_a_diverged_run_is_marked_and_keeps_the_last_good_checkpoint(tmp_path: Path) -> None:
    config = small(Explodes())
    with pytest.raises(DivergedError, match=r"became inf in stage 'main', epoch 2, step 0 .*largest weight inf"):
        run_config(config, store=tmp_path)
    (result,) = Store(tmp_path).results()
    assert result.failure is not None
    assert result.failure.startswith("The loss became inf in stage 'main', epoch 2, step 0 (learning rate 0.1,")
    assert (result.test, result.history, result.selected) == (None, {}, {})
    kept = load(tmp_path / "runs" / result.id / "checkpoint.pt", result.id)
    assert kept["epoch"] == 2
    assert all(value.isfinite().all() for value in kept["model"].values())


def test_a_failed_run_is_tried_again_from_the_good_checkpoint(tmp_path: Path) -> None:
    for _ in range(2):
        told = Told()
        with pytest.raises(DivergedError):
            run_config(small(Explodes()), store=tmp_path, callbacks=[told])
    assert told.epochs == []  # two good epochs were kept, the third fails again


def test_the_checkpoint_of_a_last_step_that_broke_the_weights_is_not_the_only_one(tmp_path: Path) -> None:
    """A huge step leaves weights that are not finite; the loss shows it one step later."""
    config = small(RMixAware(), training=Training(epochs=40, batch_size=70, lr=1e12, momentum=0.0))
    with pytest.raises(DivergedError) as error:
        run_config(config, store=tmp_path)
    assert "learning rate 1e+12" in str(error.value)
    (result,) = Store(tmp_path).results()
    states = [load(path, result.id) for path in sorted((tmp_path / "runs" / result.id).glob("checkpoint*.pt"))]
    finite = [all(value.isfinite().all() for value in state["model"].values()) for state in states]
    assert any(finite)
