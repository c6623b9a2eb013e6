"""Every sampler keeps its contract."""

import pytest

import rmix.samplers
from rmix.recipe import Sampler
from rmix.samplers import Balanced, PerGroup
from rmix.testing import check_sampler

SAMPLERS = {"shuffle": Sampler(), "balanced": Balanced(), "per group": PerGroup(), "two groups": PerGroup(2)}


@pytest.mark.parametrize("name", SAMPLERS)
def test_sampler(name):
    check_sampler(SAMPLERS[name])


def test_every_sampler_is_checked():
    classes = (value for value in vars(rmix.samplers).values() if isinstance(value, type))
    exported = {cls for cls in classes if issubclass(cls, Sampler) and cls is not Sampler}
    assert exported == {type(sampler) for sampler in SAMPLERS.values()} - {Sampler}
