"""Reweighted mixup, the paper's method: with and without group labels. Read this second."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from rmix.batch import Groups
from rmix.methods.compose import Compose, Composed
from rmix.methods.mixup import Mix, make_mixer
from rmix.methods.space import Choice, Space, log_uniform
from rmix.mixers import AnyPair
from rmix.weightings import FromEnsemble, FromTrajectory, GroupSize, Uncertainty
from rmix.weightings.rule import Scale
from rmix.weightings.trajectory import Record


@dataclass(frozen=True)
class RMix(Composed):
    """Mixup in which every row is weighted by how often ERM misclassified it.

    Paper: Han et al., Reweighted mixup for subpopulation shift, Algorithm 1, Eq. weighted-loss and approximation;
        first as UMIX, NeurIPS 2022.
    Idea: Rows that an ERM run keeps misclassifying are likely of a small group. They weigh more, and
        because every input is a new blend the network cannot undo the weights by memorising them:
        each of the two targets of a blend is weighted by the row it comes from.
    Sees: No group labels.
    Cost: An ERM run first (kept, and shared by later runs), then one forward and one backward pass a step.
        Measured: 1.1 of an ERM update.
    Deviations: sigma is tested as p < sigma (paper) rather than <= (published code). The last epoch of
        the ERM run is kept (the published code loses it). The window has T epochs (published code)
        where Eq. approximation writes T + 1. lambda = 0 of Algorithm 1 is the clean weighted batch.
        Weights are scaled to mean one, so that eta does not change the learning rate (`scale` none uses
        them as they are, as published).
    Reference numbers: The paper's worst group: Waterbirds 90.0 ± 1.1, CelebA 85.3 ± 4.1, CivilComments 70.1 ± 0.9.

    Args:
        eta: the weight of a row is eta * u + c, with u the share of epochs in which it was misclassified.
        c: see eta; the published code fixes it at 1.
        mix_prob: sigma, the probability of mixing a batch.
        alpha: lambda is drawn from Beta(alpha, alpha).
        mix: mixup, cutmix, manifold, manifold_random, or none (the same pairs, not mixed).
        per_sample: one lambda a row instead of one a batch.
        scale: none (weights as they are, as published: eta and the learning rate are coupled) or mean_one.
        window_start: T_s, the first epoch that counts, from 0.
        window: T, the number of epochs that count; None = all from window_start on.
        record: training (predictions of the training passes, as published) or clean (an evaluation pass an epoch).
        ensemble: 0 takes u from the trajectory of one run; more takes it from that many trained models.
    """

    name: ClassVar[str] = "rmix"
    erm_limit: ClassVar[Mapping[str, Any]] = {"eta": 0.0, "mix_prob": 0.0}
    space: ClassVar[Space] = {
        "eta": log_uniform(1, 100),
        "mix_prob": Choice((0.5, 1.0)),
        "alpha": Choice((0.5, 1.5, 3.0)),
    }
    eta: float = 20.0
    c: float = 1.0
    mix_prob: float = 0.5
    alpha: float = 0.5
    mix: Mix = "mixup"
    per_sample: bool = False
    scale: Scale = "mean_one"
    window_start: int = 0
    window: int | None = None
    record: Record = "training"
    ensemble: int = 0

    def composed(self) -> Compose:
        trajectory = FromTrajectory(self.window_start, self.window, self.record)
        source = FromEnsemble(self.ensemble) if self.ensemble else trajectory
        return Compose(
            weighting=Uncertainty(self.scale, self.eta, self.c, source),
            mixer=make_mixer(self.mix, self.alpha, self.mix_prob, AnyPair(), self.per_sample),
        )


@dataclass(frozen=True)
class RMixAware(Composed):
    """Mixup in which every row is weighted by the size of its group.

    Paper: Han et al., Reweighted mixup for subpopulation shift, Algorithm 1 and section 4.3.1.
    Idea: As `rmix`, with weights exp(C / sqrt(n_g)) from the known sizes of the groups.
    Sees: Group labels in training.
    Cost: One forward and one backward pass a step. Measured: 1.1 of an ERM update.
    Deviations: The paper gives no value of C, which depends strongly on the group sizes; unless it is
        given, it is solved from the ratio of the largest to the smallest weight. Rows in several groups
        take the least populous, rows in none weigh 1 (before scaling). The paper does not say whether
        weights are scaled; here they have mean one (`scale`).
    Reference numbers: The paper's worst group: Waterbirds 91.6 ± 0.2, CelebA 90.6 ± 0.6, CivilComments 73.3 ± 0.3.

    Args:
        capacity: the paper's C; None = solved from ratio.
        ratio: largest over smallest weight; None = that of the largest over the smallest group, at most 20.
        mix_prob: sigma, the probability of mixing a batch.
        alpha: lambda is drawn from Beta(alpha, alpha).
        mix: mixup, cutmix, manifold, manifold_random, or none (the same pairs, not mixed).
        per_sample: one lambda a row instead of one a batch.
        scale: none (weights as they are, as published) or mean_one.
    """

    name: ClassVar[str] = "rmix_aware"
    groups = Groups.TRAIN
    erm_limit: ClassVar[Mapping[str, Any]] = {"capacity": 0.0, "mix_prob": 0.0}
    space: ClassVar[Space] = {
        "ratio": Choice((None, 5.0, 10.0, 50.0, 100.0, 200.0)),
        "mix_prob": Choice((0.5, 1.0)),
        "alpha": Choice((0.5, 1.5, 3.0)),
    }
    capacity: float | None = None
    ratio: float | None = None
    mix_prob: float = 0.5
    alpha: float = 0.5
    mix: Mix = "mixup"
    per_sample: bool = False
    scale: Scale = "mean_one"

    def composed(self) -> Compose:
        return Compose(
            weighting=GroupSize(self.scale, self.capacity, self.ratio),
            mixer=make_mixer(self.mix, self.alpha, self.mix_prob, AnyPair(), self.per_sample),
        )
