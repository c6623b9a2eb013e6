"""The last layer of a trained network as a logistic model on its features."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from rmix.datasets import DATASETS, Bundle, Split
from rmix.errors import InvalidValueError, lookup
from rmix.experiment.run import train
from rmix.models import Network
from rmix.theory.buys import Bounded, bounded
from rmix.theory.expansion import Rows
from rmix.theory.glm import Array

METHODS = ("erm", "iw", "rmix_aware")


def feature_bounds(data: str, seed: int, methods: Sequence[str] = METHODS) -> list[Bounded]:
    """Train each method on ``data`` with its shipped settings, and bound the gap of its last layer.

    Rows weigh 1 / (n_groups k_g), so that the weighted loss is the mean over groups of their losses. The features
    were fitted to the same rows, which no bound of the paper covers: compare, do not certify.
    """
    bundle = two_classes_of(data)
    counts = np.bincount(np.asarray(bundle.train.group), minlength=bundle.n_groups)
    shares = counts / counts.sum()
    weights, group = 1 / (bundle.n_groups * shares), np.asarray(bundle.test.group)
    found = []
    for method in methods:
        model = train(data, method, seed=seed).model
        fitted, held = (features_of(model, split, weights) for split in (bundle.train, bundle.test))
        theta = last_layer(model)
        found.append(bounded(f"{data}, features", method, theta, fitted, held, group, shares=shares, seed=seed))
    return found


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
