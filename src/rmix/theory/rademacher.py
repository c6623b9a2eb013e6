"""Rademacher complexity of linear scores: suprema in closed form for each draw of signs, and bounds beside them.

Rows x are (n, d), signs (draws, n) of ±1. A supremum has the unit of a score θᵀx.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rmix.theory.covariance import inverse_root, rank, trace_of_quotient
from rmix.theory.glm import Array

TRADES = 101  # tried between the two forms of the product set
OUTSIDE = 1e-7  # share of a sum of rows that may lie outside the range of an ellipsoid


def draw_signs(draws: int, n: int, rng: np.random.Generator) -> Array:
    """Independent signs (draws, n)."""
    value: Array = 2.0 * rng.integers(2, size=(draws, n)) - 1
    return value


def over_ellipsoid(x: Array, sigma: Array, signs: Array) -> Array:
    """sup of (1/n) Σ ξ_i θᵀx_i over θᵀ sigma θ ≤ 1, (draws,): ‖sigma^(†/2) Σ ξ_i x_i‖ / n.

    Infinite where the signed sum leaves the range of ``sigma``: the pseudo-inverse alone would not show it.

    Example:
        >>> over_ellipsoid(np.array([[3.0], [1.0]]), np.eye(1), np.array([[1.0, 1.0], [1.0, -1.0]])).tolist()
        [2.0, 1.0]
    """
    sums, root = signs @ x, inverse_root(sigma)
    basis = root / np.linalg.norm(root, axis=0)
    left = np.linalg.norm(sums - (sums @ basis) @ basis.T, axis=1)
    inside = left <= OUTSIDE * np.linalg.norm(sums, axis=1)
    value: Array = np.where(inside, np.linalg.norm(sums @ root, axis=1) / len(x), np.inf)
    return value


def over_product(x: Array, sigma: Array, masked: Array, signs: Array) -> Array:
    """sup over (θᵀ sigma θ)(θᵀ masked θ) ≤ 1, (draws,): the set the proof encloses in two ellipsoids.

    A product of two forms is at most one where some t > 0 has (θᵀ sigma θ)/t + t θᵀ masked θ ≤ 2, so the
    set is a union of ellipsoids. In coordinates that make both forms diagonal, 1 and c_j, coordinate j alone would
    choose t = 1/√c_j, and the best t, between the least and the largest of these, is found on a grid.
    Needs every row in the range of ``sigma``, and that in the range of ``masked``.
    """
    root = inverse_root(sigma)
    forward = sigma @ root  # root.T @ forward is the identity
    other = inverse_root(masked)
    quotient = (forward.T @ other) @ (other.T @ forward)  # the masked form, inverted, in whitened coordinates
    inverse, turn = np.linalg.eigh((quotient + quotient.T) / 2)
    squares = (signs @ x @ root @ turn) ** 2  # (draws, rank)
    trades = np.geomspace(inverse.min() ** 0.5, inverse.max() ** 0.5, TRADES)[:, None]
    per_trade = 2 / (1 / trades + trades / inverse)
    value: Array = np.sqrt((squares @ per_trade.T).max(1)) / len(x)
    return value


@dataclass(frozen=True)
class Terms:
    """What multiplies (γ/ρ)^(1/4) / √n in the bound on the complexity; no unit.

    Args:
        printed: √tr(Σ^(M)† Σ) + rank(Σ), of the theorem.
        proof: √tr(Σ^(M)† Σ) + √rank(Σ), what its proof's last inequality supports where all weights are one.
        weighted: √tr(Σ^(M)† Σ_P) + √tr(Σ† Σ_P), what it supports under weights; Σ_P is without them.
        derived: √tr(Σ^(M)† Σ_P) + √rank(Σ_P), where the first form of the set is without weights too, as the
            printed definition of ρ has it.
        erm: √d, what the paper states for weighted ERM.
    """

    printed: float
    proof: float
    weighted: float
    derived: float
    erm: float


def complexity_terms(sigma: Array, masked: Array, plain: Array) -> Terms:
    """The terms for Σ, Σ^(M) and Σ_P, each (d, d).

    Example:
        >>> complexity_terms(np.eye(4), np.eye(4) / 4, np.eye(4))
        Terms(printed=8.0, proof=6.0, weighted=6.0, derived=6.0, erm=2.0)
    """
    mixed, size = trace_of_quotient(masked, sigma) ** 0.5, rank(sigma)
    bare = trace_of_quotient(masked, plain) ** 0.5
    weighted, derived = bare + trace_of_quotient(sigma, plain) ** 0.5, bare + rank(plain) ** 0.5
    return Terms(mixed + size, mixed + size**0.5, weighted, derived, len(sigma) ** 0.5)
