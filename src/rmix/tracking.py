"""Watch runs in TensorBoard. Anything else is a callback of your own: :class:`rmix.training.callbacks.Callback`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rmix.errors import InvalidValueError
from rmix.joined import world
from rmix.metrics import GroupTable
from rmix.training.callbacks import Callback, Moment
from rmix.training.checkpoint import Shelf


class TensorBoard(Callback):
    """Loss, and validation accuracy on average, of the worst group and of each group, epoch by epoch.

    Look at it with ``tensorboard --logdir runs``.

    Args:
        folder: where the events are written; None = ``tensorboard`` in the folder of the run, which needs a store.

    Example:
        >>> from rmix import train
        >>> folder = getfixture("tmp_path")
        >>> run = train("moons", "erm", training={"epochs": 1}, callbacks=[TensorBoard(folder)])
        >>> [path.name.split(".")[0] for path in folder.iterdir()]
        ['events']
    """

    def __init__(self, folder: str | Path | None = None) -> None:
        self.folder = folder
        self._writer: Any = None

    def on_start(self, trainer: Any) -> None:
        if world()[0]:
            return  # the first of several processes writes
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError:
            raise InvalidValueError("TensorBoard needs tensorboard; pip install 'rmix[track]'.") from None
        self._writer = SummaryWriter(str(self.folder or _folder_of(trainer)))

    def on_epoch(self, moment: Moment, record: dict[str, Any]) -> None:
        if self._writer is None:
            return
        valid = GroupTable.from_json(record["valid"])
        values = {"loss": record["loss"], "valid average": valid.average}
        if valid.n_groups:
            values["valid worst group"] = valid.worst
            values |= {f"valid group {group}": float(share) for group, share in enumerate(valid.accuracy)}
        for name, value in values.items():
            self._writer.add_scalar(f"{moment.stage}/{name}", value, record["epoch"] + 1)
        self._writer.flush()

    def on_end(self, trainer: Any) -> None:
        if self._writer is not None:
            self._writer.close()


def _folder_of(trainer: Any) -> Path:
    if not isinstance(trainer.shelf, Shelf):
        raise InvalidValueError("A run without a store has no folder for TensorBoard; give TensorBoard(folder).")
    return trainer.shelf.newest.parent / "tensorboard"
