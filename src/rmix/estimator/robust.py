"""The classifiers: RMix, and any other method."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rmix.estimator.classifier import RobustClassifier
from rmix.experiment.config import method_from
from rmix.methods import Method, RMix
from rmix.methods.mixup import Mix

MOST = 100.0  # times the weight of another row: more makes a handful of rows the training set


@dataclass(eq=False, repr=False)
class RMixClassifier(RobustClassifier):
    """Reweighted mixup for tables: a classifier that holds up on every subgroup, as scikit-learn has them.

    Without ``use_groups`` no group label is read to fit: rows that plain training keeps getting wrong weigh
    more. Where ``fit`` is given ``sensitive_features`` all the same, they choose the epoch that is kept, by the
    worst group of the held-out rows; ``groups_used_`` says what they were used for. There is no
    ``partial_fit``: the weights come from the whole course of a first training.

    Args:
        use_groups: weigh rows by the size of their group, from ``sensitive_features``.
        eta: without groups, the weight of a row is eta * u + 1, with u the share of epochs in which it was wrong.
            3 is cautious, as tables often have wrong labels; search from 1 to 100.
        ratio: with groups, largest over smallest weight; None = that of the training rows of the groups, at most 100.
        mix_prob: probability of mixing a batch.
        alpha: the share of a blend is drawn from Beta(alpha, alpha).
        mix: mixup, manifold, manifold_random, or none.

    Attributes:
        classes_: labels, sorted.
        groups_used_: whether group labels were used to fit, and to select the epoch.
        group_names_: groups of the rows given to ``fit``.
        group_counts_: training rows of each; None without sensitive features.
        selected_: rule, epoch (from 0) and value of the epoch that was kept.
        history_: a record an epoch of every stage.
        network_: the torch module.

    Example:
        >>> import numpy as np
        >>> x = np.random.default_rng(0).normal(size=(200, 2))
        >>> y = np.where(x[:, 0] > 0, "yes", "no")
        >>> clf = RMixClassifier(epochs=10, random_state=0).fit(x, y)
        >>> clf.predict([[3.0, 0.0]]).tolist(), clf.groups_used_
        (['yes'], {'fit': False, 'select': False})
    """

    use_groups: bool = False
    eta: float = 3.0
    ratio: float | None = None
    mix_prob: float = RMix.mix_prob
    alpha: float = RMix.alpha
    mix: Mix = RMix.mix

    def _make_method(self, counts: Sequence[int] | None = None) -> Method:
        mixing = {"mix_prob": self.mix_prob, "alpha": self.alpha, "mix": self.mix}
        if not self.use_groups:
            return method_from({"name": "rmix", "eta": self.eta} | mixing)
        ratio = self.ratio
        if ratio is None and counts:
            present = [count for count in counts if count]
            ratio = min(MOST, max(present) / min(present))
        return method_from({"name": "rmix_aware", "ratio": ratio} | mixing)


@dataclass(eq=False, repr=False)
class GroupRobustClassifier(RobustClassifier):
    """Any method of the library as a classifier of scikit-learn.

    Args:
        method: a name, a mapping such as ``{"name": "group_dro", "eta": 0.05}``, or a method, composed ones
            included. One that reads group labels needs ``sensitive_features`` in ``fit``.

    Example:
        >>> import numpy as np
        >>> x = np.random.default_rng(0).normal(size=(200, 2))
        >>> y, side = np.where(x[:, 0] > 0, "yes", "no"), x[:, 1] > 1
        >>> clf = GroupRobustClassifier("group_dro", epochs=20, random_state=0)
        >>> clf = clf.fit(x, y, sensitive_features=side)
        >>> clf.groups_used_, bool(clf.score(x, y) > 0.9)
        ({'fit': True, 'select': True}, True)
    """

    method: Any = "group_dro"

    def _make_method(self, counts: Sequence[int] | None = None) -> Method:
        return method_from(self.method)
