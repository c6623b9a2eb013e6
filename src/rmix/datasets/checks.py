"""Data that cannot be trained or evaluated on is refused in one sentence that shows the value."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from rmix.errors import DataError

if TYPE_CHECKING:
    from rmix.datasets.base import Bundle, ShownGroups, Split


def check_split(split: Split, name: str, n_classes: int, n_groups: int) -> None:
    """Lengths, classes, groups, weights and inputs of one split."""
    _check_tensors(split, name)
    n = len(split.y)
    if n == 0:
        raise DataError(f"Split {name!r} is empty.")
    for field in ("x", "group", "weight"):
        value = getattr(split, field)
        if value is not None and len(value) != n:
            raise DataError(f"Split {name!r} has {n} labels but {len(value)} rows of {field}.")
    _check_range(split.y, n_classes, "labels", "n_classes", 0, name)
    if split.group is not None:
        _check_groups(split.group, n_groups, name)
    if split.weight is not None:
        _check_weight(split.weight, name)
    if isinstance(split.x, Tensor) and split.x.is_floating_point():
        _check_finite(split.x, name)


def _check_tensors(split: Split, name: str) -> None:
    for field in ("x", "y", "group", "weight"):
        value = getattr(split, field)
        other = field == "x" and not isinstance(value, np.ndarray | list)  # inputs of another kind, read when needed
        if not (value is None or isinstance(value, Tensor) or other):
            raise DataError(
                f"{field} of split {name!r} must be a tensor, got {type(value).__name__}; see torch.as_tensor."
            )


def _check_range(value: Tensor, count: int, what: str, size: str, least: int, split: str) -> None:
    if value.dtype != torch.int64 or value.dim() != 1:
        raise DataError(
            f"{what} must be a vector of int64, got {value.dtype} of shape {tuple(value.shape)} in split {split!r}."
        )
    bad = ((value < least) | (value >= count)).nonzero().flatten()
    if len(bad):
        row = int(bad[0])
        raise DataError(
            f"{what} must be 0 … {count - 1} ({size}={count}); got {int(value[row])} at row {row} of split {split!r}."
        )


def _check_groups(group: Tensor, n_groups: int, split: str) -> None:
    if group.dim() == 1:
        _check_range(group, n_groups, "group ids", "n_groups", -1, split)
    elif group.dtype != torch.bool or tuple(group.shape[1:]) != (n_groups,):
        raise DataError(
            f"Overlapping groups must be (n, {n_groups}) bool, "
            f"got {group.dtype} of shape {tuple(group.shape)} in split {split!r}."
        )


def _check_weight(weight: Tensor, split: str) -> None:
    if weight.dim() != 1:
        raise DataError(f"Weights must be one number a row, got shape {tuple(weight.shape)} in split {split!r}.")
    bad = (~(weight.isfinite() & (weight >= 0))).nonzero().flatten()
    if len(bad):
        row = int(bad[0])
        raise DataError(f"Weights must be finite and >= 0; got {weight[row].item()} at row {row} of split {split!r}.")
    if not weight.any():
        raise DataError(f"All {len(weight)} weights of split {split!r} are 0, so nothing can be learned.")


def _check_finite(x: Tensor, split: str) -> None:
    finite = x.isfinite()
    if not finite.all():
        bad = (~finite).nonzero()
        place = tuple(bad[0].tolist())
        raise DataError(f"Inputs must be finite; got {x[place].item()} at row {place[0]} of split {split!r}.")


def check_bundle(bundle: Bundle) -> None:
    """What the splits must have in common."""
    _check_alike(bundle)
    classes = torch.bincount(bundle.train.y).nonzero().flatten().tolist()
    if len(classes) < 2:
        raise DataError(f"The training split has one class only ({classes[0]}), so there is nothing to learn.")
    missing = sorted(set(range(bundle.n_classes)) - set(classes))
    if missing:
        raise DataError(
            f"labels must be 0 … {bundle.n_classes - 1}, each in training; class {missing[0]} "
            f"({bundle.class_names[missing[0]]!r}) has no row in split 'train'."
        )
    if bundle.train_counts is not None and not bundle.unseen_groups:
        _check_unseen(bundle, bundle.train_counts)
    if bundle.shown is not None:
        _check_shown(bundle.shown, len(bundle.train))


def _check_alike(bundle: Bundle) -> None:
    kinds = {n: (str(s.x.dtype), tuple(s.x.shape[1:])) for n, s in bundle.splits.items() if isinstance(s.x, Tensor)}
    for name, kind in kinds.items():
        if kind != kinds.get("train", kind):
            here, there = (f"{dtype} of shape {shape}" for dtype, shape in (kind, kinds["train"]))
            raise DataError(f"Inputs must be alike in all splits; got {here} in {name!r} and {there} in 'train'.")


def _check_shown(shown: ShownGroups, n: int) -> None:
    if len(shown.group) != n:
        raise DataError(f"Split 'train' has {n} labels but {len(shown.group)} rows of shown groups.")
    _check_range(shown.group, len(shown.names), "shown group ids", "n_groups", -1, "train")


def _check_unseen(bundle: Bundle, train_counts: tuple[int, ...]) -> None:
    for name in ("valid", "test"):
        member = bundle.splits[name].member(bundle.n_groups)
        if member is None:
            continue
        for group, rows in enumerate(member.sum(0)):
            if rows and not train_counts[group]:
                raise DataError(
                    f"Group {group} ({bundle.group_names[group]!r}) has {rows} rows in split {name!r} and none in "
                    "split 'train'; drop them, or say Bundle(..., unseen_groups=True) if that is the task."
                )
