"""The numbers of the paper's tables: somebody else's runs, carried along to stand beside ours."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib import resources
from math import nan
from typing import Any

from rmix.errors import lookup
from rmix.reports.estimate import Estimate, Interval

SEEDS = {"camelyon17": 10}  # of the paper's numbers; 3 on the other data sets
ROUNDING = 0.0005  # the paper rounds to a tenth of a per cent
MEASURES = ("average", "worst", "gap")


@dataclass(frozen=True)
class PaperCell:
    """What the paper reports for one method on one data set, as shares.

    Args:
        table: of the paper.
        line: as the paper calls it.
        dataset: by our name.
        numbers: of the paper, in per cent.
    """

    table: str
    line: str
    dataset: str
    numbers: dict[str, Any]

    def estimate(self, measure: str) -> Estimate:
        """Mean and standard deviation, nan where the paper has none."""
        mean, std = self.numbers.get(measure), self.numbers.get(f"{measure}_sd")
        n = SEEDS.get(self.dataset, 3)
        return Estimate(nan if mean is None else mean / 100, nan if std is None else std / 100, n)

    def interval(self, measure: str) -> Interval:
        """95 % interval of the paper's mean by Student's t, and what rounding may have hidden."""
        low, high = self.estimate(measure).interval
        return low - ROUNDING, high + ROUNDING


def paper_tables() -> dict[str, dict[str, dict[str, dict[str, Any]]]]:
    """Table -> line -> data set -> numbers in per cent, as printed."""
    file = resources.files("rmix.studies") / "paper_tables.json"
    tables: dict[str, dict[str, dict[str, dict[str, Any]]]] = json.loads(file.read_text())
    return tables


def paper_cells(table: str) -> list[PaperCell]:
    """Every cell of a table of the paper, line by line.

    Example:
        >>> cell = paper_cells("validation_labels")[0]
        >>> cell.line, cell.dataset, cell.estimate("worst").text
        ('with', 'waterbirds', '90.0 ± 1.1')
    """
    lines = lookup("table of the paper", table, paper_tables())
    return [PaperCell(table, line, dataset, numbers) for line, of in lines.items() for dataset, numbers in of.items()]
