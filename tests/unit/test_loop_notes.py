"""Notes of a user's own ERM loop."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from rmix import Notes, Objective, RMix
from rmix.errors import CheckpointError
from rmix.training.checkpoint import save

RIGHT, WRONG = torch.tensor([2.0, 1.0]), torch.tensor([1.0, 2.0])  # of class 0


def show(notes: Notes, right: dict[int, bool]) -> None:
    """Observe rows of class 0."""
    logits = torch.stack([RIGHT if good else WRONG for good in right.values()])
    notes.observe(torch.tensor(list(right)), logits, torch.zeros(len(right)).long())


def two_epochs() -> Notes:
    """Row 0 is right twice, row 1 once, row 2 never, row 3 is not shown again and keeps what it had."""
    notes = Notes(4)
    show(notes, {0: True, 1: False})
    show(notes, {2: False, 3: True})
    notes.end_epoch()
    show(notes, {2: False, 1: True, 0: True})
    notes.end_epoch()
    return notes


def test_shares_are_counted_by_hand() -> None:
    notes = two_epochs()
    assert notes.misclassified().tolist() == [0, 0.5, 1, 0]
    assert notes.misclassified(start=1).tolist() == [0, 0, 1, 0]
    assert notes.misclassified(0, 1).tolist() == [0, 1, 1, 0]
    assert notes.n_epochs == 2


def test_predictions_of_half_precision_that_need_gradients_are_noted() -> None:
    notes, logits = Notes(1), torch.tensor([[1.0, 2.0]], dtype=torch.bfloat16, requires_grad=True)
    notes.observe(torch.tensor([0]), logits, torch.tensor([1]))
    notes.end_epoch()
    assert notes.misclassified().tolist() == [0]


def test_a_loop_that_stops_in_an_epoch_goes_on_in_it(tmp_path: Path) -> None:
    notes = Notes(4)
    show(notes, {0: True, 1: False})
    show(notes, {2: False, 3: True})
    notes.end_epoch()
    show(notes, {2: False, 1: True})
    notes.save(tmp_path / "notes.pt")
    again = Notes.load(tmp_path / "notes.pt")
    show(again, {0: True})
    again.end_epoch()
    assert np.array_equal(again.misclassified(), two_epochs().misclassified())


def test_the_state_fits_into_a_checkpoint_of_the_users(tmp_path: Path) -> None:
    torch.save({"mine": 1, "notes": two_epochs().state_dict()}, tmp_path / "mine.pt")
    again = Notes(4)
    again.load_state_dict(torch.load(tmp_path / "mine.pt", weights_only=True)["notes"])
    assert np.array_equal(again.misclassified(), two_epochs().misclassified())


def test_notes_of_a_run_that_is_over() -> None:
    correct = [[True, True], [False, True], [False, False], [True, True]]
    notes = Notes.of(correct)
    assert np.array_equal(notes.misclassified(), two_epochs().misclassified())
    show(notes, {0: False})
    notes.end_epoch()
    assert notes.misclassified().round(2).tolist() == [0.33, 0.33, 1, 0]


def test_weights_come_from_the_notes() -> None:
    """20 * u + 1, by hand 1, 11, 21 and 1, over their mean of 8.5; in the last epoch only row 2 was wrong."""
    notes = two_epochs()
    assert notes.weights().tolist() == pytest.approx((20 * np.array([0, 0.5, 1, 0]) + 1) / 8.5)
    assert notes.weights(eta=2.0, c=3.0, start=1).tolist() == pytest.approx([3 / 3.5, 3 / 3.5, 5 / 3.5, 3 / 3.5])
    for method in (RMix(), RMix(eta=2.0, c=3.0, window_start=1)):
        theirs = Objective(method, [0, 0, 0, 1], notes=notes).weights()
        mine = notes.weights(method.eta, method.c, method.window_start)
        assert mine.tolist() == pytest.approx(theirs.tolist())


@pytest.mark.parametrize(
    ("index", "logits", "y", "message"),
    [
        ([0.0], [[1.0, 2.0]], [0], r"index must be a vector of whole numbers.*got torch.float32 of shape \(1,\)"),
        ([[0]], [[1.0, 2.0]], [0], r"got torch.int64 of shape \(1, 1\)"),
        ([4], [[1.0, 2.0]], [0], r"index must be 0 … 3, .*; got 4"),
        ([-1], [[1.0, 2.0]], [0], r"got -1"),
        ([0, 1], [[1.0, 2.0]], [0, 0], r"2 row numbers \(index\) but 1 rows of logits"),
        ([0], [[1.0, 2.0]], [0, 0], r"1 row numbers \(index\) but 2 rows of y"),
    ],
)
def test_bad_batches_are_refused_and_lose_nothing(index: Any, logits: Any, y: Any, message: str) -> None:
    notes = two_epochs()
    with pytest.raises(ValueError, match=message):
        notes.observe(torch.tensor(index), torch.tensor(logits), torch.tensor(y))
    assert np.array_equal(notes.misclassified(), two_epochs().misclassified())


def test_other_files_and_states_are_refused(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=r"on 4 rows, not on 3"):
        Notes(3).load_state_dict(two_epochs().state_dict())
    with pytest.raises(CheckpointError, match=r"no state of Notes: it has \['model'\]"):
        Notes(3).load_state_dict({"model": 1})
    save(tmp_path / "run.pt", "a run", {})
    with pytest.raises(CheckpointError, match=r"belongs to another run"):
        Notes.load(tmp_path / "run.pt")
    (tmp_path / "text.pt").write_text("not notes")
    with pytest.raises(CheckpointError, match=r"cannot be read"):
        Notes.load(tmp_path / "text.pt")
    with pytest.raises(ValueError, match=r"Notes are \(n, epochs\) bool, got int64 of shape \(2,\)"):
        Notes.of([0, 1])
    with pytest.raises(ValueError, match=r"n must be >= 1"):
        Notes(0)
