"""The Trainer of Hugging Face, with a DistilBERT of a few hundred weights on sentences made here."""

from __future__ import annotations

import doctest
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader
from transformers import DistilBertConfig, DistilBertForSequenceClassification, Trainer, TrainingArguments

from rmix import HeadAt, Notes, Objective, RMix, WithIndex
from rmix.errors import CheckpointError
from rmix.integrations import hugging_face
from rmix.integrations.hugging_face import RMixTrainer, group_metrics
from rmix.methods import ERM, LISA, GroupDRO
from rmix.streams import stream

pytestmark = pytest.mark.slow
N, LENGTH = 24, 6
WORDS = ("they", "are", "rude", "kind", "people", "cats")
DRAWN = stream(0, "sentences").integers(len(WORDS), size=(N, LENGTH))
SENTENCES = [" ".join(WORDS[word] for word in row) for row in DRAWN]
Y = [int("rude" in sentence) for sentence in SENTENCES]
GROUP = [2 * y + ("cats" in sentence) for y, sentence in zip(Y, SENTENCES, strict=True)]
MIXED = RMix(eta=4.0, mix="manifold", mix_prob=0.5)


def rows() -> list[dict[str, Any]]:
    """Items as a tokenizer leaves them, with a column that the model does not take."""
    ids = [[1 + WORDS.index(word) for word in sentence.split()] for sentence in SENTENCES]
    return [
        {"input_ids": i, "attention_mask": [1] * LENGTH, "labels": y, "row": 7} for i, y in zip(ids, Y, strict=True)
    ]


def model(dropout: float = 0.0) -> DistilBertForSequenceClassification:
    torch.manual_seed(0)
    sizes = {"vocab_size": 8, "dim": 8, "n_layers": 1, "n_heads": 2, "hidden_dim": 16, "max_position_embeddings": 8}
    off = {"dropout": dropout, "attention_dropout": dropout, "seq_classif_dropout": dropout}
    return DistilBertForSequenceClassification(DistilBertConfig(**sizes, **off))


def notes() -> Notes:
    return Notes.of(stream(1, "notes").random((N, 3)) > 0.4)


def objective(method: Any = MIXED) -> Objective:
    return Objective(method, Y, GROUP, notes=notes() if method is MIXED else ())


def trainer(folder: Path, learns: Any, net: nn.Module | None = None, **changes: Any) -> RMixTrainer:
    quiet = {"report_to": [], "disable_tqdm": True, "logging_strategy": "no", "use_cpu": True}
    plain = {"max_grad_norm": 0.0, "per_device_train_batch_size": 8, "num_train_epochs": 3, "save_strategy": "no"}
    given = {name: changes.pop(name) for name in ("eval_dataset", "compute_metrics") if name in changes}
    args = TrainingArguments(str(folder), **{**quiet, **plain, **changes})
    net = model() if net is None else net
    sgd = torch.optim.SGD(net.parameters(), lr=0.5)
    constant = torch.optim.lr_scheduler.LambdaLR(sgd, lambda _: 1.0)
    return RMixTrainer(
        model=net, args=args, train_dataset=rows(), optimizers=(sgd, constant), rmix=learns, **given
    )  # fmt: skip


def weights(net: nn.Module) -> Tensor:
    return torch.cat([p.detach().flatten() for p in net.parameters()])


def own_loop(learns: Objective, epochs: int) -> nn.Module:
    """The same training, written down."""
    net = model()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.5)
    names = ("input_ids", "attention_mask", "labels")
    items = [{name: torch.tensor(row[name]) for name in names} for row in rows()]
    loader = DataLoader(WithIndex(items), 8, sampler=learns.sampler(8))
    for epoch in range(epochs):
        learns.set_epoch(epoch)
        for batch in loader:
            y, index = batch.pop("labels"), batch.pop("index")
            optimizer.zero_grad()
            learns(HeadAt(net, "classifier"), batch, y, index).backward()
            optimizer.step()
    return net


def test_the_examples_of_its_docstrings_run() -> None:
    assert doctest.testmod(hugging_face).failed == 0


@pytest.mark.parametrize("method", [MIXED, GroupDRO(), LISA(mix="manifold")])
def test_it_trains_as_a_loop_of_ones_own(method: Any, tmp_path: Path) -> None:
    done = trainer(tmp_path, objective(method))
    done.train()
    assert torch.equal(weights(done.model), weights(own_loop(objective(method), 3)))
    assert not torch.equal(weights(done.model), weights(model()))


def test_two_stages(tmp_path: Path) -> None:
    """Notes of the model's own loss, which they leave alone; their weights go into the second stage."""
    taken = Notes(N)
    first = trainer(tmp_path, taken)
    first.train()
    assert taken.n_epochs == 3
    seen = taken.trajectory.correct(0, 3)
    assert 0 < seen.mean() < 1
    second = Objective(MIXED, Y, notes=taken)
    assert second.weights().min() < second.weights().max()
    done = trainer(tmp_path, second)
    done.train()
    assert not torch.equal(weights(done.model), weights(first.model))


def test_notes_leave_training_alone(tmp_path: Path) -> None:
    """With notes and with Trainer itself, the same bits."""
    noted = trainer(tmp_path, Notes(N))
    noted.train()
    net = model()
    sgd = torch.optim.SGD(net.parameters(), lr=0.5)
    constant = torch.optim.lr_scheduler.LambdaLR(sgd, lambda _: 1.0)
    Trainer(model=net, args=noted.args, train_dataset=rows(), optimizers=(sgd, constant)).train()
    assert torch.equal(weights(noted.model), weights(net))


@pytest.mark.parametrize("method", [MIXED, GroupDRO(eta=1.0)])
@pytest.mark.parametrize("steps", [3, 4])  # of three an epoch: kept after an epoch, and in the middle of one
def test_a_run_that_is_resumed_ends_as_if_it_had_not_been(method: Any, steps: int, tmp_path: Path) -> None:
    whole = trainer(tmp_path / "whole", objective(method), model(dropout=0.2))
    whole.train()
    kept = {"save_strategy": "steps", "save_steps": steps}
    trainer(tmp_path / "cut", objective(method), model(dropout=0.2), **kept, max_steps=steps).train()
    resumed = trainer(tmp_path / "cut", objective(method), model(dropout=0.2))
    resumed.train(resume_from_checkpoint=True)
    assert torch.equal(weights(resumed.model), weights(whole.model))


@pytest.mark.parametrize("steps", [3, 4])
def test_notes_that_are_resumed_are_whole(steps: int, tmp_path: Path) -> None:
    whole, cut, resumed = Notes(N), Notes(N), Notes(N)
    trainer(tmp_path / "whole", whole).train()
    trainer(tmp_path / "cut", cut, save_strategy="steps", save_steps=steps, max_steps=steps).train()
    trainer(tmp_path / "cut", resumed).train(resume_from_checkpoint=str(tmp_path / "cut" / f"checkpoint-{steps}"))
    assert torch.equal(resumed.trajectory.bits, whole.trajectory.bits)


def test_pieces_of_a_batch_add_up_to_it(tmp_path: Path) -> None:
    whole, pieces = trainer(tmp_path, objective(ERM())), trainer(
        tmp_path, objective(ERM()), per_device_train_batch_size=4, gradient_accumulation_steps=2
    )  # fmt: skip
    whole.train()
    pieces.train()
    assert torch.allclose(weights(whole.model), weights(pieces.model), atol=1e-6)


def test_mixed_precision(tmp_path: Path) -> None:
    full, half = trainer(tmp_path, objective()), trainer(tmp_path, objective(), bf16=True)
    full.train()
    half.train()
    assert torch.allclose(weights(full.model), weights(half.model), atol=0.05)
    assert not torch.equal(weights(full.model), weights(half.model))


def test_evaluation_by_group(tmp_path: Path) -> None:
    measured = trainer(tmp_path, objective(), eval_dataset=rows(), compute_metrics=group_metrics(GROUP)).evaluate()
    assert measured["eval_worst_group_accuracy"] == min(measured[f"eval_accuracy_group_{g}"] for g in range(4))
    right = sum(measured[f"eval_accuracy_group_{g}"] * GROUP.count(g) for g in range(4))
    assert measured["eval_accuracy"] == pytest.approx(right / N)
    with pytest.raises(ValueError, match="2 rows have groups, but 24 were evaluated"):
        trainer(tmp_path, objective(), eval_dataset=rows(), compute_metrics=group_metrics([0, 1])).evaluate()


def test_what_cannot_work_is_said(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"has no module 'score' for a head; it has distilbert, pre_classifier"):
        RMixTrainer(model=model(), rmix=objective(), head="score", train_dataset=rows())
    with pytest.raises(ValueError, match=r"Mixing needs floating-point inputs, got dict; mix hidden layers"):
        trainer(tmp_path, objective("mixup")).train()
    trainer(tmp_path, objective(), save_strategy="epoch", num_train_epochs=1).train()
    with pytest.raises(CheckpointError, match=r"another objective: method is RMix\(.*, not ERM"):
        trainer(tmp_path, objective("erm")).train(resume_from_checkpoint=True)
