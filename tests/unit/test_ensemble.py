"""Uncertainty from several models."""

from __future__ import annotations

import pytest
import torch

from rmix.batch import Batch
from rmix.errors import InvalidValueError
from rmix.recipe import Facts, Stage
from rmix.weightings import FromEnsemble


def answer(stage: Stage, per_epoch: list[list[int]]) -> None:
    """Play the stage of one member: its predictions on rows that are all of class 1."""
    for predicted in per_epoch:
        n = len(predicted)
        batch = Batch(torch.zeros(n, 1), torch.ones(n).long(), torch.arange(n), torch.ones(n))
        stage.recipe.weighting.observe(batch, torch.nn.functional.one_hot(torch.tensor(predicted), 2).float())
        stage.recipe.weighting.end_epoch()


def test_the_share_of_models_that_are_wrong_after_their_last_epoch() -> None:
    """Row 0: wrong in one of two models; row 1: in both; row 2: in none. Earlier epochs do not count."""
    needs = FromEnsemble(2).prepare(Facts(3, 2, (0, 3), notes_epochs=2))
    first = next(needs)
    answer(first, [[0, 0, 0], [1, 0, 1]])
    second = next(needs)
    answer(second, [[1, 1, 0], [0, 0, 1]])
    with pytest.raises(StopIteration) as stop:
        next(needs)
    assert stop.value.value.tolist() == [0.5, 1.0, 0.0]


def test_members_have_streams_of_their_own_and_clean_notes() -> None:
    needs = FromEnsemble(3).prepare(Facts(1, 2, (0, 1), notes_epochs=1))
    stages = []
    for stage in needs:
        stages.append(stage)
        answer(stage, [[1]])
    assert [stage.name for stage in stages] == ["notes-0", "notes-1", "notes-2"]
    assert all(stage.preliminary and stage.fresh_model and stage.observe == "clean" for stage in stages)


def test_at_least_one_model() -> None:
    with pytest.raises(InvalidValueError, match=r"models must be >= 1, got 0 \(from_ensemble\)"):
        FromEnsemble(0)
