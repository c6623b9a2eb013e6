"""What the regulariser buys: complexity, bound and gap over the intrinsic dimension and the small groups' weight."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import nan, sqrt

import numpy as np

from rmix.streams import stream
from rmix.theory.covariance import masked, weighted_sum
from rmix.theory.expansion import Rows
from rmix.theory.gaussian_groups import GaussianGroups
from rmix.theory.glm_fit import blended, fit_logistic, group_weights
from rmix.theory.masks import CutMixMasks, Masks, MixupMasks
from rmix.theory.rademacher import complexity_terms, draw_signs, over_ellipsoid, over_product
from rmix.theory.sheet import Sheet
from rmix.theory.trained import ALPHA, Bounded, Case, bounded

SIZES = (360, 40)
HELD_OUT = (4000, 4000)
DIMENSIONS = (1, 2, 4, 8, 16, 32, 64)
RATIOS = (1.0, 3.0, 9.0, 30.0, 100.0, 300.0)
SIGNS = 300
COPIES = 10  # blends of a row
FAMILIES: dict[str, Masks] = {"mixup": MixupMasks(), "cutmix": CutMixMasks()}


@dataclass(frozen=True)
class Complexity:
    """Complexity of the set in the proof, for radius one and times √n, beside what bounds it, and the gap.

    Args:
        intrinsic: dimension of the subspace.
        ratio: weight of a row of a small group over one of a large group.
        product: Monte Carlo over (θᵀΣθ)(θᵀΣ^(M)θ) ≤ 1, the set itself.
        plain: Monte Carlo over θᵀΣθ ≤ 1, with no mixing.
        two: Monte Carlo over its two enclosing ellipsoids, added: what the proof bounds.
        weighted_rows: as ``product`` with row i times w_i, as the weighted loss sees it.
        proof, printed, under_weights, erm: the terms of :class:`rmix.theory.rademacher.Terms`.
        bound_printed, bound_derived: the whole bound at RMix's θ, in nats, as printed and as its definitions give it.
        gap_erm, gap_rmix: generalization gap of weighted ERM and of RMix, in nats.
        gap_error: standard error over the seeds of their difference; nan for one seed.
        held_erm, held_rmix: their weighted losses on the held-out rows: a small gap alone is no merit.
    """

    data: str
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
    bound_printed: float
    bound_derived: float
    gap_erm: float
    gap_rmix: float
    gap_error: float
    held_erm: float
    held_rmix: float


def over_dimension(seeds: int) -> Sheet:
    """Complexity and gap over the intrinsic dimension, the small group weighing 9 times as much."""
    rows = [complexity(masks, r, 9.0, seeds) for masks in FAMILIES for r in DIMENSIONS]
    return Sheet("dimension", "Over the intrinsic dimension", _note(seeds), 4, rows)


def over_weight(seeds: int) -> Sheet:
    """Complexity and gap over the small group's weight, in 8 dimensions."""
    rows = [complexity(masks, 8, ratio, seeds) for masks in FAMILIES for ratio in RATIOS]
    return Sheet("weight", "Over the weight of the small group", _note(seeds), 4, rows)


def _note(seeds: int) -> str:
    return (
        f"Gaussian groups of {SIZES[0]} and {SIZES[1]} rows in 64 coordinates, known covariances, weights of mean one, "
        f"alpha {ALPHA}, {SIGNS} draws of signs, seeds 0 to {seeds - 1}. Complexities are times √n, radius one."
    )


def complexity(masks: str, intrinsic: int, ratio: float, seeds: int) -> Complexity:
    """Means over seeds of one setting on Gaussian groups."""
    cases = [gaussian_case(intrinsic, ratio, seed) for seed in range(seeds)]
    return measured(cases, "gaussian", masks, intrinsic, ratio, seeds=range(seeds))


def gaussian_case(intrinsic: int, ratio: float, seed: int) -> Case:
    """Rows of Gaussian groups, with the second moments of the population."""
    groups = GaussianGroups(intrinsic=intrinsic, seed=seed)
    shares = np.array(groups.shares)
    weights = group_weights(shares, ratio)
    x, y, group = groups.draw(SIZES, "train")
    held_x, held_y, held_group = groups.draw(HELD_OUT, "held out")
    rows = Rows(x, y, weights[group]), Rows(held_x, held_y, weights[held_group])
    moments = [weighted_sum(shares, w, groups.moments) for w in (weights, np.ones(2))]
    return Case(*rows, held_group, shares, *moments)


def measured(
    cases: Sequence[Case],
    data: str,
    masks: str,
    intrinsic: int,
    ratio: float,
    *,
    seeds: Sequence[int],
    copies: int = COPIES,
) -> Complexity:
    """Means over the cases, one a seed."""
    values = np.array([_one(case, masks, seed, copies) for case, seed in zip(cases, seeds, strict=True)])
    *means, held_erm, held_rmix = values.mean(0).tolist()
    apart = values[:, -3] - values[:, -4]  # gaps
    error = float(apart.std(ddof=1)) / sqrt(len(cases)) if len(cases) > 1 else nan
    numbers = [*means, error, held_erm, held_rmix]
    return Complexity(data, masks, intrinsic, ratio, *numbers)


def _one(case: Case, masks: str, seed: int, copies: int) -> list[float]:
    train, family = case.train, FAMILIES[masks]
    law = case.law(family, seed)
    mixed, scale = masked(case.sigma, law), sqrt(len(train.y))
    signs = draw_signs(SIGNS, len(train.y), stream(seed, "theory", "signs"))
    alone, mixing = over_ellipsoid(train.x, case.sigma, signs), over_ellipsoid(train.x, mixed, signs)
    loud = train.weight[:, None] * train.x
    products = [over_product(x, case.sigma, mixed, signs) for x in (train.x, loud)]
    suprema = products[0], alone, alone + mixing, products[1]
    terms = complexity_terms(case.sigma, mixed, case.plain)
    blends = blended(train, family, alpha=ALPHA, copies=copies, rng=stream(seed, "theory", "blends"))
    erm, rmix = (fit_logistic(rows) for rows in (train, blends))
    whole = bounded("", "", rmix, case, law, seed)
    bounds = terms.proof, terms.printed, terms.weighted, terms.erm, whole.printed, whole.derived
    held = (case.held_loss(theta) for theta in (erm, rmix))
    return [*(scale * s.mean() for s in suprema), *bounds, case.gap(erm), whole.gap, *held]


def gaussian_bounds(seed: int = 0) -> list[Bounded]:
    """The bound for weighted ERM and RMix on Gaussian groups, the small group weighing 9 times as much."""
    found = []
    for intrinsic in (2, 8, 32):
        case = gaussian_case(intrinsic, 9.0, seed)
        law = case.law(MixupMasks(), seed)
        blends = blended(case.train, MixupMasks(), alpha=ALPHA, copies=COPIES, rng=stream(seed, "theory", "blends"))
        for method, rows in (("iw", case.train), ("rmix_aware", blends)):
            found.append(bounded(f"gaussian, {intrinsic} dim.", method, fit_logistic(rows), case, law, seed))
    return found
