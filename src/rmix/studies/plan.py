"""Which runs a comparison is made of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from rmix.batch import Groups
from rmix.datasets import Bundle
from rmix.errors import DataError, InvalidValueError, lookup, require
from rmix.experiment.config import Config, config_from
from rmix.methods import METHODS, Method
from rmix.training.selection import SELECTIONS

USUAL = ("erm", "mixup", "iw", "group_dro", "jtt", "rmix", "rmix_aware")
ALL = "all"


@dataclass(frozen=True)
class Plan:
    """The runs of a comparison, and what was left out and why."""

    configs: Sequence[Config]
    notes: Sequence[str] = ()


def plan(base: Config, methods: Sequence[Config], seeds: Iterable[int], bundle: Bundle | None = None) -> Plan:
    """Every method with every seed; methods that need group labels where there are none are left out.

    Args:
        base: what the methods share.
        methods: one configuration a method, see :func:`with_method`.
        seeds: of the runs.
        bundle: what ``base.dataset`` loads, where it was loaded before.
    """
    bundle = bundle or base.dataset.load()
    rule = SELECTIONS[base.selection]
    if rule.reads_groups and bundle.valid.group is None:
        raise DataError(
            f"selection {rule.name!r} needs group labels in the validation split, which {bundle.name!r} "
            "has not; use --selection average or last."
        )
    hidden = [config for config in methods if Groups.TRAIN in config.method.groups and bundle.train.group is None]
    notes = [f"{config.method.name} is left out: it reads group labels in training, which {bundle.name} has not."
             for config in hidden]  # fmt: skip
    fitting = [config for config in methods if config not in hidden]
    require(bool(fitting), f"No method is left to compare. {' '.join(notes)}")
    return Plan([replace(config, seed=seed) for config in fitting for seed in seeds], notes)


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
