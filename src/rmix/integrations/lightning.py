"""Any method of rmix in the Trainer of Lightning: ``pip install 'rmix[lightning]'``."""

from __future__ import annotations

from typing import Any

from rmix.loop import Notes, Objective

try:
    from lightning.pytorch import Callback, LightningModule, Trainer
except ImportError as error:
    raise ImportError("rmix.integrations.lightning needs lightning; pip install 'rmix[lightning]'") from error


class RMixCallback(Callback):
    """Tells an objective or notes where the Trainer is, and keeps them in its checkpoints.

    The training step stays that of your module, with the objective or the notes in it::

        def training_step(self, batch, batch_idx):
            x, y, index = batch
            return self.objective(self, x, y, index)

    Args:
        rmix: an objective, whose epochs follow those of the Trainer; or notes, whose epochs end with them.
    """

    def __init__(self, rmix: Objective | Notes) -> None:
        self.rmix = rmix

    @property
    def state_key(self) -> str:
        """Names what is kept: an objective and notes may be in one checkpoint."""
        return f"rmix {type(self.rmix).__name__}"

    def on_train_epoch_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """The objective draws from the streams of this epoch."""
        if isinstance(self.rmix, Objective):
            self.rmix.set_epoch(trainer.current_epoch)

    def on_train_batch_end(
        self, trainer: Trainer, pl_module: LightningModule, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        """An epoch ends with its last batch: a checkpoint of the validation after it belongs to the next."""
        if not trainer.is_last_batch:
            return
        if isinstance(self.rmix, Objective):
            self.rmix.set_epoch(trainer.current_epoch + 1)
        else:
            self.rmix.end_epoch()

    def state_dict(self) -> dict[str, Any]:
        """What is kept in a checkpoint."""
        return self.rmix.state_dict()

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on from a checkpoint."""
        self.rmix.load_state_dict(state_dict)
