"""Data made up in the formats of the paper's data sets: the real loaders read them."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from rmix.datasets import DATASETS
from rmix.experiment.config import config_from
from rmix.studies.miniature import MAKERS, distilbert, make

COUNTS = {
    "waterbirds": (12, 4, 4, 8),
    "celeba": (12, 4, 4, 8),
    "fmow": (13, 13, 12, 12, 12),  # 62 classes over five regions
}


@pytest.mark.parametrize("name", MAKERS)
def test_the_loaders_read_them(name: str, tmp_path: Path) -> None:
    folder = make(name, tmp_path)
    dataset = config_from({"dataset": {"name": name, "root": str(folder)}}).dataset
    assert isinstance(dataset, DATASETS[name])
    bundle = dataset.load()
    assert len(bundle.train) >= len(bundle.test) > 0
    assert len(bundle.valid) > 0
    counts = bundle.train_counts
    assert counts is not None
    if name in COUNTS:
        assert counts == COUNTS[name]
    if name == "civilcomments":
        assert min(counts) > 0  # every identity is mentioned in comments of either kind
        assert sum(counts) > len(bundle.train) / 2
    if name == "camelyon17":
        assert sorted(n for n in counts if n) == [2] * 11 + [4] * 10 + [6] * 9  # thirty slides of other sizes


@pytest.mark.parametrize("name", MAKERS)
def test_they_are_written_once_and_alike(name: str, tmp_path: Path) -> None:
    one, two = make(name, tmp_path / "one"), make(name, tmp_path / "two")
    files = sorted(path.relative_to(one) for path in one.rglob("*") if path.is_file())
    assert [(one / path).read_bytes() for path in files] == [(two / path).read_bytes() for path in files]
    (one / files[0]).write_text("mine")
    make(name, tmp_path / "one")
    assert (one / files[0]).read_text() == "mine"


def test_the_little_distilbert_is_read_as_the_published_one(tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    folder = make("civilcomments", tmp_path)
    where = {"name": "distilbert", "folder": str(distilbert(tmp_path / "distilbert"))}
    config = config_from({"dataset": {"name": "civilcomments", "root": str(folder)}, "model": where})
    bundle = config.model.prepare(config.dataset.load())
    model = config.model.build(bundle.shape, bundle.n_classes)
    assert model(bundle.test.x[torch.tensor([0, 1])]).shape == (2, 2)
