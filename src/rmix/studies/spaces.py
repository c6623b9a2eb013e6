"""Ranges of settings, as a search needs them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from rmix.errors import require
from rmix.methods.space import Choice, Space, Uniform, log_uniform
from rmix.studies.journal import optuna
from rmix.training.settings import Training


def training_space(training: Training) -> Space:
    """What may be tuned of every method alike: a factor of ten around the learning rate, and weight decay."""
    return {
        "training.lr": log_uniform(training.lr / 10, training.lr * 10),
        "training.weight_decay": Choice((0.0, 1e-4, 1e-3, 1e-2, 1e-1, 1.0)),
    }


def including(where: Uniform | Choice, value: Any) -> Uniform | Choice:
    """The range, wide enough for ``value``, with which a search begins.

    Example:
        >>> including(Choice((1, 3)), 2).options
        (1, 3, 2)
        >>> including(log_uniform(1, 100), 200.0)
        Uniform(low=1, high=200.0, log=True)
    """
    if isinstance(where, Choice):
        return where if value in where.options else Choice((*where.options, value))
    require(value > 0 or not where.log, f"A search over orders of magnitude cannot begin at {value}.")
    return replace(where, low=min(where.low, value), high=max(where.high, value))


def distribution(where: Uniform | Choice) -> Any:
    """The range in Optuna's words."""
    kinds = optuna().distributions
    if isinstance(where, Choice):
        return kinds.CategoricalDistribution(where.options)
    return kinds.FloatDistribution(where.low, where.high, log=where.log)
