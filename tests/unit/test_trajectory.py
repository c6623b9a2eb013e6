"""Notes of a run: one bit a row and epoch."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from rmix.batch import Batch
from rmix.errors import InvalidValueError
from rmix.recipe import Facts
from rmix.weightings import FromTrajectory, Trajectory, take_notes
from rmix.weightings import trajectory as module


def note(notes: Trajectory, hits: list[bool], index: list[int] | None = None) -> None:
    """Rows of class 1, of which those that hit are predicted 1 and the others 0."""
    n = len(hits)
    right = torch.tensor(hits, dtype=torch.float32)
    batch = Batch(torch.zeros(n, 1), torch.ones(n).long(), torch.tensor(index or range(n)), torch.ones(n))
    notes.observe(batch, torch.stack([1 - right, right], dim=1))


def epochs(*hits: list[bool]) -> Trajectory:
    notes = Trajectory(len(hits[0]))
    for hit in hits:
        note(notes, hit)
        notes.end_epoch()
    return notes


@pytest.mark.parametrize("n", [1, 7, 8, 9, 4000])
def test_one_bit_a_row_and_epoch(n: int) -> None:
    notes = epochs(*[[True] * n] * 3)
    assert notes.bits.nbytes == math.ceil(n / 8) * 3
    assert [value.nbytes for value in notes.state().values()] == [notes.bits.nbytes]  # nothing else is kept


def test_by_hand() -> None:
    notes = epochs([True, False, True], [False, False, True], [True, True, True])
    assert notes.n_epochs == 3
    assert notes.correct(0, 3).astype(int).tolist() == [[1, 0, 1], [0, 0, 1], [1, 1, 1]]
    assert notes.misclassified(0, 3).tolist() == pytest.approx([1 / 3, 2 / 3, 0])
    assert notes.misclassified(1, 1).tolist() == [1, 1, 0]


def test_the_last_epoch_is_included() -> None:
    """Wrong in all epochs but the last: 1 - 1/4, not 1."""
    notes = epochs([False], [False], [False], [True])
    assert notes.misclassified(0, 4).tolist() == [0.75]
    assert notes.misclassified(3, 1).tolist() == [0.0]


@settings(max_examples=50, deadline=None, derandomize=True)
@given(n=st.integers(1, 40), count=st.integers(1, 6), seed=st.integers(0, 10**6), size=st.integers(1, 40))
def test_what_was_observed_is_what_is_read(n: int, count: int, seed: int, size: int) -> None:
    """In any order, in any batches."""
    source = np.random.default_rng(seed)
    hits = source.random((n, count)) < 0.5
    notes = Trajectory(n)
    for epoch in range(count):
        order = source.permutation(n)
        for rows in np.split(order, range(size, n, size)):
            note(notes, hits[rows, epoch].tolist(), rows.tolist())
        notes.end_epoch()
    assert (notes.correct(0, count) == hits).all()
    np.testing.assert_allclose(notes.misclassified(0, count), (~hits).mean(1))


def test_rows_an_epoch_did_not_show_keep_their_last_bit() -> None:
    notes = epochs([True, False])
    note(notes, [True], index=[1])
    notes.end_epoch()
    assert notes.correct(1, 1)[:, 0].tolist() == [True, True]


def test_restored_notes_go_on_as_if_nothing_had_happened() -> None:
    """Rows that the next epoch does not show keep their last bit here too."""
    whole, part = epochs([True, False, True]), Trajectory(3)
    part.restore(whole.state())
    assert torch.equal(part.bits, whole.bits)
    for notes in (whole, part):
        note(notes, [False], index=[2])
        notes.end_epoch()
    assert whole.correct(1, 1)[:, 0].tolist() == [True, False, False]
    assert torch.equal(part.bits, whole.bits)


def test_large_epochs_are_compared_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "HELD_BACK", 5)  # logits: two rows of two are held, the third batch flushes
    notes = Trajectory(6)
    for first in (0, 2, 4):
        note(notes, [True, False], index=[first, first + 1])
        assert notes._held <= 5
    notes.end_epoch()
    assert not notes._pending  # predictions of a whole run would fill the memory
    assert notes.correct(0, 1)[:, 0].tolist() == [True, False] * 3


def test_predictions_are_compared_in_the_epoch_that_made_them() -> None:
    """What is held back at the end of an epoch does not leak into the next."""
    notes = epochs([True, True], [False, False])
    assert notes.correct(0, 2).tolist() == [[True, False], [True, False]]


def test_no_gradient_is_held() -> None:
    notes = Trajectory(1)
    logits = torch.zeros(1, 2, requires_grad=True)
    notes.observe(Batch(torch.zeros(1, 1), torch.zeros(1).long(), torch.zeros(1).long(), torch.ones(1)), logits)
    assert not notes._pending[0][2].requires_grad


@pytest.mark.parametrize(("start", "window"), [(-1, 1), (0, 0), (0, 3), (2, 1), (1, 2)])
def test_a_window_must_lie_in_the_recorded_epochs(start: int, window: int) -> None:
    notes = epochs([True], [True])
    with pytest.raises(
        InvalidValueError, match=rf"{window} epochs from epoch {start} on .* not lie within the 2 recorded"
    ):
        notes.misclassified(start, window)


def test_hits_by_group_for_the_reports() -> None:
    """Groups (rows 0 and 1), (row 2), and one that is empty."""
    notes = epochs([True, False, True], [True, True, False])
    member = np.array([[True, False, False], [True, False, False], [False, True, False]])
    assert notes.describe(member) == {"train_correct": [[1, 1, 0], [2, 0, 0]], "train_total": [2, 1, 0]}
    assert Trajectory(3).describe(member) == {}


def test_the_stage_that_takes_notes_is_erm() -> None:
    stage = next(take_notes(Facts(3, 2, (2, 1)), "clean"))
    batch = Batch(torch.zeros(2, 1), torch.zeros(2).long(), torch.arange(2), torch.tensor([1.0, 4.0]))
    assert stage.recipe.weighting(batch).tolist() == [1.0, 4.0]
    assert (stage.name, stage.preliminary, stage.observe) == ("notes", True, "clean")


def test_record_must_be_known() -> None:
    with pytest.raises(InvalidValueError, match=r"record must be one of \('training', 'clean'\), got 'dirty'"):
        next(take_notes(Facts(3, 2, (2, 1)), "dirty"))


def test_no_window_is_all_epochs_from_the_start() -> None:
    needs = FromTrajectory(start=1).prepare(Facts(2, 2, (1, 1), notes_epochs=3))
    notes = next(needs).recipe.weighting
    for hits in ([False, False], [True, False], [True, True]):
        note(notes, hits)
        notes.end_epoch()
    with pytest.raises(StopIteration) as stop:
        next(needs)
    assert stop.value.value.tolist() == [0.0, 0.5]
