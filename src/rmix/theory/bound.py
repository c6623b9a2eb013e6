"""The set W_γ, the constant ρ, and the generalization bound.

theta is (d,), x (n, d); γ has the unit of the loss, ρ none once inputs have none.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import log, sqrt

import numpy as np

from rmix.errors import require
from rmix.theory.covariance import masked
from rmix.theory.glm import GLM, Array
from rmix.theory.masks import MaskLaw


def level(glm: GLM, theta: Array, x: Array, sigma: Array, law: MaskLaw) -> float:
    """The smallest γ with θ in W_γ: E A″(θᵀx) · θᵀ(Σ^(M) + E[x Var(M) xᵀ])θ, the free x of the print averaged.

    ``sigma`` (d, d) is Σ_X, weighted or not; it also weighs the average.
    """
    form = masked(sigma, law) + law.spread * sigma
    return float(np.mean(glm.curvature(x @ theta)) * (theta @ form @ theta))


@dataclass(frozen=True)
class Retention:
    """Both sides of the definition at the worst direction tried, and the ρ they allow.

    Args:
        curvature: E²[A″(xᵀv)], the left side.
        size: E(vᵀx)², what ρ multiplies on the right.
    """

    curvature: float
    size: float

    @property
    def rho(self) -> float:
        """The largest ρ in (0, 1/2] for this direction."""
        return min(self.curvature / self.size, 0.5)


def retention(glm: GLM, v: Array, x: Array) -> Retention:
    """Both sides at ``v`` (d,)."""
    score = x @ v
    return Retention(float(np.mean(glm.curvature(score))) ** 2, float(np.mean(score**2)))


def worst_retention(glm: GLM, directions: Iterable[Array], x: Array, radius: float) -> Retention:
    """The least ρ over directions (d,), each scaled to E(vᵀx)² = radius²: at least the true infimum.

    A radius there must be. For the logistic model the left side is at most 1/16 and falls while the right
    side grows, so that over *all* v, as printed, no ρ > 0 exists. It falls with the radius, hence the edge.
    """
    require(radius > 0, f"radius must be > 0, got {radius}")
    found = []
    for v in directions:
        size = np.sqrt(np.mean((x @ v) ** 2))
        if size > 0:
            found.append(retention(glm, v * (radius / size), x))
    return min(found, key=lambda r: r.rho)


def printed_radius(gamma: float, rho: float) -> float:
    """(γ/ρ)^(1/4), as printed: what would follow from E A″ ≥ ρ E(vᵀx)²."""
    return float((gamma / rho) ** 0.25)


def derived_radius(gamma: float, rho: float) -> float:
    """(γ²/ρ)^(1/6), what follows from the assumption as printed, E²A″ ≥ ρ E(vᵀx)².

    With s = θᵀΣθ and m = θᵀΣ^(M)θ it gives √(ρs)·m ≤ γ, so s or m is at most (γ²/ρ)^(1/3).
    """
    return float((gamma**2 / rho) ** (1 / 6))


@dataclass(frozen=True)
class Constants:
    """What the theorem leaves open.

    Args:
        lipschitz: L · L_A of the weighted loss in the score: the largest weight, for the logistic model.
        loss_range: B, the range of the weighted loss.
        delta: probability with which the bound may fail.
    """

    lipschitz: float
    loss_range: float
    delta: float = 0.05


def bound(n: int, radius: float, term: float, constants: Constants) -> float:
    """2 L L_A · radius · term / √n + B √(log(2/δ) / 2n), in the unit of the weighted loss.

    Example:
        >>> round(bound(400, 1.0, 10.0, Constants(lipschitz=1.0, loss_range=0.0)), 3)
        1.0
    """
    complexity = 2 * constants.lipschitz * radius * term / sqrt(n)
    return complexity + constants.loss_range * sqrt(log(2 / constants.delta) / (2 * n))
