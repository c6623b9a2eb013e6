"""Generalized linear models: the loss A(θᵀx) − yθᵀx that the paper's theory is about."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

Array = np.ndarray
Curve = Callable[[Array], Array]


@dataclass(frozen=True)
class GLM:
    """A log-partition function of the score u = θᵀx and its first two derivatives.

    Args:
        name: of the model.
        a: A(u), in the unit of the loss (nats for the logistic model).
        slope: A′(u), the predicted mean of y.
        curvature: A″(u), the predicted variance of y.
        lipschitz: the largest |A′(u)|, infinite where there is none.
    """

    name: str
    a: Curve
    slope: Curve
    curvature: Curve
    lipschitz: float

    def loss(self, score: Array, y: Array) -> Array:
        """Loss of each score; the shapes of ``score`` and ``y`` broadcast.

        Example:
            >>> LINEAR.loss(np.array([3.0]), np.array([2.0])).tolist()
            [-1.5]
        """
        value: Array = self.a(score) - y * score
        return value

    def weighted_loss(self, theta: Array, x: Array, y: Array, weight: Array) -> float:
        """L_n(θ), the mean of w_i ℓ(θ, x_i, y_i): theta (d,), x (n, d), y (n,) and weight (n,)."""
        return float(np.mean(weight * self.loss(x @ theta, y)))


def sigmoid(u: Array) -> Array:
    """1 / (1 + exp(−u)) without overflow."""
    value: Array = 0.5 * (1 + np.tanh(u / 2))
    return value


LINEAR = GLM("linear", lambda u: u**2 / 2, lambda u: u, np.ones_like, np.inf)
LOGISTIC = GLM("logistic", lambda u: np.logaddexp(0, u), sigmoid, lambda u: sigmoid(u) * sigmoid(-u), 1.0)
POISSON = GLM("poisson", np.exp, np.exp, np.exp, np.inf)
