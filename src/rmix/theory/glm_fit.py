"""Logistic models trained with weights, on rows as they are or on their blends, and how far they generalize."""

from __future__ import annotations

import numpy as np

from rmix.errors import require
from rmix.theory.expansion import Rows
from rmix.theory.glm import LOGISTIC, Array
from rmix.theory.masks import Masks


def group_weights(shares: Array, ratio: float) -> Array:
    """Weights (n_groups,) of mean one over the rows; a group of less than an equal share weighs ``ratio`` times others.

    Example:
        >>> group_weights(np.array([0.75, 0.25]), 5.0).tolist()
        [0.5, 2.5]
    """
    weights = np.where(shares < 1 / len(shares), ratio, 1.0)
    value: Array = weights / (shares @ weights)
    return value


def blended(rows: Rows, family: Masks, *, alpha: float, copies: int, rng: np.random.Generator) -> Rows:
    """``copies`` blends of each row, with the one target and weight of Proposition 1."""
    n = len(rows.y)
    i, j = np.tile(np.arange(n), copies), rng.integers(n, size=copies * n)
    lam, mask = family.draw(rng.beta(alpha, alpha, copies * n), rows.x.shape[1], rng)
    own, other = lam * rows.weight[i], (1 - lam) * rows.weight[j]
    x = mask * rows.x[i] + (1 - mask) * rows.x[j]
    return Rows(x, (own * rows.y[i] + other * rows.y[j]) / (own + other), own + other)


def fit_logistic(rows: Rows, ridge: float = 1e-3, steps: int = 50) -> Array:
    """θ (d,) that minimises the weighted logistic loss plus ridge/2 ‖θ‖², by Newton's method with halved steps."""
    theta = np.zeros(rows.x.shape[1])

    def objective(at: Array) -> float:
        return LOGISTIC.weighted_loss(at, rows.x, rows.y, rows.weight) + ridge / 2 * float(at @ at)

    for _ in range(steps):
        score, n = rows.x @ theta, len(rows.y)
        gradient = rows.x.T @ (rows.weight * (LOGISTIC.slope(score) - rows.y)) / n + ridge * theta
        if np.linalg.norm(gradient) < 1e-10:
            break
        curved = (rows.weight * LOGISTIC.curvature(score))[:, None] * rows.x
        step, size = np.linalg.solve(rows.x.T @ curved / n + ridge * np.eye(len(theta)), gradient), 1.0
        while objective(theta - size * step) > objective(theta) and size > 1e-6:
            size /= 2
        theta = theta - size * step
    return theta


def held_out_loss(theta: Array, held: Rows, group: Array, shares: Array) -> float:
    """E_P[w ℓ] at ``theta`` (d,), from held-out rows whose groups (n,) are put in ``shares`` (n_groups,)."""
    n_groups = len(shares)
    counts = np.bincount(group, minlength=n_groups)
    require(bool(np.all(counts > 0)), f"Every group needs a held-out row, got counts {counts.tolist()}.")
    loss = held.weight * LOGISTIC.loss(held.x @ theta, held.y)
    return float(shares @ (np.bincount(group, loss, n_groups) / counts))


def generalization_gap(theta: Array, train: Rows, held: Rows, group: Array, shares: Array) -> float:
    """GError(θ): E_P[w ℓ] − (1/n) Σ w_i ℓ_i, with E_P as in :func:`held_out_loss`."""
    seen = LOGISTIC.weighted_loss(theta, train.x, train.y, train.weight)
    return held_out_loss(theta, held, group, shares) - seen
