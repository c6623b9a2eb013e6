"""The contracts of methods, parts, models and data sets, for yours as for ours; pytest is not needed.

Example:
    >>> from rmix.mixers import Mixup
    >>> check_mixer(Mixup())["02_same_draws"]
    'holds'
"""

from rmix.testing.datasets import check_card, check_dataset
from rmix.testing.methods import METHOD_CONTRACTS, check_method, digests_in_fresh_process
from rmix.testing.mixers import MIXER_CONTRACTS, check_mixer, check_pairing
from rmix.testing.models import check_model
from rmix.testing.selective import check_selective
from rmix.testing.toy import toy_batch, toy_bundle, toy_model
from rmix.testing.weightings import RULE_CONTRACTS, check_sampler, check_weight_rule

__all__ = [
    "METHOD_CONTRACTS",
    "MIXER_CONTRACTS",
    "RULE_CONTRACTS",
    "check_card",
    "check_dataset",
    "check_method",
    "check_mixer",
    "check_model",
    "check_pairing",
    "check_sampler",
    "check_selective",
    "check_weight_rule",
    "digests_in_fresh_process",
    "toy_batch",
    "toy_bundle",
    "toy_model",
]
