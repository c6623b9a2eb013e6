"""Every run as it is: one line a run and group, for a spreadsheet or a data frame."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import nan
from typing import Any

from rmix.experiment.result import Result
from rmix.reports.series import series_of

ALL = "all rows"
COLUMNS = (
    "dataset",
    "method",
    "seed",
    "group",
    "train_rows",
    "test_rows",
    "correct",
    "accuracy",
    "groups_fit",
    "groups_select",
    "run",
)


class Runs:
    """The counts that every other table is made from.

    Args:
        results: runs of any methods on any data sets; failed runs have no counts, and no line.
    """

    name = "runs"

    def __init__(self, results: Iterable[Result]) -> None:
        self.lines = [line for series in series_of(results) for r in series.finished for line in _lines(series, r)]

    def frame(self) -> dict[str, list[Any]]:
        """Columns; the group "all rows" counts every row of the test split once."""
        return {name: [line[place] for line in self.lines] for place, name in enumerate(COLUMNS)}


def _lines(series: Any, result: Result) -> Iterator[tuple[Any, ...]]:
    assert result.test is not None
    table, used = result.test, result.groups_used
    counts = result.train_counts or (nan,) * table.n_groups
    groups = list(zip(result.group_names, counts, table.total, table.correct, strict=True))
    for name, train_rows, total, correct in [*groups, (ALL, nan, table.rows, table.rows_correct)]:
        share = correct / total if total else nan
        told = (train_rows, total, correct, share, used["fit"], used["select"], result.id)
        yield (series.dataset, series.method, result.seed, name, *told)
