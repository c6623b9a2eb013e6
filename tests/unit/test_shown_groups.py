"""Methods with permission see the groups that are shown, of another number than those counted; others see none."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from rmix.batch import Groups
from rmix.datasets.base import ShownGroups
from rmix.methods import METHODS
from rmix.testing.runs import fit, same_weights
from rmix.testing.toy import toy_bundle

# one row in twelve is in no group; three groups, each of both classes, where the toy counts four
GROUP = torch.arange(sum(toy_bundle().train_counts)) % 12 % 4 - 1
GROUP[GROUP < 0] = torch.tensor([-1, 0, 1, 2, 0, 1] * 3)


@pytest.fixture(scope="module")
def bundles():
    """The toy with its own groups, with others shown, and with these in another order."""
    own = toy_bundle()
    names = ("p", "q", "r")
    return own, *(replace(own, shown=ShownGroups(group, names)) for group in (GROUP, GROUP.flip(0)))


@pytest.mark.parametrize("name", METHODS)
def test_every_method(name, bundles):
    method, (own, shown, other) = METHODS[name](), bundles
    seen = set()
    trace = fit(method, shown, epochs=1, look=lambda batch, _: seen.add(batch.group))
    if Groups.TRAIN not in method.groups:
        assert seen == {None}
        same_weights(trace, fit(method, own, epochs=1), "runs with other groups shown, and with none")
        same_weights(trace, fit(method, other, epochs=1), "runs with shown groups permuted")
        return
    assert trace.facts.group_counts == trace.facts.group_rows == tuple(torch.bincount(GROUP[GROUP >= 0]).tolist())
    assert {int(group) for groups in seen for group in groups} <= {-1, 0, 1, 2}


def test_runs_with_groups_shown_count_by_the_groups_of_the_splits(bundles):
    from rmix.experiment.run import train

    result = train(bundles[1], "group_dro", training={"epochs": 1}).result
    assert result.group_names == bundles[0].group_names
    assert result.train_counts == bundles[0].train_counts
    assert result.groups_used == {"fit": True, "select": True}
