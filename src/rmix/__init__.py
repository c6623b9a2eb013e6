"""rmix trains classifiers that hold up on every subgroup, and shows whether they do.

Public names load what they need when first used, so ``import rmix`` is immediate.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from rmix._version import __version__

if TYPE_CHECKING:
    from rmix.batch import Batch, Groups, Mixed, Part
    from rmix.datasets import Bundle, Split
    from rmix.estimator import GroupRobustClassifier, RMixClassifier
    from rmix.experiment.result import Result
    from rmix.experiment.run import Run, train
    from rmix.experiment.store import Store
    from rmix.loop import HeadAt, Notes, Objective, WithIndex
    from rmix.methods import ERM, Compose, Method, RMix, RMixAware
    from rmix.metrics import GroupTable
    from rmix.recipe import Recipe, Stage

_WHERE = {
    "rmix.batch": ("Batch", "Groups", "Mixed", "Part"),
    "rmix.datasets": ("Bundle", "Split"),
    "rmix.estimator": ("GroupRobustClassifier", "RMixClassifier"),
    "rmix.experiment.result": ("Result",),
    "rmix.experiment.run": ("Run", "train"),
    "rmix.experiment.store": ("Store",),
    "rmix.loop": ("HeadAt", "Notes", "Objective", "WithIndex"),
    "rmix.methods": ("ERM", "Compose", "Method", "RMix", "RMixAware"),
    "rmix.metrics": ("GroupTable",),
    "rmix.recipe": ("Recipe", "Stage"),
}
_MODULE_OF = {name: module for module, names in _WHERE.items() for name in names}

__all__ = [
    "ERM",
    "Batch",
    "Bundle",
    "Compose",
    "GroupRobustClassifier",
    "GroupTable",
    "Groups",
    "HeadAt",
    "Method",
    "Mixed",
    "Notes",
    "Objective",
    "Part",
    "RMix",
    "RMixAware",
    "RMixClassifier",
    "Recipe",
    "Result",
    "Run",
    "Split",
    "Stage",
    "Store",
    "WithIndex",
    "__version__",
    "train",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'rmix' has no attribute {name!r}")
    return getattr(import_module(_MODULE_OF[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
