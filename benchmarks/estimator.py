"""A fit of the scikit-learn door over one of scikit-learn's own network, on a table of Adult's shape."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier
from threadpoolctl import threadpool_limits

from benchmarks.timing import Line, interleaved, ratio_line
from rmix import GroupRobustClassifier, RMixClassifier
from rmix.models import MLP
from rmix.streams import stream

ROWS, NUMBERS, CATEGORIES = 32_561, 6, (9, 16, 7, 15, 6, 5, 2, 42)  # 108 columns once they are one-hot
EPOCHS, BATCH, WIDTH = 8, 256, 64


def make_table(dtype: type) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Six numbers and eight categories, one-hot; a label in one of four rows; an attribute."""
    rng = stream(0, "benchmark", "estimator")
    numbers = rng.standard_normal((ROWS, NUMBERS))
    one_hot = [np.eye(count)[rng.integers(count, size=ROWS)] for count in CATEGORIES]
    x = np.hstack([numbers, *one_hot]).astype(dtype)
    score = x @ rng.standard_normal(x.shape[1]) + rng.standard_normal(ROWS)
    return x, (score > np.quantile(score, 0.75)).astype(int), rng.integers(2, size=ROWS)


def lines() -> list[Line]:
    """Both over all rows to the last epoch, with the same sizes, batches and kind of optimizer."""
    wide, (x, y, side) = make_table(np.float64), make_table(np.float32)
    theirs = MLPClassifier((WIDTH, WIDTH), batch_size=BATCH, max_iter=EPOCHS, random_state=0)
    settings = {"epochs": EPOCHS, "batch_size": BATCH, "model": MLP(WIDTH, 2), "random_state": 0}
    ours = GroupRobustClassifier("erm", validation_fraction=None, **settings)
    aware = RMixClassifier(use_groups=True, **settings)
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        seconds = interleaved(
            {
                "theirs": lambda: theirs.fit(*wide[:2]),
                "theirs, float32": lambda: theirs.fit(x, y),
                "ours": lambda: ours.fit(*wide[:2]),
                "ours, float32": lambda: ours.fit(x, y),
                "aware": lambda: aware.fit(*wide[:2], sensitive_features=side),
            },
            repetitions=5,
        )
    name = f"ERM fit, {ROWS:,} x {x.shape[1]}, {EPOCHS} epochs"
    return [
        ratio_line(f"{name} / MLPClassifier, float64", seconds["ours"], seconds["theirs"], 1.0),
        ratio_line("  RMixClassifier(use_groups=True), epoch by worst group", seconds["aware"], seconds["theirs"]),
        ratio_line("  both on float32", seconds["ours, float32"], seconds["theirs, float32"]),
    ]
