"""Features made once by a frozen network, kept on disk, and trained on."""

from __future__ import annotations

import logging
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from threading import Barrier
from typing import Any, ClassVar

import pytest
import torch
from torch import Tensor, nn
from toys import QUICK, SMALL_MOONS, KilledError, bundle_of, split_of

import rmix
from rmix.datasets import Bundle
from rmix.datasets.cache import default_cache
from rmix.datasets.images import Images
from rmix.datasets.transforms import View
from rmix.errors import DataError, RMixError
from rmix.experiment.config import config_from
from rmix.models import MLP, EfficientNetLite0, Encoder, embed
from rmix.models.image_tensors import ImageTensor
from rmix.testing.generators import global_generators

SHOWN: list[int] = []  # rows that a network was shown


class Doubled(nn.Module):
    """Features are twice the inputs; stops the process, so to speak, when it is shown a seven."""

    def __init__(self) -> None:
        super().__init__()
        self.factor = nn.Parameter(torch.rand(()) * 0 + 2)  # draws from torch's generator, as layers do

    def forward(self, x: Tensor) -> Tensor:
        if (x == 7).any():
            raise KilledError
        SHOWN.extend(x[:, 0].int().tolist())
        return self.factor * x


@dataclass(frozen=True)
class Shown:
    x: Tensor
    checksum: str

    def __getitem__(self, rows: Tensor) -> Tensor:
        return self.x[rows]


@dataclass(frozen=True)
class Doubler(Encoder):
    """Reads rows from the last to the first, to see that they are put in order."""

    checksum: str = "a"
    where: str = field(default="here", metadata={"plain": False})
    name: ClassVar[str] = "doubler"

    def view(self, x: Tensor) -> Any:
        return Shown(x, str(x.tolist()))

    def network(self) -> nn.Module:
        return Doubled().eval()

    def batches(self, view: Any, rows: Tensor) -> tuple[Tensor, ...]:
        return torch.split(rows.flip(0), 3)


@pytest.fixture(autouse=True)
def _small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules["rmix.models.features"], "ROWS", 4)
    SHOWN.clear()


def counting(n: int, start: int = 100) -> Bundle:
    """Rows 100, 101 … in training; validation and test have one other row each."""
    train = split_of([0, 1] * (n // 2), group=[0, 1] * (n // 2), x=torch.arange(start, start + n).view(n, 1).float())
    other = split_of([0], group=[0], x=torch.tensor([[50.0]]))
    return bundle_of(train=train, valid=other, test=other)


def test_every_row_has_its_own_features_and_the_rest_stays(tmp_path: Path) -> None:
    bundle = counting(10)
    found = embed(bundle, Doubler(), cache=tmp_path)
    assert torch.equal(found.train.x, torch.arange(200.0, 220.0, 2).view(10, 1))
    assert found.test.x.tolist() == [[100.0]]
    assert found.train.y is bundle.train.y
    assert found.train.group is bundle.train.group
    assert found.group_names == bundle.group_names
    assert sorted(SHOWN) == [50, *range(100, 110)]  # valid and test are the same rows


def test_features_are_made_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="rmix")
    first = embed(counting(10), Doubler(), cache=tmp_path)
    assert "Features of train (doubler): 10 rows made," in caplog.text
    caplog.clear()
    again = embed(counting(10), Doubler(where="moved"), cache=tmp_path)
    assert torch.equal(first.train.x, again.train.x)
    assert len(SHOWN) == 11
    assert caplog.text == ""


def test_two_that_need_them_at_the_same_moment_make_them_once(tmp_path: Path) -> None:
    ready = Barrier(2)

    def made(_: int) -> Bundle:
        ready.wait()
        return embed(counting(10), Doubler(), cache=tmp_path)

    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(made, range(2))
    assert sorted(SHOWN) == [50, *range(100, 110)]
    assert torch.equal(first.train.x, second.train.x)


@pytest.mark.parametrize(
    ("bundle", "encoder"), [(counting(10, start=101), Doubler()), (counting(10), Doubler(checksum="b"))]
)
def test_other_inputs_and_other_weights_have_other_features(tmp_path: Path, bundle: Bundle, encoder: Encoder) -> None:
    embed(counting(10), Doubler(), cache=tmp_path)
    SHOWN.clear()
    embed(bundle, encoder, cache=tmp_path)
    assert len(SHOWN) >= 10


def test_a_killed_embedding_goes_on_after_the_last_chunk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows 0 to 9 in chunks of four; the process dies in the second, at row 7."""
    bundle = counting(10, start=0)
    with pytest.raises(KilledError):
        embed(bundle, Doubler(), cache=tmp_path)
    monkeypatch.setattr(Doubled, "forward", lambda self, x: x)
    found = embed(bundle, Doubler(), cache=tmp_path).train.x.flatten().tolist()
    assert found == [0, 2, 4, 6, 4, 5, 6, 7, 8, 9]  # the first chunk was doubled before


def test_a_damaged_chunk_is_made_again_and_says_so(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    first = embed(counting(10), Doubler(), cache=tmp_path)
    for path in tmp_path.rglob("000001.pt"):
        path.write_bytes(path.read_bytes()[:50])
    SHOWN.clear()
    assert torch.equal(embed(counting(10), Doubler(), cache=tmp_path).train.x, first.train.x)
    assert sorted(SHOWN) == [104, 105, 106, 107]
    assert "000001.pt cannot be read" in caplog.text


def test_an_embedding_moves_no_global_generator(tmp_path: Path) -> None:
    with global_generators(0):
        before = torch.random.get_rng_state()
        embed(counting(10), Doubler(), cache=tmp_path)
        assert torch.equal(torch.random.get_rng_state(), before)


def test_training_on_features_is_another_run_with_a_small_model(tmp_path: Path) -> None:
    plain = rmix.train(SMALL_MOONS, "erm", store=tmp_path, **QUICK)
    run = rmix.train(SMALL_MOONS, "erm", store=tmp_path, features=Doubler(), **QUICK)
    again = rmix.train(SMALL_MOONS, "erm", store=tmp_path, features=Doubler(where="moved"), **QUICK)
    other = rmix.train(SMALL_MOONS, "erm", store=tmp_path, features=Doubler(checksum="b"), **QUICK)
    assert len({plain.result.id, run.result.id, other.result.id}) == 3
    assert again.reused
    assert run.result.config["features"] == {"name": "doubler", "checksum": "a"}
    assert run.result.environment["data"] == plain.result.environment["data"]
    assert plain.result.config["features"] is None
    assert run.result.history != plain.result.history


def test_the_model_of_features_is_a_perceptron_unless_another_is_named() -> None:
    assert config_from({"dataset": "digits"}).model.name == "small_cnn"
    assert config_from({"dataset": "digits", "features": Doubler()}).model == MLP()
    assert config_from({"dataset": "digits", "features": Doubler(), "model": "small_cnn"}).model.name == "small_cnn"


def test_the_settings_of_a_data_set_are_not_those_of_its_features(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        sys.modules["rmix.experiment.config"],
        "shipped_recipe",
        lambda name: {"training": {"epochs": {"moons": 7, "moons_features": 9}[name]}},
    )
    assert config_from({"dataset": "moons"}).training.epochs == 7
    assert config_from({"dataset": "moons", "features": Doubler()}).training.epochs == 9


def test_the_cache_is_where_the_user_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RMIX_CACHE", "here")
    assert default_cache() == Path("here")
    monkeypatch.delenv("RMIX_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", "there")
    assert default_cache() == Path("there/rmix")
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert default_cache() == Path.home() / ".cache/rmix"


def test_images_in_a_tensor_are_resized_and_bytes_normalised() -> None:
    """All 255, mean 0.5, std 0.25: (1 - 0.5) / 0.25 = 2. Numbers are taken to be normalised."""
    white = torch.full((2, 1, 5, 7), 255, dtype=torch.uint8)
    view = ImageTensor("it", white, 8, (0.5, 0.5, 0.5), (0.25, 0.25, 0.25))
    assert view[torch.tensor([1])].shape == (1, 3, 8, 8)
    assert torch.allclose(view[torch.tensor([1])], torch.tensor(2.0))
    assert torch.allclose(
        ImageTensor("it", white.float(), 8, (0.5,) * 3, (0.25,) * 3)[torch.tensor([0])], torch.tensor(255.0)
    )
    assert view.checksum != ImageTensor("it", white, 9, (0.5, 0.5, 0.5), (0.25, 0.25, 0.25)).checksum


@pytest.mark.parametrize(
    ("x", "message"),
    [
        (torch.zeros(2, 3), r"it needs images.*got inputs of shape \(3,\)"),
        (torch.zeros(2, 4, 8, 8), r"got inputs of shape \(4, 8, 8\)"),
        (["a"], "got list"),
    ],
)
def test_what_is_no_image_is_refused(x: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        ImageTensor("it", x, 8, (0.5,) * 3, (0.25,) * 3)


def test_threads_change_no_bit(tmp_path: Path) -> None:
    """Three threads, each on batches of its own; torch's number of threads is as before."""
    wide = split_of([0, 1] * 15, group=[0, 1] * 15, x=torch.linspace(0, 1, 30 * 3 * 8 * 8).view(30, 3, 8, 8))
    bundle = bundle_of(train=wide, valid=wide, test=wide)
    before = torch.get_num_threads()
    found = []
    for threads in (1, 3):
        torch.set_num_threads(threads)
        found.append(embed(bundle, EfficientNetLite0(side=32), cache=tmp_path / str(threads)).train.x)
        assert torch.get_num_threads() == threads
    torch.set_num_threads(before)
    assert torch.equal(*found)


def test_pictures_in_files_are_seen_as_the_encoder_was_trained(tmp_path: Path) -> None:
    from PIL import Image

    Image.new("RGB", (40, 40), (255, 127, 0)).save(tmp_path / "a.png")
    images = Images(["a.png"], root=tmp_path, view=View(16))
    shown = EfficientNetLite0(side=32).view(images)[torch.tensor([0])]
    assert shown.shape == (1, 3, 32, 32)
    assert torch.allclose(shown[0, :, 0, 0], torch.tensor([1.0, 0.0, -127 / 128]), atol=1e-5)


def test_a_picture_of_the_same_size_and_name_is_another_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In files without compression every picture has one size; what is in them is read once, unless they change."""
    from PIL import Image

    def picture(folder: str, colour: str) -> Path:
        (tmp_path / folder).mkdir(exist_ok=True)
        Image.new("RGB", (8, 8), colour).save(tmp_path / folder / "a.bmp")
        os.utime(tmp_path / folder / "a.bmp", ns=(0, times.pop()))
        return tmp_path / folder

    def features_of(folder: Path) -> Tensor:
        split = split_of([0], group=[0], x=Images(["a.bmp"], root=folder, view=View(16)))
        pair = split_of([0, 1], group=[0, 1], x=Images(["a.bmp"] * 2, root=folder, view=View(16)))
        return embed(bundle_of(train=pair, valid=split, test=split), encoder, cache=tmp_path).train.x

    times, encoder = [3, 2, 1, 1], EfficientNetLite0(side=32)
    first, elsewhere = features_of(picture("a", "red")), features_of(picture("b", "blue"))
    assert not torch.equal(first, elsewhere), "of the same name, size and time"
    read: list[int] = []
    monkeypatch.setattr(Images, "_digest", lambda self, row: read.append(row) or self._path(row).read_bytes())
    assert torch.equal(features_of(tmp_path / "a"), first)
    assert not read
    assert torch.equal(features_of(picture("a", "blue")), elsewhere)
    assert read


def test_random_crops_cannot_apply_to_features(tmp_path: Path) -> None:
    images = Images(["a.png"], root=tmp_path, view=View(16, flip=True))
    with pytest.raises(RMixError, match="cannot apply to features, which are made once; say --no-augment"):
        EfficientNetLite0(side=32).view(images)
