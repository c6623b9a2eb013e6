"""Importance weighting by inverse group size: as loss weights, and as sampling."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from rmix.batch import Groups
from rmix.methods.base import Method
from rmix.methods.compose import Compose, Composed
from rmix.methods.space import Space, Uniform
from rmix.recipe import Facts, Recipe
from rmix.samplers import Balanced
from rmix.weightings import EffectiveNumber, InverseFrequency
from rmix.weightings.rule import Scale


@dataclass(frozen=True)
class ImportanceWeighting(Composed):
    """Weigh every row by the inverse size of its group.

    Paper: Shimodaira, Journal of Statistical Planning and Inference, 2000; Byrd & Lipton, ICML 2019.
    Idea: Every group counts alike in the loss; networks that fit every row can undo it.
    Sees: Group labels in training.
    Cost: One forward and one backward pass a step. Measured: 1.0 of an ERM update.
    Deviations: Weights have mean one over rows, so that the learning rate is that of ERM; `scale` none has
        mean one over groups, as in the published comparisons on subpopulations.
    Reference numbers: See iw_sampling; the paper does not say which form its row used.

    Args:
        power: 1 counts every group alike, 0.5 is the square-root variant.
        beta: of the effective number of rows (Cui et al., 2019; published 0.9999) instead of a power; None = the power.
        scale: none (mean one over groups) or mean_one (over rows).
    """

    name: ClassVar[str] = "iw"
    groups = Groups.TRAIN
    erm_limit: ClassVar[Mapping[str, Any]] = {"power": 0.0, "beta": None}
    space: ClassVar[Space] = {"power": Uniform(0.5, 1.0)}
    power: float = 1.0
    beta: float | None = None
    scale: Scale = "mean_one"

    def composed(self) -> Compose:
        by_power = InverseFrequency(self.scale, self.power)
        return Compose(weighting=by_power if self.beta is None else EffectiveNumber(self.scale, self.beta))


@dataclass(frozen=True)
class ImportanceSampling(Method):
    """Draw every group equally often.

    Paper: Sagawa et al., Distributionally robust neural networks, ICLR 2020 (`reweight_groups`).
    Idea: As loss weights, but the rows of small groups are seen more often instead of weighing more.
    Sees: Group labels in training.
    Cost: One forward and one backward pass a step. Measured: 1.0 of an ERM update.
    Deviations: None.
    Reference numbers: The paper's worst group: Waterbirds 88.0 ± 1.3, CelebA 83.3 ± 2.8, CivilComments 69.2 ± 0.9.
    """

    name: ClassVar[str] = "iw_sampling"
    groups = Groups.TRAIN

    def recipe(self, facts: Facts) -> Recipe:
        return Recipe(sampler=Balanced())
