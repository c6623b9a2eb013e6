"""Image files as the inputs of a split."""

from __future__ import annotations

import logging
import os
import pickle
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from photos import photo, write_photos
from PIL import Image
from torch import Tensor

from rmix.datasets import images as module
from rmix.datasets.images import Images, Memory, cores
from rmix.datasets.pictures import Kept
from rmix.datasets.transforms import Crop, View
from rmix.errors import DataError
from rmix.streams import stream

PLAIN = View(16, 20, mean=(0.0, 0.0, 0.0), std=(1.0, 1.0, 1.0))
RANDOM = replace(PLAIN, crop=Crop(), flip=True)
N = 37  # more than a few chunks of 8


@pytest.fixture
def names(tmp_path: Path) -> list[str]:
    return write_photos(tmp_path / "in", N)


def images(tmp_path: Path, names: list[str], view: View = PLAIN, **settings: object) -> Images:
    return Images(names, root=tmp_path / "in", view=view, **settings)  # type: ignore[arg-type]


def draws(batch: int, place: int) -> np.random.Generator:
    return stream(0, "augment", batch, place)


def shown(x: Images, rows: Tensor, size: int = 10, *, augmented: bool = True) -> Tensor:
    return torch.cat(list(x.read(torch.split(rows, size), draws if augmented else None)))


def test_a_row_is_the_resized_middle_of_its_file(tmp_path: Path, names: list[str]) -> None:
    x = images(tmp_path, names)[torch.tensor([5, 0])]
    for row, got in zip((5, 0), x, strict=True):
        with Image.open(tmp_path / "in" / names[row]) as image:
            small = image.resize((20, 20), Image.Resampling.BILINEAR)
        expected = torch.from_numpy(np.array(small)[2:18, 2:18]).permute(2, 0, 1) / 255
        torch.testing.assert_close(got, expected, rtol=0, atol=1.01 / 255)
    assert x.dtype == torch.float32


def test_no_rows(tmp_path: Path, names: list[str]) -> None:
    assert images(tmp_path, names)[torch.tensor([], dtype=torch.int64)].shape == (0, 3, 16, 16)
    assert list(images(tmp_path, names).read([])) == []


@pytest.mark.parametrize("augmented", [False, True])
def test_workers_cache_and_earlier_epochs_change_no_bit(tmp_path: Path, names: list[str], augmented: bool) -> None:
    rows = torch.randperm(N, generator=torch.Generator().manual_seed(0))
    expected = shown(images(tmp_path, names, RANDOM, workers=1), rows, augmented=augmented)
    assert torch.equal(shown(images(tmp_path, names, RANDOM, workers=3), rows, augmented=augmented), expected)
    kept = images(tmp_path, names, RANDOM, cache=tmp_path / "cache", workers=2)
    for _ in range(2):
        assert torch.equal(shown(kept, rows, augmented=augmented), expected)
    again = images(tmp_path, names, RANDOM, cache=tmp_path / "cache")
    assert torch.equal(shown(again, rows, augmented=augmented), expected), "read by another process"
    shown(again, rows, augmented=not augmented)
    assert torch.equal(shown(again, rows, augmented=augmented), expected)


def test_random_views_are_shown_in_training_only(tmp_path: Path, names: list[str]) -> None:
    rows = torch.arange(N)
    random, plain = images(tmp_path, names, RANDOM), images(tmp_path, names, PLAIN)
    evaluated = shown(plain, rows, augmented=False)
    assert torch.equal(shown(random, rows, augmented=False), evaluated)
    assert torch.equal(shown(plain, rows, augmented=True), evaluated)
    differs = (shown(random, rows) != evaluated).flatten(1).any(1)
    assert differs.float().mean() > 0.9


def test_a_row_draws_from_the_stream_it_is_given(tmp_path: Path, names: list[str]) -> None:
    asked = []

    def noted(batch: int, place: int) -> np.random.Generator:
        asked.append((batch, place))
        return stream(batch, place)

    x = images(tmp_path, names, RANDOM, workers=2)
    list(x.read([torch.tensor([3, 3, 4]), torch.tensor([9])], noted))
    assert sorted(asked) == [(0, 0), (0, 1), (0, 2), (1, 0)]


def test_each_picture_is_decoded_once(tmp_path: Path, names: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    decoded = []
    real = module.decode
    monkeypatch.setattr(module, "decode", lambda path, geometry: decoded.append(path.name) or real(path, geometry))
    x = images(tmp_path, names, cache=tmp_path / "cache")
    for _ in range(3):
        shown(x, torch.arange(N))
    assert sorted(decoded) == names


def test_a_changed_file_is_decoded_anew(tmp_path: Path, names: list[str]) -> None:
    cached = {"cache": tmp_path / "cache"}
    before = images(tmp_path, names, **cached)[torch.arange(2)]
    photo(99).save(tmp_path / "in" / names[1])
    os.utime(tmp_path / "in" / names[1], ns=(0, 12345))
    after = images(tmp_path, names, **cached)[torch.arange(2)]
    assert torch.equal(before[0], after[0])
    assert not torch.equal(before[1], after[1])
    assert torch.equal(after, images(tmp_path, names)[torch.arange(2)])


def test_files_of_one_name_size_and_time_in_two_folders(tmp_path: Path) -> None:
    """As archives unpack that keep no times, of pictures without compression."""
    found = []
    for folder, colour in (("a", "red"), ("b", "blue")):
        (tmp_path / folder).mkdir()
        Image.new("RGB", (20, 20), colour).save(tmp_path / folder / "x.bmp")
        os.utime(tmp_path / folder / "x.bmp", ns=(0, 0))
        x = Images(["x.bmp"], root=tmp_path / folder, view=PLAIN, cache=tmp_path / "cache")
        found.append(x[torch.tensor([0])][0, :, 0, 0].tolist())
    assert found == [[1, 0, 0], [0, 0, 1]]


def test_the_checksum_knows_names_sizes_and_view_and_nothing_else(tmp_path: Path, names: list[str]) -> None:
    checksum = images(tmp_path, names).checksum
    assert images(tmp_path, names, cache=tmp_path, workers=5, listed=("x", np.arange(N))).checksum == checksum
    (tmp_path / "in").rename(tmp_path / "moved")
    moved = Images(names, root=tmp_path / "moved", view=PLAIN)
    assert moved.checksum == checksum
    os.utime(tmp_path / "moved" / names[0], ns=(0, 1))
    assert Images(names, root=tmp_path / "moved", view=PLAIN).checksum == checksum
    others = [
        Images(names[:-1], root=tmp_path / "moved", view=PLAIN),
        Images(names[::-1], root=tmp_path / "moved", view=PLAIN),
        Images(names, root=tmp_path / "moved", view=RANDOM),
    ]
    file = tmp_path / "moved" / names[0]
    file.write_bytes(file.read_bytes() + b"x")
    others.append(Images(names, root=tmp_path / "moved", view=PLAIN))
    assert len({checksum, *(x.checksum for x in others)}) == 5


def test_an_unreadable_image_is_named_with_its_row(tmp_path: Path, names: list[str]) -> None:
    (tmp_path / "in" / names[20]).write_bytes(b"")
    x = images(tmp_path, names, listed=("birds.csv", np.arange(N) + 2))
    with pytest.raises(DataError) as error:
        shown(x, torch.arange(N))
    path = tmp_path / "in" / names[20]
    assert str(error.value) == (
        f"Image {path} (birds.csv row 22) cannot be read: it is empty; mend it, or take it out."
    )
    found = list(x.unreadable())
    assert [row for row, why in enumerate(found) if why] == [20]
    assert found[20] == str(error.value)


def test_a_missing_image_is_found_before_any_is_decoded(tmp_path: Path, names: list[str]) -> None:
    (tmp_path / "in" / names[3]).unlink()
    x = images(tmp_path, names, cache=tmp_path / "cache")
    with pytest.raises(DataError, match=r"003\.jpg cannot be read: No such file or directory; mend it"):
        _ = x.checksum
    assert [row for row, why in enumerate(x.unreadable()) if why] == [3]


def test_a_reader_that_stops_early_stops_the_workers(tmp_path: Path, names: list[str]) -> None:
    import threading

    before = threading.active_count()
    reader = images(tmp_path, names).read(torch.split(torch.arange(N), 2))
    next(reader)
    reader.close()
    assert threading.active_count() == before


def test_a_cache_that_cannot_be_made_costs_only_time(
    tmp_path: Path, names: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("in the way")
    x = images(tmp_path, names, cache=tmp_path / "file")
    with caplog.at_level(logging.WARNING):
        assert torch.equal(shown(x, torch.arange(N)), shown(images(tmp_path, names), torch.arange(N)))
    assert [r.getMessage() for r in caplog.records] == [
        f"0.0 GB of decoded pictures cannot be kept in {tmp_path / 'file'} (Not a directory), so every epoch decodes "
        "them again; choose another folder with --dataset.cache."
    ]


def test_a_full_disk_costs_only_time(
    tmp_path: Path, names: list[str], caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(file: int, start: int, total: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full)
    x = images(tmp_path, names, cache=tmp_path / "cache")
    with caplog.at_level(logging.WARNING):
        shown(x, torch.arange(N))
        shown(x, torch.arange(N))
    assert [r.getMessage().count("No space left on device") for r in caplog.records] == [1], "said once"


def test_a_picture_damaged_on_disk_is_decoded_again(tmp_path: Path, names: list[str]) -> None:
    rows, cache = torch.arange(N), tmp_path / "cache"
    expected = shown(images(tmp_path, names, cache=cache), rows)
    (file,) = (cache / "pictures").iterdir()
    data = bytearray(file.read_bytes())
    data[N * 12 + 5] ^= 255
    file.write_bytes(data)
    assert torch.equal(shown(images(tmp_path, names, cache=cache), rows), expected)


def test_it_travels_to_another_process(tmp_path: Path, names: list[str]) -> None:
    x = images(tmp_path, names, cache=tmp_path / "cache")
    rows = torch.arange(N)
    expected = shown(x, rows)
    copy = pickle.loads(pickle.dumps(x))
    assert copy.checksum == x.checksum
    assert torch.equal(shown(copy, rows), expected)


def test_as_an_encoder_wants_them(tmp_path: Path, names: list[str]) -> None:
    with pytest.raises(DataError, match="Random crops and flips cannot apply to features"):
        images(tmp_path, names, RANDOM).evaluated_as(8, (0.5,) * 3, (0.5,) * 3)
    x = images(tmp_path, names, cache=tmp_path / "cache").evaluated_as(8, (0.5,) * 3, (0.5,) * 3)
    assert x.view == View(8, 10, mean=(0.5,) * 3, std=(0.5,) * 3)
    assert shown(x, torch.arange(3)).shape == (3, 3, 8, 8)
    assert not (tmp_path / "cache").exists()
    assert x.paths == tuple(names)


def test_memory_is_used_again_only_when_nobody_holds_it() -> None:
    memory = Memory()
    first = memory.tensor(2, 3)
    address = first.data_ptr()
    second = memory.tensor(2, 3)
    assert second.data_ptr() != address
    view = first[:1]
    del first
    assert memory.tensor(2, 3).data_ptr() != address, "a view holds it still"
    held = memory.tensor(2, 3)
    del view
    again = memory.tensor(2, 3)
    assert again.data_ptr() == address
    assert memory.tensor(3, 3).shape == (3, 3)
    assert held.data_ptr() != address


def test_batches_that_are_kept_stay_as_they_were(tmp_path: Path, names: list[str]) -> None:
    x = images(tmp_path, names, workers=2)
    kept = list(x.read(torch.split(torch.arange(N), 3)))
    assert torch.equal(torch.cat(kept), x[torch.arange(N)])


def test_cores() -> None:
    assert 1 <= cores() <= (os.cpu_count() or 1)


def test_two_at_once_share_a_cache(tmp_path: Path, names: list[str]) -> None:
    first, second = (images(tmp_path, names, cache=tmp_path / "cache") for _ in range(2))
    pairs = zip(first.read(torch.split(torch.arange(N), 5)), second.read(torch.split(torch.arange(N), 5)), strict=True)
    assert all(torch.equal(a, b) for a, b in pairs)
    (file,) = (tmp_path / "cache" / "pictures").iterdir()
    kept = Kept(file, N, 20)
    assert all(kept.get(row) is not None for row in range(N))
