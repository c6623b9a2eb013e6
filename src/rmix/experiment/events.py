"""What happened and when, as JSON lines: the part of a run that is not its result."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

from rmix.joined import world
from rmix.metrics import GroupTable
from rmix.training.callbacks import Callback, Moment


class EventLog(Callback):
    """Appends one line a stage and epoch to ``events.jsonl``."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "events.jsonl"

    def on_start(self, trainer: Any) -> None:
        self._write("start")

    def on_stage(self, moment: Moment, reused: bool) -> None:
        self._write("stage", stage=moment.stage, epochs=moment.epochs, reused=reused)

    def on_epoch(self, moment: Moment, record: dict[str, Any]) -> None:
        valid = GroupTable.from_json(record["valid"])
        values = {"stage": moment.stage, "epoch": record["epoch"], "epochs": moment.epochs, "loss": record["loss"]}
        worst = {"valid_worst": valid.worst} if valid.n_groups else {}
        self._write("epoch", **values, valid_average=valid.average, **worst)

    def on_end(self, trainer: Any) -> None:
        self._write("end")

    def _write(self, event: str, **values: Any) -> None:
        if world()[0]:
            return  # the first of several processes writes
        line = json.dumps({"time": round(time.time(), 3), "event": event, **values})
        with self.path.open("a") as file:
            file.write(line + "\n")
