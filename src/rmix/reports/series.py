"""Runs that differ in nothing but their seed, and a name for them that tells them apart."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rmix.errors import lookup
from rmix.experiment.result import Result

ABSENT = "absent"
NONE = "none"


@dataclass(frozen=True)
class Series:
    """The runs of one method and its settings on one data set, one a seed."""

    dataset: str  # name, with the settings that differ where one name stands for several
    method: str  # likewise
    results: tuple[Result, ...]

    @property
    def first(self) -> Result:
        """The run that stands for all in what does not depend on the seed."""
        return self.results[0]

    @property
    def finished(self) -> tuple[Result, ...]:
        """The runs with a test table."""
        return tuple(r for r in self.results if r.test is not None)

    @property
    def failed(self) -> tuple[Result, ...]:
        """The runs without one."""
        return tuple(r for r in self.results if r.test is None)


def series_of(results: Iterable[Result]) -> list[Series]:
    """Results by data set, method and settings, in the order in which they were first given.

    The same run given twice counts once.
    """
    by_config: dict[str, list[Result]] = {}
    for result in {r.id: r for r in results}.values():
        by_config.setdefault(json.dumps(_without_seed(result.config), sort_keys=True), []).append(result)
    runs = list(by_config.values())
    datasets = distinct_names([flat(of[0].config["dataset"]) for of in runs])
    methods = _method_names(datasets, [_without_seed(of[0].config) for of in runs])
    return [Series(*parts) for parts in zip(datasets, methods, map(tuple, runs), strict=True)]


def by_dataset(results: Iterable[Result]) -> dict[str, list[Result]]:
    """Results by the name of their data set."""
    found: dict[str, list[Result]] = {}
    for series in series_of(results):
        found.setdefault(series.dataset, []).extend(series.results)
    return found


def baseline_of(results: Iterable[Result], wanted: str | None) -> str:
    """The name of the method to compare with: ``wanted``, which must have been run, or erm."""
    methods = dict.fromkeys(series.method for series in series_of(results))
    if wanted is not None:
        lookup("baseline", wanted, methods)
    return wanted or "erm"


def _without_seed(config: Mapping[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in config.items() if k != "seed"}


def _method_names(datasets: Sequence[str], configs: Sequence[Mapping[str, Any]]) -> list[str]:
    """Names that are unique within a data set; the method's own settings need no prefix."""
    names = [""] * len(configs)
    for dataset in dict.fromkeys(datasets):
        rows = [i for i, of in enumerate(datasets) if of == dataset]
        found = distinct_names([settings_of(configs[i]) for i in rows])
        for i, name in zip(rows, found, strict=True):
            names[i] = name
    return names


def settings_of(config: Mapping[str, Any]) -> dict[str, str]:
    """All settings of a run but data set and seed: those of the method bare, others as ``section.setting``."""
    others = {k: v for k, v in config.items() if k not in ("dataset", "method", "seed")}
    return flat(config["method"]) | flat(others)


def tuned_of(result: Result) -> str:
    """How its settings were searched for, empty where they were not.

    Example:
        >>> from types import SimpleNamespace
        >>> tuned_of(SimpleNamespace(tuned={"trials": 20, "rule": "worst_group"}))
        'best of 20 trials by worst_group on validation'
    """
    how = result.tuned
    return f"best of {how['trials']} trials by {how['rule']} on validation" if how else ""


def flat(plain: Mapping[str, Any], prefix: str = "") -> dict[str, str]:
    """Nested settings as ``path: text``, sorted, so that it is the same before and after a way through JSON.

    Example:
        >>> flat({"name": "compose", "mixer": {"name": "mixup", "alpha": 0.5}})
        {'mixer': 'mixup', 'mixer.alpha': '0.5', 'name': 'compose'}
    """
    found: dict[str, str] = {}
    for key, value in plain.items():
        path = prefix if key == "name" and prefix else ".".join(filter(None, (prefix, key)))
        found |= flat(value, path) if isinstance(value, Mapping) else {path: _text(value)}
    return dict(sorted(found.items()))


def _text(value: Any) -> str:
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_text, value)) + "]"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return NONE if value is None else str(value)


def distinct_names(settings: Sequence[Mapping[str, str]]) -> list[str]:
    """A name for each: ``name``, and in brackets the settings that differ among those of one name.

    Example:
        >>> distinct_names([{"name": "a", "lr": "1"}, {"name": "a", "lr": "2"}, {"name": "b", "lr": "1"}])
        ['a (lr=1)', 'a (lr=2)', 'b']
    """
    names = []
    for own in settings:
        namesakes = [other for other in settings if other["name"] == own["name"]]
        differ = [key for key in differing(namesakes) if key in own]
        inner = ", ".join(f"{key}={own[key]}" for key in differ)
        names.append(f"{own['name']} ({inner})" if inner else own["name"])
    return names


def differing(settings: Sequence[Mapping[str, str]]) -> list[str]:
    """The settings on which these do not agree."""
    keys = dict.fromkeys(key for of in settings for key in of)
    return [key for key in keys if len({of.get(key, ABSENT) for of in settings}) > 1]
