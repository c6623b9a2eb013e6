"""The clauses of a method's contract about runs that go on from what was kept."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rmix.methods.base import Method
from rmix.testing.clause import clause
from rmix.testing.runs import Earliest, Trace, fit, same_weights
from rmix.testing.toy import toy_bundle
from rmix.training.callbacks import Callback, Moment
from rmix.training.checkpoint import Shelf

EPOCHS = 4  # of a run that is interrupted in its third


@clause
def contract_10_resume(method: Method) -> str | None:
    """A run stopped in its third epoch, in any stage, goes on to the same bits."""
    whole = fit(method, epochs=EPOCHS, selection=Earliest())
    for stage in whole.weights:
        with tempfile.TemporaryDirectory() as folder:
            resumed = _interrupted(method, stage, Path(folder))
        ran = resumed.weights[stage]
        assert ran == whole.weights[stage][-len(ran) :], f"after an interruption in stage {stage!r} the weights differ"
        assert len(ran) == EPOCHS - 2, f"stage {stage!r} went on with {len(ran)} epochs, not {EPOCHS - 2}"
        for what in ("history", "described", "selected"):
            new, old = (json.dumps(getattr(trace, what)) for trace in (resumed, whole))
            assert new == old, f"after an interruption in stage {stage!r} {what} is {new}, not {old}"
        same_weights(
            whole, resumed, f"runs with and without an interruption in stage {stage!r}", stages=_later(whole, stage)
        )
    return None


@clause
def contract_10_kept_stages(method: Method) -> str | None:
    """Preliminary stages that other runs left in the same folder are taken up by no run that differs."""
    alone = fit(method)
    if list(alone.weights) == ["main"]:
        return "it has no preliminary stage"
    with tempfile.TemporaryDirectory() as folder:
        stages = Path(folder)
        others: tuple[dict[str, Any], ...] = ({"bundle": toy_bundle(seed=1)}, {"seed": 1}, {"lr": 0.01}, {"epochs": 3})
        for number, other in enumerate(others):
            fit(method, shelf=_shelf(stages, f"other-{number}"), **other)
        amid, again = (fit(method, shelf=_shelf(stages, run)) for run in ("run", "again"))
    same_weights(alone, amid, "runs in a folder of their own and in one with stages of other runs")
    same_weights(alone, again, "runs that train a stage and that take it up", stages=["main"])
    assert list(again.weights) == ["main"], f"a second run trains {list(again.weights)} again"
    return None


def _shelf(folder: Path, run: str) -> Shelf:
    (folder / run).mkdir(exist_ok=True)
    return Shelf(folder / run, run, folder / "stages")


class _StoppedError(Exception):
    """The interruption."""


class _Stop(Callback):
    def __init__(self, stage: str) -> None:
        self.stage = stage

    def on_epoch(self, moment: Moment, record: Mapping[str, Any]) -> None:
        if moment.stage == self.stage and record["epoch"] == 2:
            raise _StoppedError


def _interrupted(method: Method, stage: str, folder: Path) -> Trace:
    """Stop in the third epoch of ``stage``, then go on in new objects from what was kept in ``folder``."""

    def run(*callbacks: Callback) -> Trace:
        shelf = _shelf(folder, "run")
        return fit(method, epochs=EPOCHS, selection=Earliest(), shelf=shelf, callbacks=callbacks)

    try:
        run(_Stop(stage))
    except _StoppedError:
        return run()
    raise AssertionError(f"stage {stage!r} has no third epoch")


def _later(trace: Trace, stage: str) -> list[str]:
    names = list(trace.weights)
    return names[names.index(stage) + 1 :]
