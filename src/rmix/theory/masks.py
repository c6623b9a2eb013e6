"""Masks M(λ), and the law of the mask with which a row meets its partner."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from rmix.errors import require
from rmix.mixers.cutmix import cut_box
from rmix.theory.glm import Array


class Masks(Protocol):
    """A family of masks."""

    def draw(self, lam: Array, d: int, rng: np.random.Generator) -> tuple[Array, Array]:
        """Masks (k, d) for ``lam`` (k,), and the share (k,) of coordinates that each keeps."""


@dataclass(frozen=True)
class MixupMasks:
    """M = λ·1: every coordinate is blended alike."""

    def draw(self, lam: Array, d: int, rng: np.random.Generator) -> tuple[Array, Array]:
        """See :class:`Masks`."""
        return lam, np.repeat(lam[:, None], d, axis=1)


@dataclass(frozen=True)
class CutMixMasks:
    """A binary mask that keeps ⌊λd⌉ coordinates, every choice equally likely; λ is then what it keeps.

    Example:
        >>> lam, masks = CutMixMasks().draw(np.array([0.6]), 4, np.random.default_rng(0))
        >>> float(lam[0]), float(masks.sum())
        (0.5, 2.0)
    """

    def draw(self, lam: Array, d: int, rng: np.random.Generator) -> tuple[Array, Array]:
        """See :class:`Masks`."""
        kept = np.rint(lam * d)
        rank = rng.random((len(lam), d)).argsort(axis=1).argsort(axis=1)
        return kept / d, (rank < kept[:, None]).astype(np.float64)


@dataclass(frozen=True)
class BoxMasks:
    """CutMix as it is used on images: a box is cut around a random pixel, and clipped at the edges."""

    height: int
    width: int

    def draw(self, lam: Array, d: int, rng: np.random.Generator) -> tuple[Array, Array]:
        """See :class:`Masks`."""
        require(d == self.height * self.width, f"A box of {self.height} x {self.width} is no mask of {d} coordinates.")
        centre = rng.integers(self.height, size=len(lam)), rng.integers(self.width, size=len(lam))
        box = cut_box((self.height, self.width), lam, centre)
        rows, columns = np.arange(self.height)[:, None], np.arange(self.width)[None, :]
        top, bottom, left, right = (edge[:, None, None] for edge in box)
        inside = (top <= rows) & (rows < bottom) & (left <= columns) & (columns < right)
        masks = 1.0 - inside.reshape(len(lam), d)
        return masks.mean(1), masks


@dataclass(frozen=True, eq=False)
class MaskLaw:
    """Masks (k, d) in [0, 1] that keep a row, and their probabilities (k,).

    Finitely many masks are a law of their own, so identities that hold for every law hold for them
    to rounding, with no Monte Carlo error.
    """

    masks: Array
    shares: Array

    @classmethod
    def of_draws(cls, lam: Array, masks: Array) -> MaskLaw:
        """D̃ of draws lam (k,) and masks (k, d): with λ the row is the first of its pair, else the second.

        The second of a pair keeps 1 − M(λ). That has the law of M(1−λ), as the paper's proof needs, for mixup
        and for arbitrary binary masks, and not for boxes: what is around a box is not a box.
        """
        return cls(np.concatenate([masks, 1 - masks]), np.concatenate([lam, 1 - lam]) / len(lam))

    def weakened(self, strength: float) -> MaskLaw:
        """The same law with ``strength`` (0 to 1) of what it takes from the partner."""
        return MaskLaw(1 - strength * (1 - self.masks), self.shares)

    @cached_property
    def kept(self) -> Array:
        """M̄ = E M, (d,)."""
        value: Array = self.shares @ self.masks
        return value

    @cached_property
    def cut_second(self) -> Array:
        """E[(1−M)(1−M)ᵀ], (d, d); the paper's E(1−M)Σ(1−M)ᵀ is this times Σ, entry by entry."""
        return self._second(1 - self.masks)

    @cached_property
    def spread(self) -> Array:
        """Cov(M), (d, d); the paper's x Var(M) xᵀ is this times xxᵀ, entry by entry."""
        return self._second(self.masks - self.kept)

    def _second(self, values: Array) -> Array:
        value: Array = (self.shares[:, None] * values).T @ values
        return value


def draw_law(
    family: Masks, alpha: float, d: int, *, draws: int, rng: np.random.Generator
) -> tuple[Array, Array, MaskLaw]:
    """Draws λ of Beta(alpha, alpha) as kept (k,), masks (k, d), and the law they make."""
    lam, masks = family.draw(rng.beta(alpha, alpha, draws), d, rng)
    return lam, masks, MaskLaw.of_draws(lam, masks)
