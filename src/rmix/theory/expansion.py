"""Reweighted mixup as weighted loss plus regulariser: the lemmas of the appendix, as derived and as printed.

Everywhere theta is (d,), x (n, d), y (n,), weight (n,) and a loss is one number.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rmix.theory.covariance import second_moment
from rmix.theory.glm import GLM, Array
from rmix.theory.masks import MaskLaw


@dataclass(frozen=True, eq=False)
class Rows:
    """Training rows: inputs x (n, d), targets y (n,) and weights (n,)."""

    x: Array
    y: Array
    weight: Array

    def centred(self) -> Rows:
        """With inputs of (unweighted) mean zero, as the lemma of the GLM loss needs them."""
        return Rows(self.x - self.x.mean(0), self.y, self.weight)


def mixed_loss(glm: GLM, theta: Array, rows: Rows, lam: Array, masks: Array) -> float:
    """The RMix loss by its definition: mean over all n² pairs and all draws lam (k,), masks (k, d)."""
    total = 0.0
    for share, mask in zip(lam, masks, strict=True):
        score = (rows.x @ (theta * mask))[:, None] + (rows.x @ (theta * (1 - mask)))[None, :]
        own = share * rows.weight[:, None] * glm.loss(score, rows.y[:, None])
        other = (1 - share) * rows.weight[None, :] * glm.loss(score, rows.y[None, :])
        total += float(np.mean(own + other))
    return total / len(lam)


def sampled_loss(
    glm: GLM, theta: Array, rows: Rows, lam: Array, masks: Array, rng: np.random.Generator
) -> tuple[float, float]:
    """The RMix loss by Monte Carlo, a random pair a draw: mean and its standard error."""
    i, j = rng.integers(len(rows.y), size=(2, len(lam)))
    score = (masks * rows.x[i] + (1 - masks) * rows.x[j]) @ theta
    own = lam * rows.weight[i] * glm.loss(score, rows.y[i])
    values = own + (1 - lam) * rows.weight[j] * glm.loss(score, rows.y[j])
    return float(values.mean()), float(values.std(ddof=1) / np.sqrt(len(values)))


def partnered_loss(
    glm: GLM, theta: Array, rows: Rows, law: MaskLaw, own: Array | None = None, partner: Array | None = None
) -> float:
    """The same loss, a row at a time: (1/n) Σ w_i E_M E_r ℓ(θ, M⊙x_i + (1−M)⊙r, y_i), with M of D̃.

    Args:
        own: (n,) factor of a row's own input. It is one; the paper prints w_i.
        partner: (n,) probability of each row as the partner r. It is 1/n; the paper says by weight.
    """
    n = len(rows.y)
    own = np.ones(n) if own is None else own
    partner = np.full(n, 1 / n) if partner is None else partner
    total = 0.0
    for share, mask in zip(law.shares, law.masks, strict=True):
        score = (own * (rows.x @ (theta * mask)))[:, None] + (rows.x @ (theta * (1 - mask)))[None, :]
        total += float(share * np.mean(rows.weight * (glm.loss(score, rows.y[:, None]) @ partner)))
    return total


def first_order(glm: GLM, theta: Array, rows: Rows, law: MaskLaw) -> float:
    """R₁, as derived: (1/n) Σ w_i (A′(u_i) − y_i) Σ_k θ_k (r̄_k − x_ik) E(1−M_k), with r̄ the mean row."""
    shift = (rows.x.mean(0) - rows.x) @ (theta * (1 - law.kept))
    return float(np.mean(rows.weight * (glm.slope(rows.x @ theta) - rows.y) * shift))


def printed_first_order(glm: GLM, theta: Array, rows: Rows, law: MaskLaw) -> float:
    """R₁ as the lemma states it: (1/n) Σ (y_i − A′(u_i)) θᵀx_i E(1−λ)."""
    score = rows.x @ theta
    return float(np.mean((rows.y - glm.slope(score)) * score) * (1 - law.kept.mean()))


def second_order(glm: GLM, theta: Array, rows: Rows, law: MaskLaw) -> float:
    """R₂, as derived: (1/2n) Σ w_i A″(u_i) θᵀ(E[(1−M)(1−M)ᵀ] ⊙ E_r[(r−x_i)(r−x_i)ᵀ])θ. R₃ is zero for a GLM."""
    mean = rows.x.mean(0)
    around = _form(law.cut_second * second_moment(rows.x - mean), theta)
    to_mean = _forms(law.cut_second, (rows.x - mean) * theta)
    return float(np.mean(rows.weight * glm.curvature(rows.x @ theta) * (around + to_mean)) / 2)


def regulariser(glm: GLM, theta: Array, rows: Rows, law: MaskLaw) -> float:
    """What rescaled mixing of centred rows adds to the weighted loss, to second order.

    (1/2n) Σ w_i A″(u_i) θ̂ᵀ(E[(1−M)(1−M)ᵀ] ⊙ Σ + Cov(M) ⊙ x_i x_iᵀ)θ̂, with θ̂ = θ ⊘ M̄ and Σ the plain
    second moment. It belongs to the loss of the blends divided by M̄: ``partnered_loss(glm, theta / law.kept, …)``.
    """
    return _regulariser(glm, theta, rows, law, second_moment(rows.x), theta / law.kept)


def printed_regulariser(glm: GLM, theta: Array, rows: Rows, law: MaskLaw) -> float:
    """As printed: Σ is weighted and C = 1/λ̄² stands for the rescaling; x_i is read inside the sum over i."""
    return _regulariser(glm, theta, rows, law, second_moment(rows.x, rows.weight), theta / law.kept.mean())


def _regulariser(glm: GLM, theta: Array, rows: Rows, law: MaskLaw, sigma: Array, scaled: Array) -> float:
    shared = _form(law.cut_second * sigma, scaled)
    of_row = _forms(law.spread, rows.x * scaled)
    return float(np.mean(rows.weight * glm.curvature(rows.x @ theta) * (shared + of_row)) / 2)


def _form(matrix: Array, v: Array) -> float:
    """vᵀ matrix v."""
    return float(v @ matrix @ v)


def _forms(matrix: Array, vectors: Array) -> Array:
    """vᵀ matrix v of each row v, (n,)."""
    value: Array = np.einsum("ij,ij->i", vectors @ matrix, vectors)
    return value
