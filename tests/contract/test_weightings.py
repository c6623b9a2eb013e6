"""Every weight rule keeps its contract."""

from dataclasses import replace

import numpy as np
import pytest
import torch

import rmix.weightings
from rmix.batch import Batch
from rmix.testing import RULE_CONTRACTS, toy_bundle
from rmix.weightings import (
    EffectiveNumber,
    Fixed,
    FromEnsemble,
    FromTrajectory,
    GroupSize,
    InverseFrequency,
    Trajectory,
    Uncertainty,
)
from rmix.weightings.rule import WeightRule

N = len(toy_bundle().train)
RULES = {
    "fixed": Fixed(table=tuple(float(row % 4) for row in range(N))),
    "inverse frequency": InverseFrequency(),
    "effective number": EffectiveNumber(beta=0.9),
    "group size by ratio": GroupSize(ratio=5.0),
    "group size by capacity": GroupSize(capacity=2.0),
    "uncertainty": Uncertainty(),
    "uncertainty of a window": Uncertainty(eta=3.0, c=0.5, source=FromTrajectory(1, 1, "clean")),
    "uncertainty of an ensemble": Uncertainty(source=FromEnsemble(2)),
}


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("clause", RULE_CONTRACTS)
def test_weight_rule(clause, name):
    RULE_CONTRACTS[clause](RULES[name])


def test_every_weight_rule_is_checked():
    classes = (value for value in vars(rmix.weightings).values() if isinstance(value, type))
    exported = {cls for cls in classes if issubclass(cls, WeightRule) and cls is not WeightRule}
    assert exported == {type(rule) for rule in RULES.values()}


def test_notes_put_back_are_the_notes_that_were_kept():
    """Row 1 was right in the first epoch, and the second does not show it."""
    notes, again = Trajectory(2), Trajectory(2)
    both = Batch(torch.zeros(2, 1), torch.tensor([0, 0]), torch.arange(2), torch.ones(2))
    first_only = replace(both, x=both.x[:1], y=both.y[:1], index=both.index[:1], weight=both.weight[:1])
    right = torch.tensor([[1.0, 0.0], [1.0, 0.0]])
    notes.observe(both, right)
    notes.end_epoch()
    again.restore(notes.state())
    for some in (notes, again):
        some.observe(first_only, right[:1])
        some.end_epoch()
    assert notes.correct(0, 2).tolist() == [[True, True], [True, True]]
    np.testing.assert_array_equal(again.correct(0, 2), notes.correct(0, 2))
