"""The last layer of a trained network as a logistic model on its features."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from rmix.datasets import DATASETS, Bundle, Split
from rmix.errors import InvalidValueError, lookup
from rmix.experiment.run import train
from rmix.models import Network
from rmix.theory.buys import Complexity, measured
from rmix.theory.expansion import Rows
from rmix.theory.glm import Array
from rmix.theory.glm_fit import group_weights
from rmix.theory.masks import MixupMasks
from rmix.theory.trained import Bounded, Case, bounded

METHODS = ("erm", "iw", "rmix_aware")
SETTINGS = (*((r, 9.0) for r in (1, 2, 4, 8, 16, 32)), *((8, ratio) for ratio in (1.0, 30.0, 100.0)))
SEEDS = 3


def feature_bounds(data: str, seed: int, methods: Sequence[str] = METHODS) -> list[Bounded]:
    """Train each method on ``data`` with its shipped settings, and bound the gap of its last layer.

    Rows weigh 1 / (n_groups k_g), so that the weighted loss is the mean over groups of their losses. The features
    were fitted to the same rows, which no bound of the paper covers: compare, do not certify.
    """
    bundle, found = two_classes_of(data), []
    shares = shares_of(bundle)
    for method in methods:
        model = train(data, method, seed=seed).model
        case = case_of(model, bundle, 1 / (bundle.n_groups * shares))
        law, name = case.law(MixupMasks(), seed), f"{data}, features"
        found.append(bounded(name, method, last_layer(model), case, law, seed))
    return found


def feature_sweeps(data: str, seed: int, seeds: int = SEEDS) -> list[Complexity]:
    """Complexity, bound and gap of new last layers on the features of ERM, means over ``seeds`` networks from ``seed``.

    Over the dimension, the features are those along their first principal axes, small groups weighing 9 times as
    much; over the weight of small groups, along the first eight. The second moments are those of the training rows.
    """
    bundle, each = two_classes_of(data), range(seed, seed + seeds)
    models, shares, found = [train(data, "erm", seed=s).model for s in each], shares_of(bundle), []
    for intrinsic, ratio in SETTINGS:
        weights = group_weights(shares, ratio)
        cases = [along(case_of(model, bundle, weights), intrinsic) for model in models]
        found.append(measured(cases, data, "mixup", intrinsic, ratio, seeds=each, copies=3))
    return found


def along(case: Case, intrinsic: int) -> Case:
    """The case with inputs projected onto their first ``intrinsic`` principal axes, which are not centred."""
    axes = np.linalg.eigh(case.plain)[1][:, -intrinsic:]
    train, held = (Rows(rows.x @ axes @ axes.T, rows.y, rows.weight) for rows in (case.train, case.held))
    return Case.of_sample(train, held, case.group, case.shares)


def shares_of(bundle: Bundle) -> Array:
    """Shares of the groups in the training split, (n_groups,)."""
    counts = np.bincount(np.asarray(bundle.train.group), minlength=bundle.n_groups)
    shares: Array = counts / counts.sum()
    return shares


def case_of(model: torch.nn.Module, bundle: Bundle, weights: Array) -> Case:
    """Features of the training and of the test rows, weighted by group."""
    fitted, held = (features_of(model, split, weights) for split in (bundle.train, bundle.test))
    return Case.of_sample(fitted, held, np.asarray(bundle.test.group), shares_of(bundle))


def two_classes_of(data: str) -> Bundle:
    """The data set of that name, if the theory speaks of it."""
    bundle = lookup("data set", data, DATASETS)().load()
    if bundle.n_classes != 2 or bundle.train.group is None or bundle.train.group.dim() != 1:
        raise InvalidValueError(
            f"The theory is of two classes and disjoint groups; {data!r} has {bundle.n_classes} classes "
            f"and {bundle.n_groups} groups. Try: rmix theory --data moons."
        )
    return bundle


@torch.no_grad()
def features_of(model: torch.nn.Module, split: Split, weights: Array) -> Rows:
    """Features and a one (n, d+1) in float64, labels 0 or 1 and the weights of the rows' groups.

    In float32 the noise of rounding would have a rank of its own.
    """
    assert isinstance(model, Network)
    model.eval().double()
    drawn = model.features(split.x[torch.arange(len(split))].double()).flatten(1).numpy()
    x = np.hstack([drawn, np.ones((len(drawn), 1))])
    return Rows(x, split.y.numpy().astype(np.float64), weights[np.asarray(split.group)])


def last_layer(model: torch.nn.Module) -> Array:
    """θ (d+1,): of two classes only the difference of their logits matters, and the bias goes with the one."""
    head = model.head
    assert isinstance(head, torch.nn.Linear)
    weight, bias = head.weight.detach().double().numpy(), head.bias.detach().double().numpy()
    theta: Array = np.append(weight[1] - weight[0], bias[1] - bias[0])
    return theta
