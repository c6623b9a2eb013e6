"""The contracts of methods, parts, models and data sets, for yours as for ours; pytest is not needed.

Example:
    >>> from rmix.methods import ERM
    >>> from rmix.testing import check_method
    >>> set(check_method(ERM()).values()) >= {"holds"}
    True
"""

from rmix.testing.methods import METHOD_CONTRACTS, check_method, digests_in_fresh_process
from rmix.testing.toy import toy_batch, toy_bundle, toy_model

__all__ = ["METHOD_CONTRACTS", "check_method", "digests_in_fresh_process", "toy_batch", "toy_bundle", "toy_model"]
