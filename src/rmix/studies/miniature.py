"""The paper's data sets in miniature: made up, in the exact formats, to try the whole path on.

Colours stand for classes and stripes for groups. Numbers made on them say nothing about the data sets.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rmix.datasets.civilcomments import FILE, IDENTITIES
from rmix.datasets.fmow import CLASSES
from rmix.errors import InvalidValueError
from rmix.streams import stream, torch_stream

SIDE = 32  # pixels; Camelyon17's patches keep their 96
TRAIN, HELD_OUT = (12, 4, 4, 8), 3  # rows of the four groups; of each in validation and in test
NICE, RUDE = ("fine", "thanks"), ("awful", "rubbish")
WORDS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *NICE, *RUDE, *map(str.lower, IDENTITIES))
REGIONS = (
    ("Japan", "JPN", "Asia"),
    ("France", "FRA", "Europe"),
    ("Kenya", "KEN", "Africa"),
    ("Chile", "CHL", "Americas"),
    ("Fiji", "FJI", "Oceania"),
)


def make(dataset: str, root: Path) -> Path:
    """Write a data set below ``root``, unless it is there; its folder."""
    folder = root / dataset
    if dataset in MAKERS and not folder.exists():
        MAKERS[dataset](folder)
    return folder


def waterbirds(folder: Path) -> None:
    """metadata.csv and JPEG files."""
    rows: list[tuple[object, ...]] = []
    for i, (group, split) in enumerate(_cells()):
        name = f"{group // 2 + 1:03d}.A_bird/A_bird_{i:04d}.jpg"
        _picture(folder / name, group // 2, group % 2, i)
        rows.append((i + 1, name, group // 2, split, group % 2))
    _csv(folder / "metadata.csv", ("img_id", "img_filename", "y", "split", "place"), rows)


def celeba(folder: Path) -> None:
    """Attributes and splits as CSV, and JPEG files."""
    faces, parts = [], []
    for i, (group, split) in enumerate(_cells()):
        name = f"{i + 1:06d}.jpg"
        _picture(folder / "img_align_celeba" / name, group // 2, group % 2, i)
        faces.append((name, 2 * (group // 2) - 1, 2 * (group % 2) - 1))
        parts.append((name, split))
    _csv(folder / "list_attr_celeba.csv", ("image_id", "Blond_Hair", "Male"), faces)
    _csv(folder / "list_eval_partition.csv", ("image_id", "partition"), parts)


def civilcomments(folder: Path) -> None:
    """Comments of a few words that mention one or two identities, or none."""
    rows: list[tuple[object, ...]] = []
    for split, times in (("train", 3), ("val", 1), ("test", 1)):
        for who in range(len(IDENTITIES) + 1):
            for toxic in (0, 1):
                for turn in range(times):
                    also = (who + turn + 1) % len(IDENTITIES)
                    mentioned = [name for place, name in enumerate(IDENTITIES) if place in (who, also) and turn < 2]
                    words = [*mentioned, *(RUDE if toxic else NICE)]
                    flags = [float(name in mentioned) for name in IDENTITIES]
                    rows.append((len(rows), " ".join(words).lower(), split, float(toxic), *flags))
    _csv(folder / FILE, ("id", "comment_text", "split", "toxicity", *IDENTITIES), rows)


def fmow(folder: Path) -> None:
    """Metadata, regions of countries, and PNG files."""
    rows: list[tuple[object, ...]] = []
    years = {"train": 2010, "val": 2014, "test": 2017}
    for split, year in years.items():
        for y, category in enumerate(CLASSES):  # all of them, or there is nothing to learn of some
            group = y % len(REGIONS)
            _picture(folder / "images" / f"rgb_img_{len(rows)}.png", y, group, len(rows))
            rows.append((split, category, REGIONS[group][1], f"{year}-06-01T00:00:00Z"))
    _csv(folder / "rgb_metadata.csv", ("split", "category", "country_code", "timestamp"), rows)
    _csv(folder / "country_code_mapping.csv", ("name", "alpha-3", "region"), REGIONS)


def camelyon17(folder: Path) -> None:
    """Two to six patches of each of the fifty slides."""
    rows: list[tuple[object, ...]] = []
    for slide in range(50):
        for tumour in (0, 1) * (1 + slide % 3):
            patient, node, i = f"{slide // 5:03d}", slide % 5, len(rows)
            where = f"patient_{patient}_node_{node}"
            _picture(folder / "patches" / where / f"patch_{where}_x_{i}_y_{i}.png", tumour, slide // 10, i, 96)
            rows.append((patient, node, i, i, tumour, slide, slide // 10, 0))
    header = ("patient", "node", "x_coord", "y_coord", "tumor", "slide", "center", "split")
    _csv(folder / "metadata.csv", header, rows)


def distilbert(folder: Path) -> Path:
    """A DistilBERT of a few thousand random weights, in the files of the published one."""
    try:
        from transformers import DistilBertConfig, DistilBertModel
    except ImportError:
        raise InvalidValueError("CivilComments needs transformers; pip install 'rmix[text]'.") from None
    from rmix.reports.safetensors import safetensors

    sizes: dict[str, Any] = {"vocab_size": len(WORDS), "dim": 16, "n_heads": 2, "n_layers": 2, "hidden_dim": 32}
    sizes["max_position_embeddings"] = 300
    folder.mkdir(parents=True, exist_ok=True)
    with torch_stream(0, "miniature"):
        model = DistilBertModel(DistilBertConfig(**sizes))
    (folder / "config.json").write_text(json.dumps({"model_type": "distilbert", **sizes}))
    (folder / "vocab.txt").write_text("\n".join(WORDS) + "\n")
    (folder / "model.safetensors").write_bytes(safetensors(model.state_dict()))
    return folder


MAKERS: dict[str, Callable[[Path], None]] = {
    "waterbirds": waterbirds,
    "celeba": celeba,
    "civilcomments": civilcomments,
    "fmow": fmow,
    "camelyon17": camelyon17,
}


def _cells() -> Iterator[tuple[int, int]]:
    """Group and split of each row."""
    for group, count in enumerate(TRAIN):
        yield from [(group, 0)] * count + [(group, 1), (group, 2)] * HELD_OUT


def _picture(path: Path, y: int, group: int, row: int, side: int = SIDE) -> None:
    from PIL import Image

    blocks = stream(0, "miniature", row).integers(0, 60, size=(8, 8, 3))
    blocks[:, :, y % 3] += 150
    blocks[:: group + 2] += 40
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(blocks.astype(np.uint8)).resize((side, side)).save(path)


def _csv(path: Path, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header, *rows])
