"""What a data set is: three splits, named groups and classes, and what may be known of them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Protocol

import numpy as np
import torch
from torch import Tensor

from rmix.batch import Groups
from rmix.datasets.checks import check_bundle, check_split
from rmix.recipe import Facts, Rows


class Inputs(Protocol):
    """Inputs of a split: a tensor, or anything that gives a batch for a tensor of row numbers."""

    def __getitem__(self, rows: Tensor, /) -> Tensor: ...


@dataclass(frozen=True, eq=False)
class Split:
    """Rows of one split; groups may be unknown, disjoint or overlapping.

    Args:
        x: inputs (n, ...).
        y: classes (n,) int64, 0 to n_classes - 1.
        group: (n,) int64 with -1 for rows in no group; (n, n_groups) bool where groups overlap;
            None where unknown.
        weight: (n,) >= 0, how much each row counts before any method weighs it.
    """

    x: Any
    y: Tensor
    group: Tensor | None = None
    weight: Tensor | None = None

    def __len__(self) -> int:
        return len(self.y)

    def member(self, n_groups: int) -> np.ndarray | None:
        """Membership (n, n_groups) bool, of which a vector of groups is the one-hot case."""
        if self.group is None:
            return None
        group = self.group.numpy()
        return group if group.ndim == 2 else group[:, None] == np.arange(n_groups)


def least_populous(member: np.ndarray) -> np.ndarray:
    """The smallest of the groups each row belongs to, (n,) int64; -1 for rows in none.

    Example:
        >>> least_populous(np.array([[True, True], [True, False], [False, False]])).tolist()
        [1, 0, -1]
    """
    size = np.where(member, member.sum(0), np.iinfo(np.int64).max)
    return np.where(member.any(1), size.argmin(1), -1)


@dataclass(frozen=True, eq=False)
class ShownGroups:
    """Other groups of the training rows than those the data set is evaluated by.

    Args:
        group: (n,) int64 with -1 for rows in no group.
        names: of these groups.
    """

    group: Tensor
    names: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Bundle:
    """A data set, checked: training, validation and test split with the names of groups and classes.

    Args:
        unseen_groups: allow groups in validation or test that training has no row of.
        shown: the groups that methods with permission see in training, where they are others than
            those of ``train``; results and reports count by the groups of ``train``.
    """

    name: str
    train: Split
    valid: Split
    test: Split
    class_names: tuple[str, ...]
    group_names: tuple[str, ...] = ()
    unseen_groups: bool = False
    shown: ShownGroups | None = None

    def __post_init__(self) -> None:
        for name, split in self.splits.items():
            check_split(split, name, len(self.class_names), len(self.group_names))
        check_bundle(self)

    @property
    def splits(self) -> dict[str, Split]:
        """The splits by name."""
        return {"train": self.train, "valid": self.valid, "test": self.test}

    def with_inputs(self, change: Callable[[str, Any], Any]) -> Bundle:
        """This bundle with other inputs, row by row: what ``change`` makes of a split's name and inputs."""
        train, valid, test = (replace(split, x=change(name, split.x)) for name, split in self.splits.items())
        return replace(self, train=train, valid=valid, test=test)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.class_names)

    @property
    def n_groups(self) -> int:
        """Number of groups, those without a row included."""
        return len(self.group_names)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of one input."""
        return tuple(self.train.x[torch.arange(1)].shape[1:])

    @cached_property
    def train_member(self) -> np.ndarray | None:
        """Membership of the training rows."""
        return self.train.member(self.n_groups)

    @cached_property
    def _filed(self) -> Tensor | None:
        """The one group each training row is filed under: the one shown, or its least populous."""
        if self.shown is not None:
            return self.shown.group
        return None if self.train_member is None else torch.from_numpy(least_populous(self.train_member))

    @property
    def train_counts(self) -> tuple[int, ...] | None:
        """Training members of each group."""
        return None if self.train_member is None else tuple(self.train_member.sum(0).tolist())

    def rows(self, groups: Groups) -> Rows:
        """Classes of the training rows, and their groups where ``groups`` permits."""
        return Rows(self.train.y, self._filed if Groups.TRAIN in groups else None)

    def facts(self, groups: Groups, notes_epochs: int = 0) -> Facts:
        """What a method that declares ``groups`` may know before the first batch."""
        y, filed = self.train.y, self._filed
        counts, rows = None, None
        if Groups.TRAIN in groups and filed is not None:
            n_groups = self.n_groups if self.shown is None else len(self.shown.names)
            rows = tuple(torch.bincount(filed[filed >= 0], minlength=n_groups).tolist())
            counts = self.train_counts if self.shown is None else rows
        return Facts(
            n=len(y),
            n_classes=self.n_classes,
            class_counts=tuple(torch.bincount(y, minlength=self.n_classes).tolist()),
            group_counts=counts,
            group_rows=rows,
            notes_epochs=notes_epochs,
        )

    @cached_property
    def checksum(self) -> str:
        """A hash of every value of every split."""
        digest = hashlib.sha256(repr((self.class_names, self.group_names)).encode())
        for split in self.splits.values():
            for value in (split.x, split.y, split.group, split.weight):
                digest.update(_bytes_of(value))
        if self.shown is not None:
            digest.update(repr(self.shown.names).encode() + _bytes_of(self.shown.group))
        return digest.hexdigest()[:16]


def _bytes_of(value: Any) -> bytes:
    if isinstance(value, Tensor):
        return repr((tuple(value.shape), value.dtype)).encode() + value.contiguous().numpy().tobytes()
    return repr(getattr(value, "checksum", value)).encode()


class DataSet:
    """Where a bundle comes from; subclasses are frozen dataclasses whose docstring is their card."""

    name: ClassVar[str]
    model: ClassVar[str] = "mlp"  # the model it is trained with unless another is named

    @property
    def selection(self) -> str:
        """The rule by which an epoch is chosen unless another is named."""
        return "worst_group"

    def load(self) -> Bundle:
        """Read or generate the data."""
        raise NotImplementedError


@dataclass(frozen=True)
class InMemory(DataSet):
    """A bundle that was made in Python; in results it is known by its name and checksum."""

    name: str  # type: ignore[misc]  # of the bundle, where every other data set has its own
    checksum: str
    bundle: Bundle = field(repr=False, compare=False, metadata={"plain": False})

    @classmethod
    def of(cls, bundle: Bundle) -> InMemory:
        """The data set that gives ``bundle``."""
        return cls(bundle.name, bundle.checksum, bundle)

    @property
    def selection(self) -> str:
        return "average" if self.bundle.valid.group is None else "worst_group"

    def load(self) -> Bundle:
        return self.bundle
