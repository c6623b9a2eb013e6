"""The contract of a data set."""

from __future__ import annotations

from torch import Tensor

from rmix.datasets import Bundle, DataSet
from rmix.methods.cards import card
from rmix.models import MODELS
from rmix.testing.generators import global_generators
from rmix.testing.plain import goes_round

SECTIONS = ("Task", "Groups", "Sizes", "Source", "Licence")


def check_dataset(dataset: DataSet) -> None:
    """A data set loads twice alike, keeps its splits apart, and has a card that is true.

    Example:
        >>> from rmix.datasets import FourMoons
        >>> check_dataset(FourMoons())
    """
    goes_round(dataset)
    bundle = _loaded_twice(dataset)
    _check_names(dataset, bundle)
    _check_groups(dataset, bundle)
    _check_apart(dataset, bundle)
    check_card(dataset, bundle)
    MODELS[dataset.model]().build(bundle.shape, bundle.n_classes)


def _loaded_twice(dataset: DataSet) -> Bundle:
    dataset.load()  # imports what it needs, and some of that draws from Python's generator meanwhile
    loaded = []
    for seed in (1, 2):
        with global_generators(seed):
            loaded.append(dataset.load())
    first, second = loaded
    assert first.checksum == second.checksum, f"{dataset!r} gives {first.checksum}, then {second.checksum}"
    return first


def _check_names(dataset: DataSet, bundle: Bundle) -> None:
    assert bundle.name == dataset.name, f"{dataset!r} loads a bundle called {bundle.name!r}"
    for what, names in (("classes", bundle.class_names), ("groups", bundle.group_names)):
        assert len(set(names)) == len(names), f"two {what} of {dataset!r} share a name: {names}"
        assert all(names), f"a name of the {what} of {dataset!r} is empty: {names}"


def _check_groups(dataset: DataSet, bundle: Bundle) -> None:
    """Every split shows every group that training has, where groups are known at all."""
    train = bundle.train_counts
    for name, split in bundle.splits.items():
        member = split.member(bundle.n_groups)
        if train is None or member is None:
            continue
        empty = [bundle.group_names[g] for g, rows in enumerate(member.sum(0)) if train[g] and not rows]
        assert not empty, f"split {name!r} of {dataset!r} has no row of group {empty[0]!r}"


def _check_apart(dataset: DataSet, bundle: Bundle) -> None:
    """No input is in two splits."""
    seen: dict[bytes, str] = {}
    for name, split in bundle.splits.items():
        if not isinstance(split.x, Tensor):
            continue
        for row in split.x:
            where = seen.setdefault(row.numpy().tobytes(), name)
            assert where == name, f"an input of {dataset!r} is in {where!r} and in {name!r}"


def check_card(dataset: DataSet, bundle: Bundle | None = None) -> None:
    """The docstring has the sections of a card, and its sizes are those that were loaded."""
    text = card(type(dataset))
    missing = [name for name in SECTIONS if not text.get(name)]
    assert not missing, f"the card of {dataset.name!r} has no {' and no '.join(missing)}"
    counts = None if bundle is None else bundle.train_counts
    stated = text["Sizes"].replace(",", " ").split()
    absent = [count for count in counts or () if str(count) not in stated and f"{count:,}" not in text["Sizes"]]
    assert not absent, f"a group of {dataset.name!r} has {absent[0]} training rows; its card says {text['Sizes']!r}"
