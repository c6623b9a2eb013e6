"""Picture files of every kind, and decoded pictures on disk."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from photos import photo
from PIL import Image

from rmix.datasets.pictures import Kept, decode, open_picture
from rmix.datasets.transforms import Geometry
from rmix.errors import DataError


def pixel(path: Path) -> tuple[int, ...]:
    image = open_picture(path)
    assert image.mode == "RGB"
    colour = image.getpixel((0, 0))
    assert isinstance(colour, tuple)
    return colour


def saved(tmp_path: Path, image: Image.Image, name: str, **options: object) -> Path:
    path = tmp_path / name
    image.save(path, **options)  # type: ignore[arg-type]
    return path


def test_grey_is_the_same_in_every_channel(tmp_path: Path) -> None:
    assert pixel(saved(tmp_path, Image.new("L", (2, 2), 77), "grey.png")) == (77, 77, 77)
    assert pixel(saved(tmp_path, Image.new("1", (2, 2), 1), "bits.png")) == (255, 255, 255)


def test_sixteen_bits_become_eight(tmp_path: Path) -> None:
    deep = Image.fromarray(np.full((2, 2), 0xABCD, np.uint16))
    assert pixel(saved(tmp_path, deep, "deep.png")) == (0xAB,) * 3
    assert pixel(saved(tmp_path, Image.new("I", (2, 2), 0x1234), "deep.tif")) == (0x12,) * 3


def test_numbers_without_a_known_range_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="it has values from 70000 to 70000, where 0 to 65535 are known"):
        open_picture(saved(tmp_path, Image.new("I", (2, 2), 70000), "far.tif"))
    with pytest.raises(DataError, match="its values are floating point numbers"):
        open_picture(saved(tmp_path, Image.new("F", (2, 2), 0.5), "float.tif"))


def test_cmyk(tmp_path: Path) -> None:
    red, green, blue = pixel(saved(tmp_path, Image.new("CMYK", (16, 16), (0, 255, 255, 0)), "press.jpg"))
    assert red > 240
    assert max(green, blue) < 15


def test_transparent_parts_lie_over_white(tmp_path: Path) -> None:
    half = Image.new("RGBA", (2, 2), (0, 0, 200, 0))
    assert pixel(saved(tmp_path, half, "clear.png")) == (255, 255, 255)
    assert pixel(saved(tmp_path, Image.new("LA", (2, 2), (40, 255)), "opaque.png")) == (40, 40, 40)
    palette = Image.new("P", (2, 1))
    palette.putpalette([10, 20, 30, 200, 100, 50])
    palette.putdata([0, 1])
    path = saved(tmp_path, palette, "palette.png", transparency=b"\x00\xff")
    assert pixel(path) == (255, 255, 255)
    assert open_picture(path).getpixel((1, 0)) == (200, 100, 50)


def test_a_palette_without_transparency(tmp_path: Path) -> None:
    palette = Image.new("P", (1, 1))
    palette.putpalette([10, 20, 30])
    assert pixel(saved(tmp_path, palette, "palette.gif")) == (10, 20, 30)


def test_photographs_stand_upright(tmp_path: Path) -> None:
    """Orientation 6: the camera was turned, and the left edge of the file is the top of the picture."""
    image = Image.new("RGB", (16, 32), "black")
    image.paste("white", (0, 0, 8, 32))
    exif = Image.Exif()
    exif[0x0112] = 6
    upright = open_picture(saved(tmp_path, image, "turned.jpg", exif=exif, quality=95))
    assert upright.size == (32, 16)
    assert upright.getpixel((16, 2)) > (240, 240, 240)
    assert upright.getpixel((16, 14)) < (15, 15, 15)


def damaged(tmp_path: Path, data: bytes) -> str:
    path = tmp_path / "damaged.jpg"
    path.write_bytes(data)
    with pytest.raises(DataError) as error:
        open_picture(path)
    return str(error.value)


def test_damaged_files_are_refused_with_the_reason(tmp_path: Path) -> None:
    archive = io.BytesIO()
    photo(0, 64, 64).save(archive, "JPEG")
    data = archive.getvalue()
    assert damaged(tmp_path, b"") == "it is empty"
    assert damaged(tmp_path, b"hello") == "it is not an image, or of an unknown kind"
    assert "truncated" in damaged(tmp_path, data[:-50])
    assert damaged(tmp_path, data[:40])
    png = io.BytesIO()
    photo(0, 64, 64).save(png, "PNG")
    assert damaged(tmp_path, png.getvalue()[:-30])
    flipped = bytearray(png.getvalue())
    flipped[100] ^= 255
    assert damaged(tmp_path, bytes(flipped))
    with pytest.raises(DataError, match="there is no such file"):
        open_picture(tmp_path / "none.jpg")
    with pytest.raises(DataError, match="directory"):
        open_picture(tmp_path)


def test_a_bomb_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = saved(tmp_path, Image.new("L", (64, 64)), "bomb.png")
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 1000)
    with pytest.raises(DataError, match="it has more than 2,000 pixels"):
        open_picture(path)


def test_decoding_is_pillows(tmp_path: Path) -> None:
    """As published for CelebA: the central square is cut, then resized."""
    noise = np.random.default_rng(0).integers(0, 256, (218, 178, 3), dtype=np.uint8)  # every pixel counts
    path = saved(tmp_path, Image.fromarray(noise), "face.png")
    pixels, size = decode(path, Geometry(224, square=True))
    expected = Image.fromarray(noise).crop((0, 20, 178, 198)).resize((224, 224), Image.Resampling.BILINEAR)
    assert size == (178, 218)
    assert_nearly(pixels, expected)
    squashed, _ = decode(path, Geometry(64, square=False))
    assert_nearly(squashed, Image.fromarray(noise).resize((64, 64), Image.Resampling.BILINEAR))


def assert_nearly(pixels: np.ndarray, expected: Image.Image) -> None:
    """Torch's filter and Pillow's round some values in two ways."""
    difference = np.abs(pixels.astype(int) - np.asarray(expected).transpose(2, 0, 1))
    assert pixels.dtype == np.uint8
    assert difference.max() <= 1
    assert difference.mean() < 0.02


def noise(row: int, side: int = 4) -> np.ndarray:
    return np.random.default_rng(row).integers(0, 256, (3, side, side), dtype=np.uint8)


def test_what_was_put_is_found_again_by_another_process(tmp_path: Path) -> None:
    first = Kept(tmp_path / "a" / "kept", 3, 4)
    assert first.get(1) is None
    first.put(1, noise(1), (500, 375))
    for kept in (first, Kept(tmp_path / "a" / "kept", 3, 4)):
        pixels, size = kept.get(1)
        assert (pixels == noise(1)).all()
        assert size == (500, 375)
        assert kept.get(0) is None
        assert kept.get(2) is None


def test_a_changed_byte_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "kept"
    kept = Kept(path, 2, 4)
    for row in range(2):
        kept.put(row, noise(row), (9, 9))
    data = bytearray(path.read_bytes())
    data[-1] ^= 1  # of the second picture
    path.write_bytes(data)
    again = Kept(path, 2, 4)
    assert again.get(0) is not None
    assert again.get(1) is None
    again.put(1, noise(1), (9, 9))
    assert (Kept(path, 2, 4).get(1)[0] == noise(1)).all()


def test_a_changed_size_is_noticed(tmp_path: Path) -> None:
    kept = Kept(tmp_path / "kept", 1, 4)
    kept.put(0, noise(0), (9, 7))
    kept._facts[0, 1] = 8
    assert Kept(tmp_path / "kept", 1, 4).get(0) is None


def test_a_file_that_was_cut_short_is_filled_again(tmp_path: Path) -> None:
    path = tmp_path / "kept"
    kept = Kept(path, 4, 4)
    for row in range(4):
        kept.put(row, noise(row), (9, 9))
    whole = path.stat().st_size
    os.truncate(path, whole - 60)
    again = Kept(path, 4, 4)
    assert path.stat().st_size == whole
    assert [again.get(row) is None for row in range(4)] == [False, False, True, True]


def test_a_black_picture_is_not_an_empty_place(tmp_path: Path) -> None:
    kept = Kept(tmp_path / "kept", 2, 4)
    kept.put(0, np.zeros((3, 4, 4), np.uint8), (4, 4))
    again = Kept(tmp_path / "kept", 2, 4)
    assert again.get(0) is not None
    assert again.get(1) is None


def test_threads_put_and_get_side_by_side(tmp_path: Path) -> None:
    kept, wrong = Kept(tmp_path / "kept", 40, 8), []

    def work(start: int) -> None:
        for step in range(200):
            row = (start + step * 7) % 40
            found = kept.get(row)
            if found is None:
                kept.put(row, noise(row, 8), (row, row))
            elif not (found[0] == noise(row, 8)).all() or found[1] != (row, row):
                wrong.append(row)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert all(kept.get(row) is not None for row in range(40))


KILLED = """
import os, signal, sys
from pathlib import Path
import numpy as np
from rmix.datasets.pictures import Kept
kept = Kept(Path(sys.argv[1]), 200, 64)
for row in range(200):
    kept.put(row, np.full((3, 64, 64), row, np.uint8), (64, 64))
    if row == 120:
        os.pwrite(kept._file, b"x" * 5000, kept._start + 121 * kept._bytes)  # half of the next one
        os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_killed_process_leaves_nothing_wrong(tmp_path: Path) -> None:
    path = tmp_path / "kept"
    done = subprocess.run([sys.executable, "-c", KILLED, str(path)], check=False)
    assert done.returncode == -signal.SIGKILL
    kept = Kept(path, 200, 64)
    for row in range(200):
        found = kept.get(row)
        assert (found is not None) == (row <= 120)
        assert found is None or (found[0] == row).all()
