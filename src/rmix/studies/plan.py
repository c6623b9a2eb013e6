"""Which runs a comparison is made of."""

from __future__ import annotations

from collections.abc import Sequence

from rmix.batch import Groups
from rmix.datasets import Bundle
from rmix.errors import DataError, InvalidValueError, lookup, require
from rmix.experiment.config import Config, config_from
from rmix.methods import METHODS, Method
from rmix.training.selection import SELECTIONS

USUAL = ("erm", "mixup", "iw", "group_dro", "jtt", "rmix", "rmix_aware")
ALL = "all"


def fitting(methods: Sequence[Config], bundle: Bundle) -> tuple[list[Config], list[str]]:
    """The configurations that the data permit, and a sentence about each method that is left out."""
    rule = SELECTIONS[methods[0].selection]
    if rule.reads_groups and bundle.valid.group is None:
        raise DataError(
            f"selection {rule.name!r} needs group labels in the validation split, which {bundle.name!r} "
            "has not; use --selection average or last."
        )
    fits = [bundle.train.group is not None or Groups.TRAIN not in config.method.groups for config in methods]
    notes = [
        f"{config.method.name} is left out: it reads group labels in training, which {bundle.name} has not."
        for config, fit in zip(methods, fits, strict=True)
        if not fit
    ]
    require(any(fits), " ".join(["No method is left.", *notes]))
    return [config for config, fit in zip(methods, fits, strict=True) if fit], notes


def with_methods(base: Config, names: Sequence[str | Method]) -> list[Config]:
    """``base`` with each method, by name with the settings of the data set's recipe, or as it is; once each."""
    wanted = list(METHODS) if ALL in names else list(names)
    for name in wanted:
        if isinstance(name, str):
            lookup("method", name, METHODS)
    return [_with_method(base, name) for name in dict.fromkeys(wanted)]


def _with_method(base: Config, name: str | Method) -> Config:
    return base if name == base.method.name else config_from({**vars(base), "method": name})


def seeds_from(first: int, count: int) -> range:
    """``count`` seeds."""
    if count < 1:
        raise InvalidValueError(f"seeds must be >= 1, got {count}.")
    return range(first, first + count)
