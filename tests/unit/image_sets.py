"""The published data sets of images in miniature, in their exact formats."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from photos import photo

HIDDEN = {"cache": "none", "workers": 2}  # settings under which a test leaves nothing behind


def write_csv(path: Path, header: str, rows: Iterable[Sequence[object]], *, mark: bytes = b"", end: str = "\n") -> None:
    """A CSV file; with a byte-order mark or other line ends if a test asks for them."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [header, *(",".join(map(str, row)) for row in rows)]
    path.write_bytes(mark + (end.join(lines) + end).encode())


def write_image(path: Path, seed: int, width: int = 32, height: int = 32) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    photo(seed, width, height).save(path)


def write_waterbirds(folder: Path, of_group: Sequence[int] = (4, 2, 2, 3), held_out: int = 2) -> Path:
    """Training rows of each group, then so many of each group for validation and test, split by split mixed."""
    cells = [(g, 0) for g in range(4) for _ in range(of_group[g])]
    cells += [(g, split) for g in range(4) for split in (1, 2) for _ in range(held_out)]
    cells = cells[::2] + cells[1::2]  # splits and groups mixed
    rows = []
    for i, (g, split) in enumerate(cells):
        name = f"{g // 2 + 1:03d}.Some_bird/Some_bird_{i:04d}.jpg"
        write_image(folder / name, 100 * g + i, 40, 30)
        rows.append((i + 1, name, g // 2, split, g % 2, f"/f/forest/{i}.jpg"))
    write_csv(folder / "metadata.csv", "img_id,img_filename,y,split,place,place_filename", rows)
    return folder
