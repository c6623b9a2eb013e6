"""Networks of other packages by their names there: ``timm:NAME`` and ``hf:NAME``."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from test_text_model import TEXTS, make_folder, texts
from torch import nn
from toys import bundle_of, split_of

import rmix
from rmix.cli.train import Form, parse
from rmix.errors import InvalidValueError, RMixError
from rmix.experiment.config import config_from
from rmix.models import MODELS, HuggingFace, Timm
from rmix.testing import check_model


class Nested(nn.Module):
    """As networks of timm are: a body, and a head of several layers, the last of which is linear."""

    def __init__(self, channels: int, classes: int) -> None:
        super().__init__()
        self.stem = nn.Conv2d(channels, 4, 3)
        self.head = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, classes))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.stem(x).relu())


@pytest.fixture
def timm(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What stands in for timm, and what it was asked for."""
    asked: list[dict[str, Any]] = []

    def create_model(name: str, *, pretrained: bool, num_classes: int, in_chans: int) -> nn.Module:
        asked.append({"name": name, "pretrained": pretrained})
        return Nested(in_chans, num_classes)

    stand_in = SimpleNamespace(
        create_model=create_model, is_model=lambda name: name == "tiny.in1k", list_models=lambda: ["tiny.in1k"]
    )
    monkeypatch.setitem(sys.modules, "timm", stand_in)
    return asked


def images() -> Any:
    y = [0, 1, 0, 1]
    split = split_of(y, group=y, x=torch.linspace(-1, 1, 4 * 3 * 8 * 8).view(4, 3, 8, 8))
    return bundle_of(train=split, valid=split, test=split)


def test_a_network_of_timm(timm: list[dict[str, Any]]) -> None:
    check_model(Timm("tiny.in1k"), (3, 8, 8))
    check_model(Timm("tiny.in1k"), (1, 9, 9))
    timm.clear()
    settings = {"name": "timm:tiny.in1k", "pretrained": True}
    run = rmix.train(images(), {"name": "mixup", "mix": "manifold"}, model=settings, training={"epochs": 1})
    assert timm[0] == {"name": "tiny.in1k", "pretrained": True}
    assert run.result.config["model"] == {"name": "timm", "network": "tiny.in1k", "pretrained": True}
    assert config_from({"model": run.result.config["model"]}).model == Timm("tiny.in1k", pretrained=True)


def test_names_on_the_command_line(timm: list[dict[str, Any]], tmp_path: Path) -> None:
    assert parse(["moons", "erm", "--model", "timm:tiny.in1k"], Form())[0].model == Timm("tiny.in1k")
    toml = tmp_path / "a.toml"
    toml.write_text('[model]\nname = "timm:tiny.in1k"\npretrained = true')
    assert parse(["moons", "erm", "--config", str(toml)], Form())[0].model == Timm("tiny.in1k", pretrained=True)
    with pytest.raises(RMixError, match=r"No model named 'mlp:8'\. Did you mean 'mlp'"):
        config_from({"model": "mlp:8"})


@pytest.mark.parametrize(
    ("spec", "shape", "message"),
    [
        (Timm("tiny.in1"), (3, 8, 8), "timm has no network 'tiny.in1'. Did you mean 'tiny.in1k'?"),
        (Timm("tiny.in1k"), (5,), r"timm:tiny.in1k needs images \(channels, height, width\), got \(5,\)"),
        (Timm(), (3, 8, 8), "Which network of timm. Say: --model timm:NAME"),
    ],
)
def test_what_timm_cannot_build(timm: list[Any], spec: Timm, shape: tuple[int, ...], message: str) -> None:
    with pytest.raises(InvalidValueError, match=message):
        spec.build(shape, 2)


def test_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "timm", None)
    with pytest.raises(InvalidValueError, match=r"^timm:resnet18 needs timm; pip install timm$"):
        rmix.train(images(), "erm", model="timm:resnet18")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny DistilBERT that says what it is, as the hub has them."""
    made = make_folder(tmp_path_factory.mktemp("hub") / "tiny")
    config = json.loads((made / "config.json").read_text())
    (made / "config.json").write_text(json.dumps(config | {"architectures": ["DistilBertForSequenceClassification"]}))
    return made


def test_a_classifier_of_texts_is_what_transformers_makes_of_the_folder(folder: Path) -> None:
    import transformers

    theirs = transformers.AutoModelForSequenceClassification.from_pretrained(folder).eval()
    spec = HuggingFace(str(folder), max_length=12)
    x = spec.prepare(texts()).train.x[torch.arange(len(TEXTS))]
    with torch.no_grad():
        wanted = theirs(input_ids=x[..., 0], attention_mask=x[..., 1]).logits
        assert torch.allclose(spec.build((), 3).eval()(x), wanted, atol=1e-6)
    model: Any = spec.build((), 2)
    assert (model.head.in_features, model.head.out_features) == (16, 2)
    assert "head.bias" in model.undecayed
    assert "head.weight" not in model.undecayed


def test_it_trains_with_hidden_features_mixed_and_is_known_by_its_files(folder: Path) -> None:
    settings: dict[str, Any] = {"training": {"epochs": 1, "optimizer": "adamw", "lr": 1e-3}}
    model = {"name": f"hf:{folder}", "max_length": 12}
    run = rmix.train(texts(), {"name": "mixup", "mix": "manifold"}, model=model, **settings)
    told = run.result.config["model"]
    assert told == {"name": "hf", "network": str(folder), "max_length": 12, "checksum": told["checksum"]}
    with pytest.raises(InvalidValueError, match="but the run was made with 0123"):
        config_from({"model": told | {"checksum": "0123"}})


def test_it_keeps_the_contract_of_models(folder: Path) -> None:
    spec = HuggingFace(str(folder), max_length=12)
    x = spec.prepare(texts()).train.x[torch.arange(5)]
    check_model(spec, x.shape[1:], n_classes=2, inputs=x)


def test_what_the_hub_cannot_give(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    def refuse(name: str, **_: Any) -> str:
        raise OSError(f"no connection for {name}\nand much more")

    monkeypatch.setattr("huggingface_hub.snapshot_download", refuse)
    with pytest.raises(InvalidValueError, match=r"^hf:bert is no folder, and cannot be fetched \(no .* for bert\)\.$"):
        HuggingFace("bert")
    monkeypatch.setattr("huggingface_hub.snapshot_download", lambda name, **_: str(folder))
    assert HuggingFace("bert").checksum == HuggingFace(str(folder)).checksum
    with pytest.raises(InvalidValueError, match=r"Which network\? Say: --model hf:NAME or"):
        HuggingFace().prepare(texts())
    with pytest.raises(InvalidValueError, match="max_length must be <= 12, the positions of hf:"):
        HuggingFace(str(folder)).build((), 2)
    with pytest.raises(RMixError, match=r"needs texts, got numbers of shape \(2,\)"):
        HuggingFace(str(folder)).prepare(bundle_of())


def test_both_are_models() -> None:
    assert {MODELS[name] for name in ("hf", "timm")} == {HuggingFace, Timm}
