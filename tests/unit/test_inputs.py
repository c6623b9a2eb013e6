"""The seam through which rows are read, in training and in evaluation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from toys import SMALL_MOONS, KilledError, StopAt, same, small

from rmix.batch import Groups
from rmix.datasets import Bundle, Split
from rmix.datasets.inputs import Draws, read
from rmix.experiment.run import Run, run_config
from rmix.methods import ERM, Method, RMix
from rmix.streams import stream
from rmix.training import batches as batches_module
from rmix.training.batches import training_batches
from rmix.training.evaluate import evaluate, predict


class Noisy:
    """Rows of a tensor; shown in training with noise from the named streams."""

    checksum = "noisy"

    def __init__(self, x: Tensor) -> None:
        self.x = x
        self.calls: list[tuple[list[int], bool]] = []

    def __len__(self) -> int:
        return len(self.x)

    def __getitem__(self, rows: Tensor) -> Tensor:
        return self.x[rows]

    def read(self, batches: Sequence[Tensor], draws: Draws | None) -> Iterator[Tensor]:
        self.calls.append(([len(rows) for rows in batches], draws is not None))
        for number, rows in enumerate(batches):
            x = self.x[rows].clone()
            if draws is not None:
                for place in range(len(rows)):
                    x[place] += float(draws(number, place).normal())
            yield x


def noisy_moons() -> Bundle:
    """Points in space; those of training are read with noise."""
    bundle = SMALL_MOONS.load()
    lifted = {name: replace(split, x=torch.nn.functional.pad(split.x, (0, 1))) for name, split in bundle.splits.items()}
    return replace(bundle, **{**lifted, "train": replace(bundle.train, x=Noisy(lifted["train"].x))})


def trained(tmp_path: Path | None = None, method: Method | None = None, stop: StopAt | None = None) -> Run:
    from rmix.datasets import InMemory

    config = small(method, dataset=InMemory.of(noisy_moons()))
    return run_config(config, store=tmp_path, callbacks=[stop] if stop else [])


def test_a_tensor_is_indexed() -> None:
    x = torch.arange(6.0).view(3, 2)
    first, second = read(x, [torch.tensor([2, 0]), torch.tensor([1])])
    assert first.tolist() == [[4, 5], [0, 1]]
    assert second.tolist() == [[2, 3]]


def test_each_shown_row_draws_from_the_stream_of_its_place_in_the_epoch() -> None:
    bundle = noisy_moons()
    order = torch.tensor([5, 3, 3, 8, 1])
    shown = training_batches(bundle, order, 2, Groups.NONE, lambda place: stream(7, "augment", place))
    x = torch.cat([batch.x for batch in shown])
    noise = [float(stream(7, "augment", place).normal()) for place in range(5)]
    expected = bundle.train.x.x[order] + torch.tensor(noise, dtype=x.dtype)[:, None]
    torch.testing.assert_close(x, expected)
    assert not torch.equal(x[1], x[2]), "a row shown twice draws twice"


def test_two_processes_draw_what_one_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    bundle, order = noisy_moons(), torch.arange(11)

    def augment(place: int) -> np.random.Generator:
        return stream(0, "augment", place)

    def shown() -> list[Tensor]:
        return [batch.x for batch in training_batches(bundle, order, 4, Groups.NONE, augment)]

    whole = shown()
    monkeypatch.setattr(batches_module, "world", lambda: (0, 2))
    halves = []
    for rank in (0, 1):
        monkeypatch.setattr(batches_module, "share_of", lambda rows, rank=rank: torch.tensor_split(rows, 2)[rank])
        halves.append(shown())
    assert all(torch.equal(torch.cat(parts), one) for *parts, one in zip(*halves, whole, strict=True))


def test_evaluation_draws_nothing_and_reads_in_small_batches() -> None:
    x = Noisy(torch.randn(300, 2, generator=torch.Generator().manual_seed(0)))
    split = Split(x, torch.zeros(300, dtype=torch.int64), torch.zeros(300, dtype=torch.int64))
    model = nn.Identity()
    assert torch.equal(predict(model, split), x.x)
    hit = int((x.x.argmax(1) == 0).sum())
    assert evaluate(model, split, 1).correct == (hit,)
    assert x.calls == [([128, 128, 44], False)] * 2


def test_inputs_that_only_give_rows_train_like_the_tensor() -> None:
    class Plain:
        checksum = "plain"

        def __init__(self, x: Tensor) -> None:
            self.x = x

        def __len__(self) -> int:
            return len(self.x)

        def __getitem__(self, rows: Tensor) -> Tensor:
            return self.x[rows]

    bundle = SMALL_MOONS.load()
    order = torch.randperm(len(bundle.train), generator=torch.Generator().manual_seed(0))
    plain = replace(bundle, train=replace(bundle.train, x=Plain(bundle.train.x)))
    for ours, theirs in zip(
        training_batches(plain, order, 16, Groups.TRAIN), training_batches(bundle, order, 16, Groups.TRAIN), strict=True
    ):
        for field in ("x", "y", "index", "weight", "group"):
            assert torch.equal(getattr(ours, field), getattr(theirs, field))


def test_epochs_and_seeds_draw_otherwise() -> None:
    run = trained()
    assert same(run, trained())
    other = run_config(replace(small(dataset=run_dataset()), seed=1))
    assert not same(run, other)


def run_dataset() -> object:
    from rmix.datasets import InMemory

    return InMemory.of(noisy_moons())


@pytest.mark.parametrize("method", [ERM(), RMix(eta=5.0, window=2)], ids=["erm", "rmix"])
def test_a_resumed_run_draws_as_if_it_had_not_stopped(tmp_path: Path, method: Method) -> None:
    whole = trained(tmp_path / "a", method)
    with pytest.raises(KilledError):
        trained(tmp_path / "b", method, StopAt("main", 1, in_the_middle=True))
    assert same(trained(tmp_path / "b", method), whole)
