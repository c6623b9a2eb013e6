"""The contracts of weight rules and of samplers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import cast

import torch
from torch import Tensor

from rmix.batch import Batch, Groups
from rmix.datasets.base import Bundle
from rmix.errors import HiddenGroupsError
from rmix.methods import Compose
from rmix.recipe import Rows, Sampler
from rmix.streams import stream
from rmix.testing.clause import clause, run_all, table
from rmix.testing.generators import global_generators
from rmix.testing.plain import goes_round
from rmix.testing.runs import changed_fields, clone, fit
from rmix.testing.toy import toy_bundle
from rmix.weightings import WeightRule


def training_rows(bundle: Bundle, groups: Groups, dtype: torch.dtype = torch.float64) -> Batch:
    """All training rows as one batch of unit weights, with groups where ``groups`` permits."""
    rows = bundle.rows(groups)
    n = len(rows)
    return Batch(bundle.train.x.to(dtype), rows.y, torch.arange(n), torch.ones(n, dtype=dtype), rows.group)


def weights_of(rule: WeightRule, bundle: Bundle, dtype: torch.dtype = torch.float64) -> Tensor:
    """The weights (n,) that ``rule`` gives the training rows, after the stages it needs."""
    weighting = fit(Compose(weighting=rule), bundle, epochs=2).recipe.weighting
    batch = training_rows(bundle, rule.groups, dtype)
    kept = clone(batch)
    weight = weighting(batch)
    assert not (changed := changed_fields(batch, kept)), f"it changed the batch's {' and '.join(changed)}"
    return weight


def _bundles() -> dict[str, Bundle]:
    """Where weight rules go wrong: an absent group, and rows in no group."""
    toy = toy_bundle()
    group = cast(Tensor, toy.train.group).clone()
    group[::5] = -1
    return {
        "as it is": toy,
        "with an absent group": toy_bundle((30, 6, 0, 36)),
        "with rows in no group": replace(toy, train=replace(toy.train, group=group)),
    }


@clause
def contract_01_plain_values(rule: WeightRule) -> str | None:
    """JSON goes round, and the repr evaluates back."""
    goes_round(rule)
    return None


@clause
def contract_02_finite(rule: WeightRule) -> str | None:
    """One weight a row, finite and at least 0, in the type of the batch."""
    for what, bundle in _bundles().items():
        for dtype in (torch.float32, torch.float64):
            weight = weights_of(rule, bundle, dtype)
            found = (tuple(weight.shape), weight.dtype)
            assert found == ((len(bundle.train),), dtype), f"weights {what} are {found}"
            bad = weight[~(weight.isfinite() & (weight >= 0))]
            assert not len(bad), f"{what} it gives the weight {bad[0].item()}"
    return None


@clause
def contract_03_mean_one(rule: WeightRule) -> str | None:
    """With ``scale="mean_one"`` the mean over the training rows is one, and ratios stay as they are."""
    scaled, plain = (replace(rule, scale=scale) for scale in ("mean_one", "none"))
    for what, bundle in _bundles().items():
        weight, as_is = weights_of(scaled, bundle), weights_of(plain, bundle)
        assert abs(weight.mean().item() - 1) < 1e-12, f"the mean {what} is {weight.mean().item()}"
        assert torch.allclose(weight * as_is.mean(), as_is, rtol=1e-12), f"scaling {what} changes ratios of weights"
    return None


@clause
def contract_04_weights_multiply(rule: WeightRule) -> str | None:
    """Weights that the data brings are multiplied, not replaced."""
    bundle = toy_bundle()
    weighting = fit(Compose(weighting=rule), bundle, epochs=2).recipe.weighting
    batch = training_rows(bundle, rule.groups)
    once, thrice = weighting(batch), weighting(replace(batch, weight=3 * batch.weight))
    assert torch.allclose(3 * once, thrice), f"rows of weight 3 get {thrice[0]}, of weight 1 {once[0]}"
    return None


@clause
def contract_05_deterministic(rule: WeightRule) -> str | None:
    """Preparing it again gives the same weights, whatever the global generators are."""
    bundle = toy_bundle()
    found = []
    for seed in (1, 2):
        with global_generators(seed):
            found.append(weights_of(rule, bundle))
    assert torch.equal(*found), "preparing it twice gives different weights"
    return None


RULE_CONTRACTS = table(
    contract_01_plain_values,
    contract_02_finite,
    contract_03_mean_one,
    contract_04_weights_multiply,
    contract_05_deterministic,
)


def check_weight_rule(rule: WeightRule, exceptions: Mapping[str, str] | None = None) -> dict[str, str]:
    """Check the whole contract of a weight rule; ``exceptions`` gives clause -> reason.

    Example:
        >>> from rmix.weightings import InverseFrequency
        >>> check_weight_rule(InverseFrequency())["03_mean_one"]
        'holds'
    """
    return run_all(rule, RULE_CONTRACTS, exceptions or {})


def check_sampler(sampler: Sampler) -> None:
    """A sampler gives row numbers, from its generator alone, and sees groups only where it declares them.

    Example:
        >>> from rmix.samplers import Balanced
        >>> check_sampler(Balanced())
    """
    goes_round(sampler)
    bundle = toy_bundle()
    rows = bundle.rows(sampler.groups)
    for number in range(5):
        with global_generators(number):
            order = _order(sampler, rows, number)
        assert torch.equal(order, _order(sampler, rows, number)), f"{sampler!r} draws differently each time"
        assert len(order) >= 1, f"{sampler!r} draws no row"
        found = (order.dtype, order.dim(), int(order.min()) >= 0, int(order.max()) < len(rows))
        assert found == (torch.int64, 1, True, True), f"{sampler!r} draws {order}, no rows 0 … {len(rows) - 1}"
    assert not torch.equal(_order(sampler, rows, 0), _order(sampler, rows, 1)), f"{sampler!r} draws no random order"
    _check_permission(sampler, bundle)


def _order(sampler: Sampler, rows: Rows, number: int) -> Tensor:
    return sampler(rows, stream(number, "contract", "order"), 8)


def _check_permission(sampler: Sampler, bundle: Bundle) -> None:
    """One that declares groups says so where they are hidden; one that does not cannot tell them."""
    if Groups.TRAIN not in sampler.groups:
        shown, hidden = (_order(sampler, bundle.rows(groups), 0) for groups in (Groups.TRAIN, Groups.NONE))
        assert torch.equal(shown, hidden), f"{sampler!r} reads groups and does not declare it"
        return
    try:
        _order(sampler, bundle.rows(Groups.NONE), 0)
    except HiddenGroupsError:
        return
    raise AssertionError(f"{sampler!r} declares that it reads groups, but works where they are hidden")
