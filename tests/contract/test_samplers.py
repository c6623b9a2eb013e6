"""Every sampler keeps its contract."""

import pytest

import rmix.samplers
from rmix.recipe import Sampler
from rmix.samplers import Balanced, HeldOut, PerGroup, Rest, Upsampled
from rmix.testing import check_sampler, toy_bundle

SAMPLERS = {
    "shuffle": Sampler(),
    "balanced": Balanced(),
    "per group": PerGroup(),
    "two groups": PerGroup(2),
    "upsampled": Upsampled(tuple(row % 3 for row in range(len(toy_bundle().train)))),
    "held out": HeldOut(0.3),
    "held out by group": HeldOut(0.3, by_group=True),
    "balanced in what is held out": HeldOut(0.3, 1, by_group=True, sampler=Balanced()),
    "rest": Rest(0.3),
}


@pytest.mark.parametrize("name", SAMPLERS)
def test_sampler(name):
    check_sampler(SAMPLERS[name])


def test_every_sampler_is_checked():
    classes = (value for value in vars(rmix.samplers).values() if isinstance(value, type))
    exported = {cls for cls in classes if issubclass(cls, Sampler) and cls is not Sampler}
    assert exported == {type(sampler) for sampler in SAMPLERS.values()} - {Sampler}
