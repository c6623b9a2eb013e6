"""Which epoch is kept, by a named rule on the validation table; the test split is never asked."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rmix.errors import DataError
from rmix.metrics import GroupTable


@dataclass(frozen=True)
class Rule:
    """A rule and what it reads."""

    name: str
    text: str
    reads_groups: bool

    def value(self, table: GroupTable, epoch: int) -> float:
        """What the rule makes as large as possible; the first epoch of the largest value is kept."""
        if self.name == "last":
            return float(epoch)
        value = table.worst if self.reads_groups else table.average
        if math.isnan(value):
            raise DataError(
                "selection 'worst_group' needs group labels in the validation split, which has none; "
                "use selection 'average' or 'last'."
            )
        return value

    def enough(self, history: Sequence[dict[str, Any]]) -> bool:
        """Whether training may end here, given the records of the epochs so far; these rules want all epochs."""
        return False


SELECTIONS = {
    rule.name: rule
    for rule in (
        Rule("worst_group", "largest validation worst-group accuracy", reads_groups=True),
        Rule("average", "largest validation average accuracy", reads_groups=False),
        Rule("last", "the last epoch", reads_groups=False),
    )
}
