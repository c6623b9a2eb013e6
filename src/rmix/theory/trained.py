"""The bound at trained models, in nats of the weighted loss, beside the gap that was measured."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Self

import numpy as np

from rmix.streams import stream
from rmix.theory.bound import Constants, bound, derived_radius, level, printed_radius, worst_retention
from rmix.theory.covariance import masked, rank, second_moment
from rmix.theory.expansion import Rows
from rmix.theory.glm import LOGISTIC, Array
from rmix.theory.glm_fit import generalization_gap, held_out_loss
from rmix.theory.masks import MaskLaw, Masks, draw_law
from rmix.theory.rademacher import complexity_terms

ALPHA = 0.5
MASKS = 400  # draws
DIRECTIONS = 200


@dataclass(frozen=True, eq=False)
class Case:
    """Rows to train on and rows held out, weighted by group, and the second moments that the bound reads.

    Args:
        group: (n,) groups of the held-out rows.
        shares: (n_groups,) of the groups.
        sigma: Σ_X (d, d), under the weights.
        plain: Σ_P (d, d), without them.
    """

    train: Rows
    held: Rows
    group: Array
    shares: Array
    sigma: Array
    plain: Array

    @classmethod
    def of_sample(cls, train: Rows, held: Rows, group: Array, shares: Array) -> Self:
        """With the second moments of the training rows, where those of the population are not known."""
        return cls(train, held, group, shares, second_moment(train.x, train.weight), second_moment(train.x))

    def gap(self, theta: Array) -> float:
        """The generalization gap of ``theta`` (d,)."""
        return generalization_gap(theta, self.train, self.held, self.group, self.shares)

    def held_loss(self, theta: Array) -> float:
        """The weighted loss of ``theta`` (d,) on the held-out rows."""
        return held_out_loss(theta, self.held, self.group, self.shares)

    def law(self, family: Masks, seed: int) -> MaskLaw:
        """The law of masks for these inputs."""
        d = self.train.x.shape[1]
        return draw_law(family, ALPHA, d, draws=MASKS, rng=stream(seed, "theory", "masks"))[2]


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


def bounded(data: str, method: str, theta: Array, case: Case, law: MaskLaw, seed: int) -> Bounded:
    """The bound at ``theta`` (d,), its constants estimated on the training rows.

    L L_A is the largest weight and B the largest weighted loss of any row seen: both flatter the bound.
    """
    train, (n, d) = case.train, case.train.x.shape
    terms = complexity_terms(case.sigma, masked(case.sigma, law), case.plain)
    gamma = level(LOGISTIC, theta, train.x, case.sigma, law)
    tried = [theta, *stream(seed, "theory", "directions").standard_normal((DIRECTIONS, d))]
    worst = worst_retention(LOGISTIC, tried, train.x, radius=sqrt(float(theta @ case.plain @ theta)))
    losses = [float(np.max(rows.weight * LOGISTIC.loss(rows.x @ theta, rows.y))) for rows in (train, case.held)]
    constants = Constants(float(train.weight.max()), max(losses))
    printed, derived = printed_radius(gamma, worst.rho), derived_radius(gamma, worst.rho)
    by_term = [bound(n, printed, term, constants) for term in (terms.proof, terms.printed, terms.erm)]
    sides = (gamma, worst.curvature, worst.size, worst.rho)
    by_definition = bound(n, derived, terms.derived, constants)
    return Bounded(data, method, d, n, rank(case.sigma), case.gap(theta), *sides, by_definition, *by_term)
