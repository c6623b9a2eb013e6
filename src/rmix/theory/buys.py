"""What the regulariser buys: complexity and bound over intrinsic dimension and the small group's weight."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np

from rmix.streams import stream
from rmix.theory.bound import Constants, bound, derived_radius, level, printed_radius, worst_retention
from rmix.theory.covariance import masked, rank, second_moment, weighted_sum
from rmix.theory.expansion import Rows
from rmix.theory.gaussian_groups import GaussianGroups
from rmix.theory.glm import LOGISTIC, Array
from rmix.theory.glm_fit import blended, fit_logistic, generalization_gap, group_weights
from rmix.theory.masks import CutMixMasks, MaskLaw, MixupMasks, draw_law
from rmix.theory.rademacher import complexity_terms, draw_signs, over_ellipsoid, over_product
from rmix.theory.sheet import Sheet

SIZES = (360, 40)
HELD_OUT = (4000, 4000)
DIMENSIONS = (1, 2, 4, 8, 16, 32, 64)
RATIOS = (1.0, 3.0, 9.0, 30.0, 100.0, 300.0)
ALPHA = 0.5
SIGNS = 300
MASKS = 400


@dataclass(frozen=True)
class Complexity:
    """Complexity of the set in the proof, for radius one and times √n, beside what bounds it.

    Args:
        intrinsic: dimension of the subspace.
        ratio: weight of a row of the small group over one of the large group.
        product: Monte Carlo over (θᵀΣθ)(θᵀΣ^(M)θ) ≤ 1, the set itself.
        plain: Monte Carlo over θᵀΣθ ≤ 1, with no mixing.
        two: Monte Carlo over its two enclosing ellipsoids, added: what the proof bounds.
        weighted_rows: as ``product`` with row i times w_i, as the weighted loss sees it.
        proof, printed, under_weights, erm: the terms of :class:`rmix.theory.rademacher.Terms`.
        gap_erm, gap_rmix: generalization gap of weighted ERM and of RMix, in nats.
        gap_error: standard error over the seeds of their difference.
    """

    masks: str
    intrinsic: int
    ratio: float
    product: float
    plain: float
    two: float
    weighted_rows: float
    proof: float
    printed: float
    under_weights: float
    erm: float
    gap_erm: float
    gap_rmix: float
    gap_error: float


@dataclass(frozen=True)
class Bounded:
    """The bound at a trained θ, in nats of weighted loss, beside the gap that was measured.

    Args:
        gamma: the smallest γ with θ in W_γ.
        curvature, size: both sides of the definition of ρ at the worst direction tried.
        rank: of Σ_X.
        proof, printed, erm: the bound with each term.
        derived: as ``proof`` with the radius and the term that follow from the definitions as printed.
    """

    data: str
    method: str
    d: int
    n: int
    rank: int
    gap: float
    gamma: float
    curvature: float
    size: float
    rho: float
    derived: float
    proof: float
    printed: float
    erm: float


def over_dimension(seeds: int) -> Sheet:
    """Complexity and gap over the intrinsic dimension, the small group weighing 9 times as much."""
    rows = [complexity(masks, r, 9.0, seeds) for masks in ("mixup", "cutmix") for r in DIMENSIONS]
    return Sheet("dimension", "Over the intrinsic dimension", _note(seeds), 3, rows)


def over_weight(seeds: int) -> Sheet:
    """Complexity and gap over the small group's weight, in 8 dimensions."""
    rows = [complexity(masks, 8, ratio, seeds) for masks in ("mixup", "cutmix") for ratio in RATIOS]
    return Sheet("weight", "Over the weight of the small group", _note(seeds), 3, rows)


def _note(seeds: int) -> str:
    return (
        f"Gaussian groups of {SIZES[0]} and {SIZES[1]} rows in 64 coordinates, known covariances, weights of mean one, "
        f"alpha {ALPHA}, {SIGNS} draws of signs, seeds 0 to {seeds - 1}. Complexities are times √n, radius one."
    )


def complexity(masks: str, intrinsic: int, ratio: float, seeds: int) -> Complexity:
    """Means over seeds of one setting."""
    values = np.array([_one(masks, intrinsic, ratio, seed) for seed in range(seeds)])
    error = (values[:, -1] - values[:, -2]).std(ddof=1) / sqrt(seeds) if seeds > 1 else np.nan
    return Complexity(masks, intrinsic, ratio, *values.mean(0).tolist(), *[float(error)])


def _one(masks: str, intrinsic: int, ratio: float, seed: int) -> list[float]:
    groups = GaussianGroups(intrinsic=intrinsic, seed=seed)
    shares = np.array(groups.shares)
    weights = group_weights(shares, ratio)
    family = MixupMasks() if masks == "mixup" else CutMixMasks()
    law = draw_law(family, ALPHA, groups.d, draws=MASKS, rng=stream(seed, "theory", "masks"))[2]
    sigma, plain = weighted_sum(shares, weights, groups.moments), weighted_sum(shares, np.ones(2), groups.moments)
    mixed, train, held, group = masked(sigma, law), *_drawn(groups, weights)
    signs = draw_signs(SIGNS, len(train.y), stream(seed, "theory", "signs"))
    scale, loud = sqrt(len(train.y)), train.weight[:, None] * train.x
    alone, mixing = over_ellipsoid(train.x, sigma, signs), over_ellipsoid(train.x, mixed, signs)
    products = [over_product(x, sigma, mixed, signs) for x in (train.x, loud)]
    suprema = products[0], alone, alone + mixing, products[1]
    terms = complexity_terms(sigma, mixed, plain)
    blends = blended(train, family, alpha=ALPHA, copies=10, rng=stream(seed, "theory", "blends"))
    gaps = [generalization_gap(fit_logistic(rows), train, held, group, shares) for rows in (train, blends)]
    return [*(scale * s.mean() for s in suprema), terms.proof, terms.printed, terms.weighted, terms.erm, *gaps]


def _drawn(groups: GaussianGroups, weights: Array) -> tuple[Rows, Rows, Array]:
    """Training rows, held-out rows and the groups of these."""
    x, y, group = groups.draw(SIZES, "train")
    held_x, held_y, held_group = groups.draw(HELD_OUT, "held out")
    return Rows(x, y, weights[group]), Rows(held_x, held_y, weights[held_group]), held_group


def gaussian_bounds(seed: int = 0) -> list[Bounded]:
    """The bound for weighted ERM and RMix on Gaussian groups, the small group weighing 9 times as much."""
    found = []
    for intrinsic in (2, 8, 32):
        groups = GaussianGroups(intrinsic=intrinsic, seed=seed)
        shares = np.array(groups.shares)
        train, held, group = _drawn(groups, group_weights(shares, 9.0))
        blends = blended(train, MixupMasks(), alpha=ALPHA, copies=10, rng=stream(seed, "theory", "blends"))
        for method, rows in (("iw", train), ("rmix_aware", blends)):
            name = f"gaussian, {intrinsic} dim."
            found.append(bounded(name, method, fit_logistic(rows), train, held, group, shares=shares, seed=seed))
    return found


def bounded(
    data: str, method: str, theta: Array, train: Rows, held: Rows, group: Array, *, shares: Array, seed: int
) -> Bounded:
    """The bound at ``theta`` (d,), its constants estimated on the training rows; groups (n,) are those of ``held``.

    L L_A is the largest weight and B the largest weighted loss of any row seen: both flatter the bound.
    """
    n, d = train.x.shape
    law: MaskLaw = draw_law(MixupMasks(), ALPHA, d, draws=MASKS, rng=stream(seed, "theory", "masks"))[2]
    sigma, plain = second_moment(train.x, train.weight), second_moment(train.x)
    terms = complexity_terms(sigma, masked(sigma, law), plain)
    gamma = level(LOGISTIC, theta, train.x, sigma, law)
    tried = [theta, *stream(seed, "theory", "directions").standard_normal((200, d))]
    worst = worst_retention(LOGISTIC, tried, train.x, radius=sqrt(float(theta @ plain @ theta)))
    losses = [float(np.max(rows.weight * LOGISTIC.loss(rows.x @ theta, rows.y))) for rows in (train, held)]
    constants = Constants(float(train.weight.max()), max(losses))
    printed, derived = printed_radius(gamma, worst.rho), derived_radius(gamma, worst.rho)
    by_term = [bound(n, printed, term, constants) for term in (terms.proof, terms.printed, terms.erm)]
    gap = generalization_gap(theta, train, held, group, shares)
    sides = (gamma, worst.curvature, worst.size, worst.rho)
    return Bounded(data, method, d, n, rank(sigma), gap, *sides, bound(n, derived, terms.derived, constants), *by_term)
