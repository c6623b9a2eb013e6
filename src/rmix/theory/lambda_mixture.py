"""D̃_λ: how much of a row its own blend holds, once both targets of a pair are counted."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, lgamma, log

import numpy as np

from rmix.errors import require
from rmix.theory.glm import Array


@dataclass(frozen=True)
class LambdaMixture:
    """α/(α+β) Beta(α+1, β) + β/(α+β) Beta(β+1, α), for λ drawn from Beta(α, β).

    It is defined by E_D̃[g(λ)] = E_Beta[λ g(λ) + (1−λ) g(1−λ)] for every g. The paper calls it a uniform
    mixture; it is one only for α = β, where both components are Beta(α+1, α).

    Example:
        >>> LambdaMixture(0.5, 0.5).cut_moment(1)
        0.25
    """

    alpha: float
    beta: float

    def __post_init__(self) -> None:
        require(self.alpha > 0 and self.beta > 0, f"alpha and beta must be > 0, got {self.alpha} and {self.beta}")

    @property
    def _first(self) -> float:
        """Share of the first component."""
        return self.alpha / (self.alpha + self.beta)

    def density(self, lam: Array) -> Array:
        """Density at ``lam``, strictly between 0 and 1."""
        first = _beta_density(lam, self.alpha + 1, self.beta)
        value: Array = self._first * first + (1 - self._first) * _beta_density(lam, self.beta + 1, self.alpha)
        return value

    def sample(self, size: int, rng: np.random.Generator) -> Array:
        """``size`` independent draws."""
        is_first = rng.random(size) < self._first
        value: Array = np.where(
            is_first, rng.beta(self.alpha + 1, self.beta, size), rng.beta(self.beta + 1, self.alpha, size)
        )
        return value

    def cut_moment(self, order: int) -> float:
        """E[(1−λ)^order], how much of a partner a blend holds: of the order of α for every order, as α → 0."""
        first = _moment(self.beta, self.alpha + 1, order)  # 1−λ of Beta(a, b) is Beta(b, a)
        return self._first * first + (1 - self._first) * _moment(self.alpha, self.beta + 1, order)


def _beta_density(lam: Array, a: float, b: float) -> Array:
    scale = lgamma(a + b) - lgamma(a) - lgamma(b)
    value: Array = np.exp(scale + (a - 1) * np.log(lam) + (b - 1) * np.log1p(-lam))
    return value


def _moment(a: float, b: float, order: int) -> float:
    """E[u^order] for u of Beta(a, b)."""
    return exp(sum(log(a + k) - log(a + b + k) for k in range(order)))
