"""The settings by which methods draw their batches."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import pytest
from toys import facts_of

from rmix.methods import METHODS
from rmix.recipe import Sampler
from rmix.samplers import Balanced, PerGroup

FACTS = facts_of([4, 8])


def having(setting: str) -> list[str]:
    return [name for name, cls in METHODS.items() if setting in {f.name for f in fields(cls)}]


def sampler(name: str, **settings: Any) -> Sampler:
    (stage,) = METHODS[name](**settings).stages(FACTS)
    return stage.recipe.sampler


@pytest.mark.parametrize("name", having("balanced"))
def test_groups_are_drawn_alike_unless_told_otherwise(name: str) -> None:
    assert type(sampler(name)) in (Balanced, PerGroup)
    assert sampler(name, balanced=False) == Sampler()


@pytest.mark.parametrize("name", having("groups_per_batch"))
def test_a_batch_has_as_many_groups_as_told(name: str) -> None:
    assert (sampler(name), sampler(name, groups_per_batch=2)) == (PerGroup(None), PerGroup(2))
