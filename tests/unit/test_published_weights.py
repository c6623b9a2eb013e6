"""Networks of images: the layout of the published files, and what may be wrong with one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from toys import make_batch, rng

from rmix.errors import DataError, InvalidValueError
from rmix.experiment.plain import named_from_plain, to_plain
from rmix.methods import CGD
from rmix.methods.cgd import chosen
from rmix.models import MODELS, DenseNet121, ResNet18, ResNet50
from rmix.models.image_network import ImageNetwork
from rmix.models.weights import read_weights
from rmix.recipe import Facts
from rmix.streams import torch_stream

Shapes = dict[str, tuple[int, ...]]
SHAPE = (3, 32, 32)


def norm(name: str, size: int) -> Shapes:
    values = {f"{name}.{each}": (size,) for each in ("weight", "bias", "running_mean", "running_var")}
    return {**values, f"{name}.num_batches_tracked": ()}


def conv(name: str, given: int, made: int, side: int) -> Shapes:
    return {f"{name}.weight": (made, given, side, side)}


# stage: blocks, channels of the 3x3 convolutions, channels that leave it
RESNETS = {
    "resnet18": {1: (2, 64, 64), 2: (2, 128, 128), 3: (2, 256, 256), 4: (2, 512, 512)},
    "resnet50": {1: (3, 64, 256), 2: (4, 128, 512), 3: (6, 256, 1024), 4: (3, 512, 2048)},
}


def resnet(stages: dict[int, tuple[int, int, int]]) -> Iterator[Shapes]:
    """As in table 1 of the paper (He et al., 2016)."""
    yield conv("conv1", 3, 64, 7) | norm("bn1", 64)
    given = 64
    for stage, (blocks, inner, outer) in stages.items():
        sides = (3, 3) if inner == outer else (1, 3, 1)
        for block in range(blocks):
            at = f"layer{stage}.{block}"
            channels = [given, *([inner] * (len(sides) - 1)), outer]
            for i, side in enumerate(sides):
                yield conv(f"{at}.conv{i + 1}", channels[i], channels[i + 1], side)
                yield norm(f"{at}.bn{i + 1}", channels[i + 1])
            if block == 0 and given != outer:
                yield conv(f"{at}.downsample.0", given, outer, 1) | norm(f"{at}.downsample.1", outer)
            given = outer
    yield {"fc.weight": (1000, given), "fc.bias": (1000,)}


# block: layers, channels that enter it
DENSENET121 = {1: (6, 64), 2: (12, 128), 3: (24, 256), 4: (16, 512)}


def densenet() -> Iterator[Shapes]:
    """As in table 1 of the paper (Huang et al., 2017), with 32 channels a layer."""
    yield conv("features.conv0", 3, 64, 7) | norm("features.norm0", 64)
    for block, (layers, entering) in DENSENET121.items():
        for layer in range(layers):
            at = f"features.denseblock{block}.denselayer{layer + 1}"
            yield norm(f"{at}.norm1", entering + 32 * layer) | conv(f"{at}.conv1", entering + 32 * layer, 128, 1)
            yield norm(f"{at}.norm2", 128) | conv(f"{at}.conv2", 128, 32, 3)
        leaving = entering + 32 * layers
        if block < 4:
            at = f"features.transition{block}"
            yield norm(f"{at}.norm", leaving) | conv(f"{at}.conv", leaving, leaving // 2, 1)
    yield norm("features.norm5", 1024) | {"classifier.weight": (1000, 1024), "classifier.bias": (1000,)}


def published(name: str) -> Shapes:
    parts = densenet() if name == "densenet121" else resnet(RESNETS[name])
    return {key: shape for part in parts for key, shape in part.items()}


@pytest.mark.parametrize(
    ("name", "parameters", "entries"),
    [("resnet18", 11_689_512, 122), ("resnet50", 25_557_032, 320), ("densenet121", 7_978_856, 727)],
)
def test_the_published_layout(name: str, parameters: int, entries: int) -> None:
    """Names, shapes, and the totals that torchvision's documentation gives for 1,000 classes."""
    spec = MODELS[name]()
    model = spec.build(SHAPE, 1000)
    found = {key: tuple(value.shape) for key, value in spec.published_state(model).items()}
    assert found == published(name)
    assert len(found) == entries
    assert sum(p.numel() for p in model.parameters()) == parameters


@pytest.mark.parametrize(("name", "halving"), [("resnet18", "conv1"), ("resnet50", "conv2")])
def test_sides_are_halved_where_torchvision_does(name: str, halving: str) -> None:
    """What the layout of a file does not show: the first ResNet-50 halved in 1x1 convolutions."""
    convs = {key: m for key, m in MODELS[name]().build(SHAPE, 2).named_modules() if isinstance(m, nn.Conv2d)}
    found = {key.removeprefix("features.") for key, conv in convs.items() if conv.stride == (2, 2)}
    stages = {f"layer{stage}.0.{part}" for stage in (2, 3, 4) for part in (halving, "downsample.0")}
    assert found == {"conv1", *stages}


def wave(i: int, name: str, like: Tensor) -> Tensor:
    """Weights that every machine makes alike, of a size that keeps the signal."""
    if not like.is_floating_point():
        return like
    value = torch.cos(0.37 * (1 + i % 7) * torch.arange(like.numel(), dtype=torch.float64) + i).view(like.shape)
    if like.ndim > 1:
        return value * (2 / like[0].numel()) ** 0.5
    return 0.1 * value + name.endswith(("running_var", "weight"))


@pytest.mark.parametrize(
    ("name", "logits"),
    [
        ("resnet18", [-0.42597897, -1.0620964, -0.99530231]),
        ("resnet50", [-0.80370365, 1.7244271, 1.9821211]),
        ("densenet121", [-0.2539352, 0.61596937, 0.57996921]),
    ],
)
def test_logits(name: str, logits: list[float]) -> None:
    """Pinned from our own run, at a state where random weights gave torchvision 0.26's logits to the last bit."""
    spec: Any = MODELS[name]()
    model = spec.build((3, 70, 75), 1000).double().eval()
    state = spec.published_state(model)
    spec.load_published(model, {key: wave(i, key, state[key]) for i, key in enumerate(sorted(state))}, "waves")
    x = torch.sin(0.011 * torch.arange(2 * 3 * 70 * 75, dtype=torch.float64)).view(2, 3, 70, 75)
    with torch.no_grad():
        assert model(x)[0, [0, 1, 999]].tolist() == pytest.approx(logits, rel=1e-6)


def state_of(name: str) -> dict[str, Tensor]:
    """A published file's content: numbers 0, 1, 2 … times a small factor in every tensor, so that each place shows."""
    return {
        key: torch.arange(torch.Size(shape).numel()).view(shape) * 1e-6 if shape else torch.tensor(7)
        for key, shape in published(name).items()
    }


@pytest.fixture(scope="module", params=["resnet18", "densenet121"])
def spec_and_file(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Path]:
    path = tmp_path_factory.mktemp("weights") / f"{request.param}.pth"
    torch.save(state_of(request.param), path)
    return MODELS[request.param], path


def test_a_published_file_loads_and_its_head_of_other_classes_is_replaced(spec_and_file: tuple[Any, Path]) -> None:
    cls, path = spec_and_file
    spec = cls(weights=str(path))
    model = spec.build(SHAPE, 1000)
    ours, theirs = spec.published_state(model), torch.load(path, weights_only=True)
    assert all(torch.equal(ours[key], theirs[key]) for key in theirs)
    two = spec.build(SHAPE, 2)
    assert two.head.out_features == 2
    assert all(torch.equal(a, b) for a, b in zip(two.features.parameters(), model.features.parameters(), strict=True))


def test_the_path_is_not_part_of_a_run_but_the_content_is(spec_and_file: tuple[Any, Path], tmp_path: Path) -> None:
    cls, path = spec_and_file
    (tmp_path / "copy.pth").write_bytes(path.read_bytes())
    spec, copy = cls(weights=str(path)), cls(weights=str(tmp_path / "copy.pth"))
    assert spec == copy
    assert to_plain(spec) == {"name": spec.name, "checksum": spec.checksum} == to_plain(copy)
    assert spec != cls()
    without = named_from_plain("model", to_plain(spec), MODELS)
    with pytest.raises(InvalidValueError, match=f"starts from weights with checksum {spec.checksum}; say where"):
        without.build(SHAPE, 2)
    trained = spec.build(SHAPE, 2).state_dict()
    assert torch.equal(without.restored(SHAPE, 2, trained).state_dict()["head.weight"], trained["head.weight"])
    with pytest.raises(InvalidValueError, match=r"have checksum .*, but the run was made with 0123"):
        cls(weights=str(path), checksum="0123")


def test_old_names_of_densenet_load(tmp_path: Path) -> None:
    state = state_of("densenet121")
    old = {}
    for key, value in state.items():
        for part in ("norm1", "norm2", "conv1", "conv2"):
            if "denselayer" in key:
                key = key.replace(f".{part}.", f".{part[:-1]}.{part[-1]}.")
        if not key.endswith("num_batches_tracked"):
            old[key] = value
    assert "features.denseblock1.denselayer2.norm.1.weight" in old
    torch.save(old, tmp_path / "old.pth")
    model = DenseNet121(weights=str(tmp_path / "old.pth")).build(SHAPE, 1000)
    theirs = state["features.denseblock4.denselayer16.conv2.weight"]
    assert torch.equal(model.state_dict()["features.denseblock4.denselayer16.conv2.weight"], theirs)


def test_safetensors_load(tmp_path: Path) -> None:
    from safetensors.torch import save_file

    state = {"a": torch.ones(2), "b": torch.zeros(1, 3)}
    save_file(state, tmp_path / "w.safetensors")
    found = read_weights(tmp_path / "w.safetensors")
    assert found.keys() == state.keys()
    assert torch.equal(found["a"], state["a"])


class NotWeights:
    """What a file of weights must not bring along."""


def test_files_that_are_no_weights_of_the_model(tmp_path: Path) -> None:
    state = state_of("resnet18")
    torch.save({key: value for key, value in state.items() if not key.startswith("layer4.1")}, tmp_path / "less.pth")
    torch.save({**state, "aux.weight": torch.zeros(1)}, tmp_path / "more.pth")
    torch.save({**state, "conv1.weight": torch.zeros(64, 1, 7, 7)}, tmp_path / "grey.pth")
    torch.save([1, 2], tmp_path / "list.pth")
    (tmp_path / "text.pth").write_text("<html>404</html>")
    for name, message in {
        "less.pth": "less.pth is not of resnet18: it lacks 'layer4.1.conv1.weight' .and 9 more",
        "more.pth": "it also has 'aux.weight' .and 0 more",
        "grey.pth": "another shape has 'conv1.weight'",
        "list.pth": "holds no state dict",
        "text.pth": "text.pth cannot be read as weights",
        "none.pth": "There is no file or folder of weights .*none.pth",
    }.items():
        with pytest.raises(DataError, match=message) as raised:
            ResNet18(weights=str(tmp_path / name)).build(SHAPE, 2)
        assert len(str(raised.value).splitlines()) == 1


def test_a_file_cannot_execute_anything(tmp_path: Path) -> None:
    torch.save({"conv1.weight": NotWeights()}, tmp_path / "evil.pth")
    with pytest.raises(DataError, match="cannot be read as weights"):
        read_weights(tmp_path / "evil.pth")


@pytest.mark.parametrize("shape", [(2,), (1, 32, 32), (3, 16, 64)])
def test_inputs_that_are_no_images_for_it(shape: tuple[int, ...]) -> None:
    for spec in (ResNet50(), DenseNet121()):
        with pytest.raises(InvalidValueError, match=f"{spec.name} needs images .3, height, width. of at least 32x32"):
            spec.build(shape, 2)


@pytest.mark.parametrize(
    ("spec", "first", "modules"),
    [
        (ResNet18(), "features.layer3.0.conv1.weight", {"layer3", "layer4", "head"}),
        (DenseNet121(), "features.denseblock4.denselayer1.norm1.weight", {"denseblock4", "head"}),
    ],
)
def test_cgd_compares_the_last_layers_as_published(spec: ImageNetwork, first: str, modules: set[str]) -> None:
    model = spec.build(SHAPE, 2)
    names = {id(p): name for name, p in model.named_parameters()}
    found = [names[id(p)] for p in chosen(model, model.last)]
    assert found[0] == first
    assert {name.removeprefix("features.").split(".")[0] for name in found} == modules


def test_cgd_asks_the_model_for_its_last_layers(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    monkeypatch.setattr(
        "rmix.methods.cgd.chosen", lambda model, prefixes: asked.append(prefixes) or list(model.parameters())
    )
    model = nn.Sequential(nn.Linear(1, 2)).double()
    batch = make_batch([0, 1], group=[0, 1])
    facts = Facts(2, 2, (1, 1), (1, 1), (1, 1))
    for last, given in (((), ()), (("0.weight",), ()), (("0.weight",), ("0.bias",))):
        model.last = last
        CGD(parameters=given).recipe(facts).step(model, batch, rng())
    assert asked == [(), ("0.weight",), ("0.bias",)]


def test_initial_weights_of_convolutions_are_he_et_als() -> None:
    """conv1 of ResNet: 64 x 7 x 7 = 3136 outgoing connections, variance 2 / 3136."""
    with torch_stream(0, "test"):
        weight = ResNet18().build(SHAPE, 2).state_dict()["features.conv1.weight"]
    assert weight.var().item() == pytest.approx(2 / 3136, rel=0.05)
