"""RMix on data of your own: a bundle of three splits, a method, a report."""

import numpy as np
import torch

import rmix
from rmix.streams import stream


def split(n: int, agree: float, seed: int) -> rmix.Split:
    """A class that shows in the first feature, and a louder attribute that agrees with it in a share of the rows."""
    rng = stream(seed, "example")
    y = rng.integers(2, size=n)
    attribute = np.where(rng.random(n) < agree, y, 1 - y)
    x = rng.normal(size=(n, 2))
    x[:, 0] += 2 * y - 1
    x[:, 1] += 3 * (2 * attribute - 1)
    return rmix.Split(torch.tensor(x).float(), torch.tensor(y), group=torch.tensor(2 * y + attribute))


data = rmix.Bundle(
    "shortcut",
    train=split(1000, 0.97, seed=0),
    valid=split(400, 0.5, seed=1),
    test=split(1000, 0.5, seed=2),
    class_names=("no", "yes"),
    group_names=("no, quiet", "no, loud", "yes, quiet", "yes, loud"),
)
for method in ("erm", "rmix"):
    result = rmix.train(data, method, training={"epochs": 20}).result
    print(f"{method}: average {result.test.average:.3f}, worst group {result.test.worst:.3f}")
