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


def write_celeba(folder: Path, cells: Sequence[tuple[int, int, int]], *, text: bool = False) -> Path:
    """Faces of (blond, male, split), in one of the two published forms."""
    names = [f"Attribute_{i}" for i in range(40)]
    names[9], names[20] = "Blond_Hair", "Male"
    faces = [f"{i:06d}.jpg" for i in range(1, len(cells) + 1)]
    values = [[1 if (i + k) % 3 else -1 for k in range(40)] for i in range(len(cells))]
    for row, (blond, male, _) in zip(values, cells, strict=True):
        row[9], row[20] = 2 * blond - 1, 2 * male - 1
    for i, face in enumerate(faces):
        write_image(folder / "img_align_celeba" / face, i, 178 // 4, 218 // 4)
    listed = [[face, *row] for face, row in zip(faces, values, strict=True)]
    parts = [(face, split) for face, (_, _, split) in zip(faces, cells, strict=True)]
    if text:
        lines = [str(len(faces)), " ".join(names), *(" ".join(f"{v:>2}" for v in row) for row in listed)]
        (folder / "list_attr_celeba.txt").write_text("\n".join(lines) + "\n")
        (folder / "list_eval_partition.txt").write_text("".join(f"{face} {split}\n" for face, split in parts))
    else:
        write_csv(folder / "list_attr_celeba.csv", ",".join(["image_id", *names]), listed)
        write_csv(folder / "list_eval_partition.csv", "image_id,partition", parts)
    return folder


def write_fmow(folder: Path, rows: Sequence[tuple[str, str, str, str]]) -> Path:
    """Images of (split, category, country, time); only those that some split may show are written."""
    listed = []
    for i, (split, category, country, time) in enumerate(rows):
        if split != "seq":
            write_image(folder / "images" / f"rgb_img_{i}.png", i, 8, 8)
        listed.append((split, f"img_{i}.jpg", category, country, time, 0.5))
    write_csv(folder / "rgb_metadata.csv", "split,img_filename,category,country_code,timestamp,cloud_cover", listed)
    countries = [("France", "FRA", "Europe"), ("Kenya", "KEN", "Africa"), ("Japan", "JPN", "Asia")]
    countries += [("Chile", "CHL", "Americas"), ("Fiji", "FJI", "Oceania"), ("Antarctica", "ATA", "")]
    write_csv(folder / "country_code_mapping.csv", "name,alpha-3,region", countries)
    return folder


def write_camelyon17(folder: Path, rows: Sequence[tuple[int, int, int]]) -> Path:
    """Patches of (slide, split, tumour); ten slides a hospital, two patients a hospital."""
    listed = []
    for i, (slide, split, tumour) in enumerate(rows):
        patient, node, x, y = f"{slide // 5:03d}", slide % 5, 32 * i, 64 * i
        where = f"patient_{patient}_node_{node}"
        write_image(folder / "patches" / where / f"patch_{where}_x_{x}_y_{y}.png", i, 96, 96)
        listed.append((i, patient, node, x, y, tumour, slide, slide // 10, split))
    write_csv(folder / "metadata.csv", ",patient,node,x_coord,y_coord,tumor,slide,center,split", listed)
    return folder
