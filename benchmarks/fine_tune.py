"""Waterbirds with every layer trained: ``python -m benchmarks.fine_tune ROOT --jobs 2``, or with ``--device cuda``.

EfficientNet-Lite0 from its ImageNet weights (rmix[pretrained]), shown random crops and flips. No method was
tuned for it. A run that was killed goes on; finished ones are read.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import torch
from rich.console import Console
from torch import Tensor, nn

from rmix.cli.follow import follow
from rmix.datasets import Waterbirds
from rmix.datasets.transforms import View
from rmix.experiment.config import config_from
from rmix.methods import ERM, ImportanceWeighting, RMix, RMixAware
from rmix.models import EfficientNetLite0
from rmix.reports.paired import Paired
from rmix.reports.summary import Summary
from rmix.studies import Grid, Local

METHODS = (ERM(), ImportanceWeighting(), RMix(), RMixAware())
PAIRS = [("rmix", "erm"), ("rmix", "iw"), ("rmix_aware", "iw")]


class Renormalised(nn.Module):
    """Images as this network was trained, (value - 127) / 128; a view of rmix has ImageNet's mean and deviation."""

    def __init__(self) -> None:
        super().__init__()
        view = View()
        self.register_buffer("scale", torch.tensor(view.std).view(3, 1, 1) * 255 / 128)
        self.register_buffer("shift", torch.tensor(view.mean).view(3, 1, 1) * 255 / 128 - 127 / 128)

    def forward(self, x: Tensor) -> Tensor:
        """Of the same shape."""
        return x * self.scale + self.shift


def pretrained(side: int) -> nn.Module:
    """The network with ImageNet's features, its own dropout, and a last layer of two classes that starts at zero."""
    head = nn.Linear(1280, 2)
    nn.init.zeros_(head.weight)
    nn.init.zeros_(head.bias)
    return nn.Sequential(Renormalised(), EfficientNetLite0(side).network(), nn.Dropout(0.2), head)


def main() -> None:
    """Train what was not trained yet, print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fine_tune", description=__doc__)
    parser.add_argument("root")
    parser.add_argument("--size", type=int, default=64)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("runs"))
    given = parser.parse_args()
    settings: dict[str, Any] = {
        "dataset": Waterbirds(root=given.root, size=given.size, augment=True),
        "model": pretrained(given.size),
        "training": {"epochs": given.epochs, "batch_size": 32, "optimizer": "adamw", "lr": 4e-4, "weight_decay": 1e-2},
        "first": {"epochs": 2, "weight_decay": 1.0},
    }
    configs = [config_from({**settings, "method": m, "seed": seed}) for seed in range(given.seeds) for m in METHODS]
    grid = Grid(configs, given.out, Local(given.jobs), given.device)
    follow(grid, Console())
    print(Summary(grid.results).markdown() + "\n" + Paired(grid.results, PAIRS).markdown())


if __name__ == "__main__":
    main()
