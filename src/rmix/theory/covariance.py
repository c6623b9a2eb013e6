"""Second moments of the inputs, by group, weighted and masked, and what the bound reads from them.

The paper calls E[xxᵀ] a covariance; nothing is centred. Inputs have some unit, matrices its square; rank and
traces of quotients have none.
"""

from __future__ import annotations

import numpy as np

from rmix.errors import require
from rmix.theory.glm import Array
from rmix.theory.masks import MaskLaw


def second_moment(x: Array, weight: Array | None = None) -> Array:
    """(1/n) Σ w_i x_i x_iᵀ, (d, d), of x (n, d) and weight (n,), one where it is not given.

    Example:
        >>> second_moment(np.array([[1.0, 2.0], [3.0, 0.0]]), np.array([2.0, 1.0])).tolist()
        [[5.5, 2.0], [2.0, 4.0]]
    """
    weighted = x if weight is None else weight[:, None] * x
    value: Array = weighted.T @ x / len(x)
    return value


def group_moments(x: Array, group: Array, n_groups: int) -> tuple[Array, Array]:
    """Shares k_g (n_groups,) and second moments Σ_X^g (n_groups, d, d) of rows x (n, d) in groups (n,)."""
    counts = np.bincount(group, minlength=n_groups)
    require(bool(np.all(counts > 0)), f"Every group needs a row, got counts {counts.tolist()}; leave empty groups out.")
    return counts / len(group), np.stack([second_moment(x[group == g]) for g in range(n_groups)])


def weighted_sum(shares: Array, weights: Array, moments: Array) -> Array:
    """Σ_X = Σ_g k_g w_g Σ_X^g, (d, d), from shares and weights (n_groups,) and moments (n_groups, d, d)."""
    value: Array = np.einsum("g,gij->ij", shares * weights, moments)
    return value


def masked(sigma: Array, law: MaskLaw) -> Array:
    """Σ_X^(M) = E[(1−M) Σ_X (1−M)ᵀ], (d, d): for mixup E(1−λ)² Σ_X, and in general an entrywise product."""
    value: Array = law.cut_second * sigma
    return value


def inverse_root(sigma: Array, rtol: float | None = None) -> Array:
    """F (d, rank) with F Fᵀ the pseudo-inverse of ``sigma`` (d, d), symmetric and positive semidefinite.

    Eigenvalues of at most ``rtol`` times the largest are zero. By default rtol = 10 d ε, with ε = 2.2e-16: what
    rounding alone makes of a zero.
    """
    values, vectors = np.linalg.eigh((sigma + sigma.T) / 2)
    tolerance = 10 * len(sigma) * np.finfo(np.float64).eps if rtol is None else rtol
    kept = values > tolerance * max(values[-1], 0.0)
    root: Array = vectors[:, kept] / np.sqrt(values[kept])
    return root


def rank(sigma: Array, rtol: float | None = None) -> int:
    """Rank with the tolerance of :func:`inverse_root`.

    Example:
        >>> rank(np.diag([1.0, 1e-3, 1e-20]))
        2
    """
    return int(inverse_root(sigma, rtol).shape[1])


def trace_of_quotient(divisor: Array, sigma: Array, rtol: float | None = None) -> float:
    """tr(divisor† sigma), both (d, d)."""
    root = inverse_root(divisor, rtol)
    return float(np.sum(root * (sigma @ root)))
