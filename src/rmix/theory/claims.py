"""The identities and expansions of the paper's appendix, each in numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import log, nan

import numpy as np

from rmix.streams import stream
from rmix.theory import expansion as lemma
from rmix.theory.expansion import Rows
from rmix.theory.gaussian_groups import GaussianGroups
from rmix.theory.glm import GLM, LINEAR, LOGISTIC, Array
from rmix.theory.glm_fit import group_weights
from rmix.theory.lambda_mixture import LambdaMixture
from rmix.theory.masks import BoxMasks, CutMixMasks, MaskLaw, Masks, MixupMasks, draw_law
from rmix.theory.sheet import Sheet
from rmix.theory.two_views import one_target, two_targets

FAMILIES: dict[str, Masks] = {"mixup": MixupMasks(), "cutmix": CutMixMasks(), "box": BoxMasks(3, 3)}
STRENGTHS = (0.4, 0.2, 0.1, 0.05)
ALPHA = 0.5
SAMPLED = 200_000  # pairs of the Monte Carlo


@dataclass(frozen=True)
class Toy:
    """54 + 6 centred rows of two Gaussian groups in 9 coordinates, the small group with 9 times the weight."""

    seed: int = 0
    draws: int = 1000

    @cached_property
    def rows(self) -> Rows:
        """Inputs (60, 9), labels and weights."""
        groups = GaussianGroups(d=9, intrinsic=9, seed=self.seed)
        x, y, group = groups.draw((54, 6), "claims")
        return Rows(x, y, group_weights(np.array(groups.shares), 9.0)[group]).centred()

    @cached_property
    def theta(self) -> Array:
        """A parameter (9,)."""
        value: Array = 0.3 * stream(self.seed, "theory", "theta").standard_normal(9)
        return value

    def law(self, family: str, alpha: float = ALPHA) -> tuple[Array, Array, MaskLaw]:
        """Draws of λ and masks, and their law."""
        rng = stream(self.seed, "theory", "masks", family)
        return draw_law(FAMILIES[family], alpha, 9, draws=self.draws, rng=rng)

    def loss(self, glm: GLM, theta: Array | None = None) -> float:
        """The weighted loss without mixing."""
        return glm.weighted_loss(self.theta if theta is None else theta, self.rows.x, self.rows.y, self.rows.weight)


@dataclass(frozen=True)
class Identity:
    """An equality and how far its two sides are apart."""

    claim: str
    over: str
    left: float
    right: float
    apart: float


def identities(toy: Toy) -> Sheet:
    """Proposition 1, the step from pairs to rows, and the linear model's exact regulariser."""
    found = [_proposition(toy.seed)]
    for family in FAMILIES:
        lam, masks, law = toy.law(family)
        left = lemma.mixed_loss(LOGISTIC, toy.theta, toy.rows, lam, masks)
        right = lemma.partnered_loss(LOGISTIC, toy.theta, toy.rows, law)
        found.append(Identity("pairs = rows under D̃", f"{family}, logistic", left, right, abs(left - right)))
    for family in FAMILIES:
        law = toy.law(family)[2]
        left = lemma.partnered_loss(LINEAR, toy.theta / law.kept, toy.rows, law)
        right = toy.loss(LINEAR) + lemma.regulariser(LINEAR, toy.theta, toy.rows, law)
        found.append(
            Identity("rescaled mixing = loss + regulariser", f"{family}, linear", left, right, abs(left - right))
        )
    note = f"{len(toy.rows.y)} rows, all pairs, {toy.draws} draws of λ and M, alpha {ALPHA}, seed {toy.seed}."
    return Sheet("identities", "Identities, to rounding", note, 2, found)


def _proposition(seed: int, n: int = 10_000, classes: int = 7) -> Identity:
    """The largest difference of both views over random logits, labels, weights and λ."""
    rng = stream(seed, "theory", "two views")
    logits, lam = 5 * rng.standard_normal((n, classes)), rng.random(n)
    y = (np.eye(classes)[rng.integers(classes, size=n)], np.eye(classes)[rng.integers(classes, size=n)])
    weight = (rng.exponential(size=n), rng.exponential(size=n))
    left, right = two_targets(logits, y, weight, lam), one_target(logits, y, weight, lam)
    apart = float(np.abs(left - right).max())
    return Identity("Proposition 1", f"{n:,} random blends, {classes} classes", left.mean(), right.mean(), apart)


@dataclass(frozen=True)
class Reading:
    """A printed or derived formula under each family of masks: its value, or what it misses its target by."""

    formula: str
    shown: str
    mixup: float
    cutmix: float
    box: float


def readings(toy: Toy) -> Sheet:
    """The printed formulas beside the derived ones, logistic model."""
    columns = [_readings_of(toy, family) for family in FAMILIES]
    rows = [Reading(*name, *(column[name] for column in columns)) for name in columns[0]]
    note = (
        f"Logistic model, {len(toy.rows.y)} centred rows, all pairs, {toy.draws} draws of λ and M, alpha {ALPHA}, "
        f"seed {toy.seed}. Errors are formula minus the mixed loss it should equal, in nats."
    )
    return Sheet("readings", "The lemmas, as derived and as printed", note, 1, rows)


def _readings_of(toy: Toy, family: str) -> dict[tuple[str, str], float]:
    """Every formula of the table under one family of masks."""
    lam, masks, law = toy.law(family)
    args = (LOGISTIC, toy.theta, toy.rows, law)
    mixed, plain, weight = lemma.partnered_loss(*args), toy.loss(LOGISTIC), toy.rows.weight
    rescaled = lemma.partnered_loss(LOGISTIC, toy.theta / law.kept, toy.rows, law)
    rng = stream(toy.seed, "theory", "pairs", family)
    drawn = rng.integers(len(lam), size=SAMPLED)
    sampled, spread = lemma.sampled_loss(*args[:3], lam[drawn], masks[drawn], rng)
    first, second, added = lemma.first_order(*args), lemma.second_order(*args), lemma.regulariser(*args)
    values = {"weighted loss L": plain, "RMix loss": mixed, "RMix loss, blends divided by M̄": rescaled}
    values |= {"smallest M̄": law.kept.min(), "largest M̄": law.kept.max()}
    errors = {
        "Monte Carlo over pairs": sampled - mixed,
        "w_i inside x̃ (printed)": lemma.partnered_loss(*args, own=weight) - mixed,
        "partner drawn by weight (printed)": lemma.partnered_loss(*args, partner=weight / weight.sum()) - mixed,
        "mask drawn at 1−λ (printed)": lemma.partnered_loss(*args[:3], _printed_law(toy, family)) - mixed,
        "L + R₁ + R₂, all with w_i": plain + first + second - mixed,
        "… R₁ without w_i (printed)": plain + lemma.printed_first_order(*args) + second - mixed,
        "… R₁ with the other sign": plain - first + second - mixed,
        "L + regulariser, without dividing by M̄": plain + added - mixed,
        "L + regulariser, divided by M̄": plain + added - rescaled,
        "… Σ weighted, C = 1/λ̄² (printed)": plain + lemma.printed_regulariser(*args) - rescaled,
    }
    named = {(name, "value"): float(v) for name, v in values.items()}
    named[("standard error of that Monte Carlo", "value")] = spread
    return named | {(name, "error"): float(v) for name, v in errors.items()}


def _printed_law(toy: Toy, family: str) -> MaskLaw:
    """With the second of a pair under M(1−λ), drawn anew, in place of 1 − M(λ)."""
    lam, masks, _ = toy.law(family)
    rng = stream(toy.seed, "theory", "masks again", family)
    again = FAMILIES[family].draw(1 - lam, masks.shape[1], rng)[1]
    return MaskLaw(np.concatenate([masks, again]), np.concatenate([lam, 1 - lam]) / len(lam))


@dataclass(frozen=True)
class Order:
    """One step on the way to weak mixing; ``order`` is the slope of the error from the step before."""

    way: str
    strength: float
    regulariser: float
    error: float
    of_regulariser: float
    order: float


def orders(toy: Toy) -> Sheet:
    """How fast the error of loss + regulariser falls, on three ways to weaker mixing (rescaled mixup)."""
    law = toy.law("mixup")[2]
    found = [
        *_steps("inputs mixed less", lambda t: _error(toy, toy.theta, law.weakened(t))),
        *_steps("smaller alpha", lambda t: _error(toy, toy.theta, _weak(toy, t / 4))),
        *_steps("smaller θ", lambda t: _error(toy, t * toy.theta, law)),
    ]
    note = (
        f"Rescaled mixup, {len(toy.rows.y)} centred rows, seed {toy.seed}. Inputs mixed less: 1 − M times the "
        "strength, labels as they were. Smaller alpha: real mixup, alpha = strength / 4, by quadrature."
    )
    return Sheet("orders", "How fast the error falls", note, 2, found)


def _steps(way: str, measure: Callable[[float], tuple[float, float]]) -> list[Order]:
    values = [measure(t) for t in STRENGTHS]
    slopes = [nan, *(log(abs(a[1] / b[1])) / log(2) for a, b in pairwise(values))]
    return [Order(way, t, *v, v[1] / v[0], s) for t, v, s in zip(STRENGTHS, values, slopes, strict=True)]


def _error(toy: Toy, theta: Array, law: MaskLaw) -> tuple[float, float]:
    """The regulariser, and what the mixed loss has besides loss and regulariser."""
    added = lemma.regulariser(LOGISTIC, theta, toy.rows, law)
    mixed = lemma.partnered_loss(LOGISTIC, theta / law.kept, toy.rows, law)
    return added, mixed - toy.loss(LOGISTIC, theta) - added


def _weak(toy: Toy, alpha: float) -> MaskLaw:
    """The law of mixup for Beta(alpha, alpha): 1−λ of Beta(alpha, alpha+1) by the midpoint rule.

    In v = (1−λ)^alpha the density has no pole, however small alpha is.
    """
    cut = ((np.arange(toy.draws) + 0.5) / toy.draws) ** (1 / alpha)
    shares = (1 - cut) ** alpha
    return MaskLaw(np.repeat(1 - cut[:, None], toy.rows.x.shape[1], axis=1), shares / shares.sum())


@dataclass(frozen=True)
class Moment:
    """A moment of 1−λ under D̃, three ways."""

    alpha: float
    beta: float
    order: int
    exact: float
    by_definition: float
    by_sampling: float


def mixture(seed: int, draws: int = 200_000) -> Sheet:
    """D̃_λ against its definition."""
    found = []
    for alpha, beta in ((0.5, 0.5), (2.0, 2.0), (0.5, 2.0)):
        law, rng = LambdaMixture(alpha, beta), stream(seed, "theory", "lambda", str(alpha), str(beta))
        lam, drawn = rng.beta(alpha, beta, draws), law.sample(draws, rng)
        for order in (1, 2):
            defined = float(np.mean(lam * (1 - lam) ** order + (1 - lam) * lam**order))
            found.append(
                Moment(alpha, beta, order, law.cut_moment(order), defined, float(np.mean((1 - drawn) ** order)))
            )
    note = f"E(1−λ)^order; by definition: mean of λ g(λ) + (1−λ) g(1−λ), {draws:,} draws, seed {seed}."
    return Sheet("mixture", "The mixture D̃ of λ", note, 3, found)
