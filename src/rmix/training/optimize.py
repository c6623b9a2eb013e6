"""The optimizer and the learning rate of a step, which is a function of the step and has no state."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import nn

from rmix.recipe import bare
from rmix.training.settings import Training


def make_optimizer(model: nn.Module, training: Training) -> torch.optim.Optimizer:
    """The optimizer that ``training`` describes."""
    parameters: list[Any] = [p for p in model.parameters() if p.requires_grad]
    spared = {id(p) for name, p in bare(model).named_parameters() if name in getattr(bare(model), "undecayed", ())}
    if spared:
        decayed = {"params": [p for p in parameters if id(p) not in spared]}
        parameters = [decayed, {"params": [p for p in parameters if id(p) in spared], "weight_decay": 0.0}]
    if training.optimizer == "adamw":
        # fused: one kernel a step; the dozen small ones of the default take a quarter of a small model's step
        return torch.optim.AdamW(parameters, lr=training.lr, weight_decay=training.weight_decay, fused=True)
    return torch.optim.SGD(parameters, lr=training.lr, momentum=training.momentum, weight_decay=training.weight_decay)


def rate_at(training: Training, step: int, steps: int) -> float:
    """Learning rate of ``step`` (from 0) of ``steps``.

    Example:
        >>> halfway = Training(lr=1.0, schedule="linear")
        >>> rate_at(halfway, 50, 100)
        0.5
    """
    warmup = training.warmup * steps
    if step < warmup:
        return training.lr * (step + 1) / (warmup + 1)
    if training.schedule == "constant":
        return training.lr
    done = (step - warmup) / max(1.0, steps - warmup)
    left = 1 - done if training.schedule == "linear" else (1 + math.cos(math.pi * done)) / 2
    return training.lr * left


def set_rate(optimizer: torch.optim.Optimizer, rate: float) -> None:
    """Use ``rate`` from the next step on."""
    for group in optimizer.param_groups:
        group["lr"] = rate
