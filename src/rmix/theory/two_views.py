"""Proposition 1: two weighted targets of one blend, or one blended target with one weight."""

from __future__ import annotations

import numpy as np

from rmix.theory.glm import Array


def two_targets(logits: Array, y: tuple[Array, Array], weight: tuple[Array, Array], lam: Array) -> Array:
    """w_i λ ℓ(x̃, y_i) + w_j (1−λ) ℓ(x̃, y_j), each (n,): the loss as Algorithm 1 computes it.

    Args:
        logits: (n, K) at the blended inputs.
        y: targets (n, K) of the rows and of their partners, one-hot or any shares that sum to one.
        weight: (n,) of the rows and of their partners.
        lam: (n,) share of the row itself.
    """
    loss = [cross_entropy(logits, target) for target in y]
    value: Array = weight[0] * lam * loss[0] + weight[1] * (1 - lam) * loss[1]
    return value


def one_target(logits: Array, y: tuple[Array, Array], weight: tuple[Array, Array], lam: Array) -> Array:
    """w̄ ℓ(x̃, ȳ), each (n,): the right-hand side of Proposition 1; arguments as for :func:`two_targets`.

    Where both weights are zero the blended target is not defined, and the loss is zero.
    """
    own, other = weight[0] * lam, weight[1] * (1 - lam)
    total = own + other
    safe = np.where(total > 0, total, 1.0)
    blended = (own / safe)[:, None] * y[0] + (other / safe)[:, None] * y[1]
    value: Array = total * cross_entropy(logits, blended)
    return value


def cross_entropy(logits: Array, target: Array) -> Array:
    """−Σ_k y_k log softmax(logits)_k of each row, both arguments (n, K)."""
    shifted = logits - logits.max(1, keepdims=True)
    value: Array = -(target * (shifted - np.log(np.exp(shifted).sum(1, keepdims=True)))).sum(1)
    return value
