"""The Trainer of Lightning, with a module of a few weights."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import lightning.pytorch as pl
import pytest
import torch
from lightning.pytorch.callbacks import ModelCheckpoint
from torch import Tensor, nn
from torch.nn import functional
from torch.utils.data import DataLoader, TensorDataset
from toys import SMALL_MOONS

from rmix import Notes, Objective, RMix, WithIndex
from rmix.errors import CheckpointError
from rmix.integrations.lightning import RMixCallback
from rmix.methods import GroupDRO
from rmix.streams import stream

# what Lightning's own code does with torch, and its advice on validation and on numbers of workers
pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings(
        "ignore:.*isinstance.treespec, LeafSpec.:FutureWarning",
        "ignore:You defined a `validation_step` but have no `val_dataloader`",
        "ignore:The '.*_dataloader' does not have many workers",
        "ignore:The number of training batches",
        "ignore:Checkpoint directory .* exists and is not empty",
    ),
]
DATA = SMALL_MOONS.load().train
N = len(DATA)
TRAIN = WithIndex(TensorDataset(DATA.x, DATA.y))
MIXED = RMix(eta=4.0, mix_prob=0.5)


def network() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 2))


class Module(pl.LightningModule):
    """What a user has, with an objective or notes in its training step."""

    def __init__(self, rmix: Objective | Notes) -> None:
        super().__init__()
        self.network, self.rmix = network(), rmix

    def forward(self, x: Tensor) -> Tensor:
        return self.network(x)

    def training_step(self, batch: Any, batch_idx: int) -> Tensor:
        x, y, index = batch
        if isinstance(self.rmix, Objective):
            return self.rmix(self, x, y, index)
        logits = self(x)
        self.rmix.observe(index, logits, y)
        return functional.cross_entropy(logits, y)

    def validation_step(self, batch: Any, batch_idx: int) -> None:
        x, y, _ = batch
        self.log("right", (self(x).argmax(1) == y).float().mean())

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.SGD(self.parameters(), lr=0.1)


def objective(method: Any = MIXED) -> Objective:
    notes = Notes.of(stream(1, "notes").random((N, 3)) > 0.4) if method is MIXED else ()
    return Objective(method, DATA.y, DATA.group, notes=notes)


def fit(
    rmix: Objective | Notes, folder: Path, epochs: int = 4, resume: str | None = None, workers: int = 0, **given: Any
) -> Module:
    callbacks = [RMixCallback(rmix), ModelCheckpoint(folder, save_last=True)]
    quiet = {"logger": False, "enable_progress_bar": False, "enable_model_summary": False, "accelerator": "cpu"}
    trainer = pl.Trainer(max_epochs=epochs, callbacks=callbacks, default_root_dir=folder, **{**quiet, **given})
    order = rmix.sampler(16) if isinstance(rmix, Objective) else range(N)
    again = {"persistent_workers": True, "num_workers": workers} if workers else {}
    module = Module(rmix)
    valid = DataLoader(TRAIN, 64) if given.get("limit_val_batches", 1) else None
    trainer.fit(module, DataLoader(TRAIN, 16, sampler=order, **again), valid, ckpt_path=resume)
    return module


def weights(module: nn.Module) -> Tensor:
    return torch.cat([p.detach().flatten() for p in module.parameters()])


def own_loop(learns: Objective, epochs: int = 4) -> nn.Module:
    net = network()
    optimizer, loader = torch.optim.SGD(net.parameters(), lr=0.1), DataLoader(TRAIN, 16, sampler=learns.sampler(16))
    for epoch in range(epochs):
        learns.set_epoch(epoch)
        for x, y, index in loader:
            optimizer.zero_grad()
            learns(net, x, y, index).backward()
            optimizer.step()
    return net


@pytest.mark.parametrize("method", [MIXED, GroupDRO(eta=1.0)])
@pytest.mark.parametrize("workers", [0, 1])
def test_it_trains_as_a_loop_of_ones_own(method: Any, workers: int, tmp_path: Path) -> None:
    assert torch.equal(weights(fit(objective(method), tmp_path, workers=workers)), weights(own_loop(objective(method))))


@pytest.mark.parametrize("method", [MIXED, GroupDRO(eta=1.0)])
@pytest.mark.parametrize("validated", [0, 1])  # kept at the end of training epochs, or after validation
@pytest.mark.parametrize("workers", [0, 1])
def test_a_run_that_is_resumed_ends_as_if_it_had_not_been(
    method: Any, validated: int, workers: int, tmp_path: Path
) -> None:
    fit(objective(method), tmp_path, epochs=2, limit_val_batches=validated)
    kept = str(tmp_path / "last.ckpt")
    resumed = fit(objective(method), tmp_path, resume=kept, limit_val_batches=validated, workers=workers)
    assert torch.equal(weights(resumed), weights(own_loop(objective(method))))


def test_two_stages_and_notes_that_are_resumed(tmp_path: Path) -> None:
    whole, cut, resumed = Notes(N), Notes(N), Notes(N)
    fit(whole, tmp_path / "whole")
    fit(cut, tmp_path / "cut", epochs=2)
    fit(resumed, tmp_path / "cut", resume=str(tmp_path / "cut" / "last.ckpt"))
    assert resumed.n_epochs == 4
    assert torch.equal(resumed.trajectory.bits, whole.trajectory.bits)
    second = Objective(MIXED, DATA.y, notes=resumed)
    assert torch.equal(weights(fit(second, tmp_path)), weights(own_loop(Objective(MIXED, DATA.y, notes=whole))))


def test_a_checkpoint_of_another_method_is_refused(tmp_path: Path) -> None:
    fit(objective(), tmp_path, epochs=1)
    with pytest.raises(CheckpointError, match=r"another objective: method is RMix\(.*, not ERM"):
        fit(objective("erm"), tmp_path, resume=str(tmp_path / "last.ckpt"))
