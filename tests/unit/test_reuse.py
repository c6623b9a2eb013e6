"""What a preliminary stage left is taken up by every run that would leave the same."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import pytest
from toys import SMALL_MOONS, TWO_STAGES, Told, same, small

from rmix.experiment.config import Config
from rmix.experiment.run import run_config
from rmix.methods import Method, PlainMixup
from rmix.models import MLP
from rmix.recipe import Facts, Outcome, Recipe, Stage
from rmix.training.callbacks import Callback, Moment
from rmix.training.settings import FirstStage, Training


def stages_of_second_run(first: Config, second: Config, store: Path) -> list[tuple[str, bool]]:
    """Which stages of ``second`` were reused after ``first`` had ended in the same store."""
    run_config(first, store=store)
    told = Told()
    run = run_config(second, store=store, callbacks=[told])
    assert same(run, run_config(second))  # and reuse changes no bit of the result
    return told.stages


@pytest.mark.parametrize("other", [
    {"eta": 80.0}, {"c": 2.0}, {"alpha": 3.0}, {"mix_prob": 1.0}, {"scale": "none"}, {"mix": "manifold"},
    {"window": 1}, {"window_start": 1, "window": 1}, {"per_sample": True},
])  # fmt: skip
def test_other_settings_of_the_method_reuse_the_notes(other: dict[str, Any], tmp_path: Path) -> None:
    changed = small(replace(TWO_STAGES, **other))
    assert stages_of_second_run(small(TWO_STAGES), changed, tmp_path) == [("notes", True), ("main", False)]


@pytest.mark.parametrize("other", [
    {"training": Training(epochs=4, batch_size=8, lr=0.05)}, {"selection": "last"},
])  # fmt: skip
def test_other_training_of_the_main_stage_reuses_the_notes(other: dict[str, Any], tmp_path: Path) -> None:
    first = FirstStage(epochs=2, batch_size=16, lr=0.1)
    configs = (small(TWO_STAGES, first=first), small(TWO_STAGES, first=first, **other))
    assert stages_of_second_run(*configs, tmp_path) == [("notes", True), ("main", False)]


@pytest.mark.parametrize("other", [
    {"seed": 1}, {"first": FirstStage(epochs=2, lr=0.2)}, {"first": FirstStage(epochs=3)},
    {"first": FirstStage(epochs=2, weight_decay=0.1)}, {"dataset": replace(SMALL_MOONS, seed=1)},
    {"dataset": replace(SMALL_MOONS, test_size=11)}, {"model": MLP(width=5, depth=1)},
    {"method": replace(TWO_STAGES, record="clean")},
])  # fmt: skip
def test_what_changes_the_notes_takes_them_anew(other: dict[str, Any], tmp_path: Path) -> None:
    assert stages_of_second_run(small(TWO_STAGES), replace(small(TWO_STAGES), **other), tmp_path) == [
        ("notes", False),
        ("main", False),
    ]


def test_the_main_stage_is_never_taken_from_another_run(tmp_path: Path) -> None:
    assert stages_of_second_run(small(), small(PlainMixup()), tmp_path) == [("main", False)]


def test_a_reused_stage_is_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", logger="rmix")
    stages_of_second_run(small(TWO_STAGES), small(replace(TWO_STAGES, eta=1.0)), tmp_path)
    assert "Stage 'notes' of seed 0 was trained before and is reused." in caplog.text


@dataclass(frozen=True)
class GoesOn(Method):
    """A preliminary stage, then a main stage on the same model."""

    name: ClassVar[str] = "goes_on"
    fresh: bool = False

    def stages(self, facts: Facts) -> Any:
        yield Stage(Recipe(), "before", preliminary=True)
        yield Stage(Recipe(), fresh_model=self.fresh)


class FirstLosses(Callback):
    """The loss of each stage before its first update."""

    def __init__(self) -> None:
        self.losses: dict[str, float] = {}

    def on_step(self, moment: Moment, outcome: Outcome) -> None:
        self.losses.setdefault(moment.stage, outcome.loss.item())


def test_a_stage_may_go_on_with_the_model_of_the_one_before() -> None:
    losses = {}
    for fresh in (False, True):
        seen = FirstLosses()
        run_config(small(GoesOn(fresh), first=FirstStage(epochs=20)), callbacks=[seen])
        losses[fresh] = seen.losses["main"]
    assert losses[False] < 0.5 * losses[True]  # trained weights start lower than fresh ones
