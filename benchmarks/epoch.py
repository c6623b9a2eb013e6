"""An epoch of ERM through the trainer, over the loop that one would write by hand."""

from __future__ import annotations

import tempfile
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.utils.data import DataLoader, TensorDataset

from benchmarks.timing import Line, interleaved, ratio_line
from rmix.datasets.base import Bundle, Split
from rmix.methods import ERM
from rmix.models import MLP
from rmix.training.checkpoint import NoShelf, Shelf
from rmix.training.settings import Training
from rmix.training.trainer import Trainer

TRAINING = Training(epochs=10, batch_size=64)
MODEL = MLP()


def make_bundle(n: int = 4000, n_valid: int = 1000) -> Bundle:
    """Two features, two classes, four groups."""
    draw = torch.Generator().manual_seed(0)

    def split(rows: int) -> Split:
        x = torch.randn(rows, 2, generator=draw)
        y = (x.sum(1) > 0).long()
        return Split(x, y, 2 * y + torch.arange(rows) % 2)

    return Bundle("bench", split(n), split(n_valid), split(n_valid), ("0", "1"), ("0", "1", "2", "3"))


def through_rmix(bundle: Bundle, shelf: NoShelf | None = None) -> None:
    """Train with the library."""
    Trainer(TRAINING, shelf=shelf).fit(lambda: MODEL.build((2,), 2), ERM(), bundle)


def checkpointed(bundle: Bundle, folder: Path) -> None:
    """Train with the library, with a checkpoint after every epoch."""
    shelf = Shelf(folder, "bench", folder)
    for old in (shelf.newest, shelf.previous):
        old.unlink(missing_ok=True)
    through_rmix(bundle, shelf)


def by_hand(bundle: Bundle) -> None:
    """The bare loop: permute, slice, cross entropy, SGD with momentum, accuracy once an epoch."""
    model, optimizer = _fresh()
    train, n = bundle.train, len(bundle.train)
    for _ in range(TRAINING.epochs):
        model.train()
        order = torch.randperm(n)
        for start in range(0, n, TRAINING.batch_size):
            rows = order[start : start + TRAINING.batch_size]
            _update(model, optimizer, train.x[rows], train.y[rows])
        _accuracy(model, bundle.valid)


def with_loader(bundle: Bundle) -> None:
    """The same through a DataLoader."""
    model, optimizer = _fresh()
    loader = DataLoader(TensorDataset(bundle.train.x, bundle.train.y), TRAINING.batch_size, shuffle=True)
    for _ in range(TRAINING.epochs):
        model.train()
        for x, y in loader:
            _update(model, optimizer, x, y)
        _accuracy(model, bundle.valid)


def _fresh() -> tuple[nn.Module, torch.optim.Optimizer]:
    model = MODEL.build((2,), 2)
    return model, torch.optim.SGD(
        model.parameters(), lr=TRAINING.lr, momentum=TRAINING.momentum, weight_decay=TRAINING.weight_decay
    )


def _update(model: nn.Module, optimizer: torch.optim.Optimizer, x: Tensor, y: Tensor) -> None:
    loss = functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()  # type: ignore[no-untyped-call]
    optimizer.step()


@torch.no_grad()
def _accuracy(model: nn.Module, split: Split) -> float:
    model.eval()
    hit: Tensor = model(split.x).argmax(1) == split.y
    return hit.float().mean().item()


def lines() -> list[Line]:
    """One line a way to run the epoch."""
    bundle = make_bundle()
    with tempfile.TemporaryDirectory() as folder:
        things = {
            "rmix": lambda: through_rmix(bundle),
            "kept": lambda: checkpointed(bundle, Path(folder)),
            "hand": lambda: by_hand(bundle),
            "loader": lambda: with_loader(bundle),
        }
        seconds = interleaved(things, repetitions=15)
    hand = seconds["hand"]
    return [
        ratio_line("ERM epoch, 4,000 x 2, batch 64 / bare loop", seconds["rmix"], hand, 1.3),
        ratio_line("  with a checkpoint after every epoch", seconds["kept"], hand),
        ratio_line("  a DataLoader loop instead of rmix", seconds["loader"], hand),
    ]
