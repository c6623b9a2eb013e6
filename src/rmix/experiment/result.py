"""One run as data: what was asked, what happened, what came out. Reports read nothing else."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import Any

from rmix.metrics import GroupTable


@dataclass(frozen=True)
class Result:
    """A finished or failed run; holds nothing that depends on the time or on interruptions."""

    id: str
    config: dict[str, Any]  # dataset, method, model, training, first, selection, seed, as plain values
    class_names: tuple[str, ...]
    group_names: tuple[str, ...]
    train_counts: tuple[int, ...] | None  # training members of each group
    groups_used: dict[str, bool]  # "fit": the method read group labels; "select": the selection did
    history: dict[str, list[dict[str, Any]]]  # stage -> epoch, loss and validation table
    selected: dict[str, Any]  # rule, epoch (from 0) and value
    test: GroupTable | None  # of the selected epoch, evaluated once; None where the run failed
    described: dict[str, Any] = field(default_factory=dict)  # stage -> weights, uncertainty, accuracy by group
    surface: dict[str, Any] | None = None  # predictions over the plane, where inputs are points
    environment: dict[str, Any] = field(default_factory=dict)  # versions, data checksum
    failure: str | None = None
    tuned: dict[str, Any] | None = None  # how its settings were searched for, where they were

    @property
    def method(self) -> str:
        """Name of the method."""
        return str(self.config["method"]["name"])

    @property
    def seed(self) -> int:
        """Seed of the run."""
        return int(self.config["seed"])

    @property
    def adjusted_average(self) -> float:
        """Test accuracy with groups weighted by their shares of training."""
        if self.test is None or self.train_counts is None:
            return float("nan")
        return self.test.adjusted_average(self.train_counts)

    def to_json(self) -> str:
        """Text that :meth:`from_json` reads; the same result gives the same text."""
        return json.dumps(asdict(self), indent=1, sort_keys=True) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Result:
        """Back from :meth:`to_json`."""
        plain = json.loads(text)
        test = plain.pop("test")
        for name in ("class_names", "group_names", "train_counts"):
            plain[name] = None if plain[name] is None else tuple(plain[name])
        return cls(test=None if test is None else GroupTable.from_json(test), **plain)
