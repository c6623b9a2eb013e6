"""Two Gaussian groups of known covariance."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rmix.errors import require
from rmix.streams import stream
from rmix.theory.glm import Array, sigmoid

ELSEWHERE = 0.04  # variance of a group in the coordinates where the other one lives


@dataclass(frozen=True)
class GaussianGroups:
    """A large and a small group in a subspace, each spread along its own half of it; mean zero.

    The label is a coin with log-odds θ_g·x; both θ_g agree in the large group's half and differ in sign in the other.

    Args:
        d: coordinates.
        intrinsic: dimension of the subspace.
        shares: of the large and of the small group.
        signal: norm of θ_g.
        seed: of the subspace and of the rows.
    """

    d: int = 64
    intrinsic: int = 8
    shares: tuple[float, float] = (0.9, 0.1)
    signal: float = 2.0
    seed: int = 0

    def __post_init__(self) -> None:
        require(
            1 <= self.intrinsic <= self.d,
            f"intrinsic must be from 1 to d={self.d}, got {self.intrinsic} (GaussianGroups)",
        )

    @cached_property
    def _basis(self) -> Array:
        """Orthonormal columns (d, intrinsic)."""
        drawn = stream(self.seed, "theory", "basis", self.d).standard_normal((self.d, self.d))
        basis: Array = np.linalg.qr(drawn)[0][:, : self.intrinsic]
        return basis

    @cached_property
    def _variances(self) -> Array:
        """Variance of each group along each column, (2, intrinsic)."""
        place = np.arange(self.intrinsic)
        large, small = place < (self.intrinsic + 1) // 2, place >= self.intrinsic // 2
        return np.where(np.stack([large, small]), 1.0, ELSEWHERE)

    @cached_property
    def moments(self) -> Array:
        """Σ_X^g of the population, (2, d, d)."""
        value: Array = np.einsum("ik,gk,jk->gij", self._basis, self._variances, self._basis)
        return value

    @cached_property
    def _teachers(self) -> Array:
        """θ_g, (2, d)."""
        along = np.full(self.intrinsic, self.signal / np.sqrt(self.intrinsic))
        flip = np.where(self._variances[0] == 1.0, 1.0, -1.0)
        value: Array = np.stack([along, along * flip]) @ self._basis.T
        return value

    def draw(self, sizes: tuple[int, int], *use: str | int) -> tuple[Array, Array, Array]:
        """Inputs (n, d), labels 0 or 1 (n,) and groups (n,), of these group sizes."""
        rng = stream(self.seed, "theory", "rows", *use)
        group = np.repeat(np.arange(2), sizes)
        along = rng.standard_normal((len(group), self.intrinsic)) * np.sqrt(self._variances[group])
        x = along @ self._basis.T
        chance = sigmoid(np.einsum("ij,ij->i", x, self._teachers[group]))
        return x, (rng.random(len(group)) < chance).astype(np.float64), group
