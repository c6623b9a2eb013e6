"""Just train twice."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from toys import KilledError, StopAt, Told, same, small

from rmix.batch import Batch
from rmix.errors import InvalidValueError
from rmix.experiment.run import run_config
from rmix.methods import JTT, RMix
from rmix.recipe import Facts, Stage
from rmix.samplers import Upsampled


def second_stage(method: JTT, *hits: list[bool]) -> Stage:
    """The stage after an ERM run that had these rows right in each epoch."""
    n = len(hits[0])
    stages = method.stages(Facts(n, 2, (n, 0), notes_epochs=len(hits)))
    notes = next(stages).recipe.weighting
    rows = Batch(torch.zeros(n, 1), torch.zeros(n).long(), torch.arange(n), torch.ones(n))
    for hit in hits:
        right = torch.tensor(hit).float()
        notes.observe(rows, torch.stack([right, 1 - right], dim=1))  # class 0 wins where right
        notes.end_epoch()
    return next(stages)


RIGHT = [[False, False, True, True], [True, False, False, True], [True, True, True, False]]


@pytest.mark.parametrize(("epoch", "copies"), [
    (1, (4, 4, 1, 1)), (2, (1, 4, 4, 1)), (3, (1, 1, 1, 4)), (None, (1, 1, 1, 4)),
])  # fmt: skip
def test_rows_wrong_in_one_epoch_are_seen_1_plus_lambda_times(epoch: int | None, copies: tuple[int, ...]) -> None:
    stage = second_stage(JTT(up_weight=3, epoch=epoch), *RIGHT)
    assert stage.recipe.sampler == Upsampled(copies)
    assert (stage.name, stage.preliminary, stage.fresh_model) == ("main", False, True)


def test_the_notes_are_those_of_rmix(tmp_path: Path) -> None:
    """After a run of RMix the ERM run is taken up, and the result is that of a folder of its own."""
    run_config(small(RMix(window=2)), store=tmp_path)
    for method in (JTT(up_weight=5), JTT(up_weight=50, epoch=1)):
        told = Told()
        run = run_config(small(method), store=tmp_path, callbacks=[told])
        assert told.stages == [("notes", True), ("main", False)]
        assert same(run, run_config(small(method)))
    assert len(list((tmp_path / "stages").glob("*.pt"))) == 1


@pytest.mark.parametrize(("stage", "epoch"), [("notes", 1), ("main", 0), ("main", 2)])
def test_a_killed_run_ends_as_if_it_had_not_been(stage: str, epoch: int, tmp_path: Path) -> None:
    config = small(JTT(up_weight=3))
    with pytest.raises(KilledError):
        run_config(config, store=tmp_path, callbacks=[StopAt(stage, epoch, in_the_middle=True)])
    assert same(run_config(config, store=tmp_path), run_config(config))


@pytest.mark.parametrize(("settings", "message"), [
    ({"up_weight": -1}, r"up_weight \(lambda_up\) must be >= 0, got -1"),
    ({"epoch": 0}, r"epoch \(T\) must be >= 1, got 0"),
])  # fmt: skip
def test_bad_settings(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidValueError, match=message):
        replace(JTT(), **settings)


def test_an_epoch_beyond_the_first_stage_is_refused_before_it_is_trained() -> None:
    with pytest.raises(InvalidValueError, match=r"epoch \(T\) must be at most 2, the epochs of the first stage; got 3"):
        run_config(small(JTT(epoch=3)))
