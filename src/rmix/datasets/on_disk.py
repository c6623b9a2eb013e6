"""Published data sets, which you obtain yourself and point rmix at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from rmix.datasets.base import Bundle, DataSet
from rmix.errors import DataError


@dataclass(frozen=True)
class OnDisk(DataSet):
    """A data set in a folder of its own.

    ``name`` is what you type; the card is the docstring of the subclass, with the sections Task,
    Groups, Sizes, Source, Citation, Files and Licence.

    Args:
        root: folder that holds the data set, or its parent.
    """

    title: ClassVar[str]  # as people write it
    folders: ClassVar[tuple[str, ...]] = ()  # looked for below root; root itself is accepted too
    files: ClassVar[Mapping[str, str]] = {}  # file or folder -> what it holds and its size
    marks: ClassVar[tuple[str, ...]] = ()  # files by any of which the folder is known; the first of ``files``
    published: ClassVar[Mapping[str, Mapping[str, int]]] = {}  # split -> group name -> rows
    published_rows: ClassVar[Mapping[str, int]] = {}  # split -> rows, where groups do not add up to them
    # Where the data lie does not change a result: the checksum of the bundle says what they were.
    root: str = field(default="data", metadata={"plain": False})

    def folder(self) -> Path:
        """Where the data set lies, or an error that says what was looked for."""
        marks = self.marks or tuple(self.files)[:1]
        for folder in (*(Path(self.root) / name for name in self.folders), Path(self.root)):
            if any((folder / mark).exists() for mark in marks):
                return folder
        root = self.root if Path(self.root).is_absolute() else f"./{self.root}"
        below = f", there and in {' or '.join(self.folders)}" if self.folders else ""
        raise DataError(
            f"{self.title} is not in {root} (looked for {' or '.join(marks)}{below}). "
            f"See: rmix data describe {self.name}"
        )

    @property
    def expected_rows(self) -> Mapping[str, int]:
        """The published rows of each split under these settings."""
        return self.published_rows

    def differences(self, bundle: Bundle) -> list[str]:
        """A sentence for each count of ``bundle`` that is not the published one."""
        counted = {name: group_rows(bundle, name) for name in bundle.splits}
        found = [
            (f"{group!r} in split {split!r}", counted[split].get(group, 0), rows)
            for split, groups in self.published.items()
            for group, rows in groups.items()
        ]
        found += [(f"Split {split!r}", len(bundle.splits[split]), rows) for split, rows in self.expected_rows.items()]
        return [f"{where} has {here:,} rows, published are {rows:,}." for where, here, rows in found if here != rows]


def group_rows(bundle: Bundle, split: str) -> dict[str, int]:
    """Rows of each group in a split, by name; empty where its groups are not known."""
    member = bundle.splits[split].member(bundle.n_groups)
    return {} if member is None else dict(zip(bundle.group_names, member.sum(0).tolist(), strict=True))
