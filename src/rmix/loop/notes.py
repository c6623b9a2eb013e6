"""Notes taken in an ERM loop of your own: what RMix, JTT and others start from."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from rmix.batch import Batch
from rmix.errors import CheckpointError, DataError, require
from rmix.joined import join, world
from rmix.loop.rows import check_index, check_lengths
from rmix.methods import RMix
from rmix.training import checkpoint
from rmix.weightings import Trajectory, Uncertainty

KEY = "notes"  # of the file


class Notes:
    """Which training row was classified correctly in which epoch, one bit each.

    Observe the predictions of every training batch (rows that an epoch does not show keep their last
    bit), or of an evaluation pass after each epoch, and say when an epoch ends.

    Args:
        n: training rows.

    Example:
        >>> notes = Notes(n=3)
        >>> notes.observe(torch.tensor([0, 2]), torch.tensor([[2.0, 1.0], [2.0, 1.0]]), torch.tensor([0, 1]))
        >>> notes.end_epoch()
        >>> notes.misclassified().tolist()  # right, not shown, wrong
        [0.0, 1.0, 1.0]
    """

    def __init__(self, n: int) -> None:
        require(n >= 1, f"n must be >= 1, the number of training rows; got {n} (Notes)")
        self.trajectory = Trajectory(n)

    @classmethod
    def of(cls, correct: Any) -> Notes:
        """Notes that were taken elsewhere: ``correct`` (n, epochs) bool.

        Example:
            >>> Notes.of([[True, True], [False, True]]).misclassified().tolist()
            [0.0, 0.5]
        """
        table = np.asarray(correct)
        if table.dtype != bool or table.ndim != 2:
            raise DataError(f"Notes are (n, epochs) bool, got {table.dtype} of shape {table.shape}.")
        notes = cls(len(table))
        notes.trajectory.restore({"bits": torch.from_numpy(np.packbits(table.T, axis=1))})
        return notes

    @property
    def n(self) -> int:
        """Training rows."""
        return self.trajectory.n

    @property
    def n_epochs(self) -> int:
        """Epochs that have ended."""
        return self.trajectory.n_epochs

    def observe(self, index: Tensor, logits: Tensor, y: Tensor) -> None:
        """Note the predictions of a batch, on any device, at no cost worth measuring.

        Args:
            index: (b,) row numbers, on the CPU or where the logits are.
            logits: (b, n_classes) predictions on inputs that were not mixed.
            y: (b,) classes.
        """
        check_index(index, self.n)
        check_lengths(index=index, y=y, logits=logits)
        logits = join(logits.detach())
        batch = Batch(logits, join(y.to(logits.device)), join(index), torch.ones(len(index)))
        self.trajectory.observe(batch, logits)

    def end_epoch(self) -> None:
        """Close the epoch."""
        self.trajectory.end_epoch()

    def misclassified(self, start: int = 0, window: int | None = None) -> np.ndarray:
        """Share of epochs in which each row was misclassified, (n,): the uncertainty that RMix weighs by.

        Args:
            start: first epoch that counts, from 0.
            window: epochs that count; None = all from ``start`` on.
        """
        return self.trajectory.misclassified(start, self.n_epochs - start if window is None else window)

    def weights(
        self, eta: float = RMix.eta, c: float = RMix.c, start: int = 0, window: int | None = None
    ) -> np.ndarray:
        """RMix's weights of the rows, eta * u + c over their mean, (n,), with u from :meth:`misclassified`.

        For a sampler or a loss of your own: an objective that is given these notes makes them itself.

        Example:
            >>> Notes.of([[True, True], [False, True]]).weights(eta=4.0).tolist()  # 1 and 3, over 2
            [0.5, 1.5]
        """
        return Uncertainty("mean_one", eta, c).weights(self.misclassified(start, window))

    def state_dict(self) -> dict[str, Any]:
        """All that was noted, in the running epoch too: tensors and numbers."""
        return {"n": self.n, "bits": self.trajectory.bits, "latest": self.trajectory.latest}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from what :meth:`state_dict` gave."""
        if state.keys() != {"n", "bits", "latest"}:
            raise CheckpointError(f"This is no state of Notes: it has {sorted(state)}.")
        if state["n"] != self.n:
            raise CheckpointError(f"These notes are on {state['n']} rows, not on {self.n}.")
        self.trajectory.restore(state)
        self.trajectory.latest = state["latest"]

    def save(self, path: str | Path) -> None:
        """Write a file that is read without executing anything; of several processes, the first one writes."""
        state = self.state_dict()
        if world()[0] == 0:
            checkpoint.save(Path(path), KEY, state)

    @classmethod
    def load(cls, path: str | Path) -> Notes:
        """Read what :meth:`save` wrote."""
        state = checkpoint.load(Path(path), KEY)
        notes = cls(state["n"])
        notes.load_state_dict({name: value for name, value in state.items() if name not in ("format", "key")})
        return notes
