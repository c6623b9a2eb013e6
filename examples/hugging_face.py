"""RMix with manifold mixup in the Trainer of Hugging Face: a run that takes notes, then the run that uses them."""

import torch
from transformers import DistilBertConfig, DistilBertForSequenceClassification, TrainingArguments

import rmix
from rmix.integrations.hugging_face import RMixTrainer, group_metrics
from rmix.streams import stream


def comments(n: int, agree: float, seed: int) -> tuple[list[dict], list[int], list[int]]:
    """Words as numbers: one rude (0-9) or kind (10-19), twice one kind of people (20, 21), and others."""
    rng = stream(seed, "comments")
    y = rng.integers(2, size=n).tolist()
    who = [label if rng.random() < agree else 1 - label for label in y]  # of whom one kind is mostly abused
    group = [2 * label + w for label, w in zip(y, who, strict=True)]
    rows = []
    for label, w in zip(y, who, strict=True):
        words = [rng.integers(10) + 10 * label, 20 + w, 20 + w, *rng.integers(22, 40, size=5)]
        rows.append({"input_ids": rng.permutation(words), "attention_mask": [1] * 8, "labels": label})
    return rows, y, group


rows, y, _ = comments(800, agree=0.92, seed=0)
test_rows, _, test_group = comments(400, agree=0.5, seed=1)


def worst_group(learns: rmix.Notes | rmix.Objective) -> float:
    """Train a fresh model of a few weights; your own would be pretrained."""
    torch.manual_seed(0)
    sizes = {"vocab_size": 40, "dim": 32, "n_layers": 1, "n_heads": 2, "hidden_dim": 64, "max_position_embeddings": 8}
    quiet = {"report_to": [], "disable_tqdm": True, "logging_strategy": "no", "save_strategy": "no", "use_cpu": True}
    trainer = RMixTrainer(
        DistilBertForSequenceClassification(DistilBertConfig(**sizes)),
        TrainingArguments("runs", num_train_epochs=8, learning_rate=2e-3, per_device_train_batch_size=32, **quiet),
        train_dataset=rows,
        eval_dataset=test_rows,
        compute_metrics=group_metrics(test_group),
        rmix=learns,
    )
    trainer.train()
    return trainer.evaluate()["eval_worst_group_accuracy"]


notes = rmix.Notes(len(rows))
print(f"ERM: worst group {worst_group(notes):.2f}")
method = rmix.RMix(mix="manifold", eta=20, window=3)  # weights from the first three epochs of the notes
print(f"RMix: worst group {worst_group(rmix.Objective(method, y, notes=notes)):.2f}")
