"""What ``verbose`` writes: a line an epoch."""

from __future__ import annotations

import sys
from typing import Any

from rmix.metrics import GroupTable
from rmix.training.callbacks import Callback, Moment


class Lines(Callback):
    """Writes loss and validation accuracies to standard output, where scikit-learn's estimators write."""

    def on_epoch(self, moment: Moment, record: dict[str, Any]) -> None:
        table = GroupTable.from_json(record["valid"])
        valid = f", validation average {table.average:.3f}" if table.rows > 1 else ""  # one row: it stands in
        worst = f", worst group {table.worst:.3f}" if valid and table.n_groups else ""
        sys.stdout.write(
            f"{moment.stage} epoch {moment.epoch}/{moment.epochs}: loss {record['loss']:.4f}{valid}{worst}\n"
        )
