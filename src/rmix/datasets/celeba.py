"""Faces, and whether their hair is blond."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from rmix.datasets.base import Bundle
from rmix.datasets.csv_file import Columns, missing_column, read_csv
from rmix.datasets.images_on_disk import Files, ImagesOnDisk
from rmix.datasets.transforms import Crop, View
from rmix.errors import DataError

ATTRIBUTES, PARTITION, PICTURES = "list_attr_celeba", "list_eval_partition", "img_align_celeba"
LABEL, ATTRIBUTE = "Blond_Hair", "Male"
CLASSES = ("dark", "blond")
GROUP_NAMES = tuple(f"{hair}, {sex}" for hair in CLASSES for sex in ("female", "male"))
SPLITS = {"train": "0", "valid": "1", "test": "2"}


@dataclass(frozen=True)
class CelebA(ImagesOnDisk):
    """Is the hair of a face blond? Few blond faces are men's.

    Task: hair colour, blond or dark, from an aligned photograph; two classes.
    Groups: Four, hair x sex as annotated.
    Sizes: 162,770 / 19,867 / 19,962 faces. Training: dark female 71,629, dark male 66,874, blond female 22,880, blond
        male 1,387. Validation 8,535, 8,276, 2,874, 182; test 9,767, 7,535, 2,480, 180.
    Source: https://mmlab.ie.cuhk.edu.hk/projects/CelebA.html (text files), or the copy on Kaggle,
        jessicali9530/celeba-dataset (CSV files), the form that group_DRO and WILDS use.
    Files: list_attr_celeba and list_eval_partition, both .csv or both .txt, and img_align_celeba/ with the aligned
        and cropped faces (178 x 218); looked for in celebA_v1.0, celebA/data, celebA and celeba.
    Citation: Liu et al., Deep learning face attributes in the wild, ICCV 2015.
    Licence: Non-commercial research only; the images are not to be passed on.

    Evaluated as published: the central 178 x 178, resized.

    Args:
        root: folder that holds the data set, or its parent.
        cache: folder for decoded pictures; "default" is $RMIX_CACHE or the user's cache folder, "none" keeps none.
        workers: threads that decode; 0 = one a core. Changes no result.
        size: width and height of an input.
        augment: in training, random crops of 0.7 to 1 of the area and random flips, as published with RMix.
    """

    name: ClassVar[str] = "celeba"
    model: ClassVar[str] = "resnet50"
    title: ClassVar[str] = "CelebA"
    folders: ClassVar[tuple[str, ...]] = ("celebA_v1.0", "celebA/data", "celebA", "celeba")
    files: ClassVar[Mapping[str, str]] = {
        f"{ATTRIBUTES}.csv or .txt": "forty attributes of 202,599 faces",
        f"{PARTITION}.csv or .txt": "their splits, in the same order",
        PICTURES: "202,599 JPEG files of 178 x 218, 1.4 GB",
    }
    pictures: ClassVar[str] = PICTURES
    marks: ClassVar[tuple[str, ...]] = (f"{ATTRIBUTES}.csv", f"{ATTRIBUTES}.txt")
    published: ClassVar[Mapping[str, Mapping[str, int]]] = {
        "train": dict(zip(GROUP_NAMES, (71629, 66874, 22880, 1387), strict=True)),
        "valid": dict(zip(GROUP_NAMES, (8535, 8276, 2874, 182), strict=True)),
        "test": dict(zip(GROUP_NAMES, (9767, 7535, 2480, 180), strict=True)),
    }
    augment: bool = False

    def views(self) -> tuple[View, View]:
        view = View(self.size, square=True)
        return replace(view, crop=Crop(ratio=(1.0, 4 / 3)), flip=True) if self.augment else view, view

    def load(self) -> Bundle:
        folder = self.folder()
        as_csv = (folder / f"{ATTRIBUTES}.csv").exists()
        faces, partition = _from_csv(folder) if as_csv else _from_text(folder)
        _check_order(faces, partition)
        blond, male = ((faces.integers(name, (-1, 1)) + 1) // 2 for name in (LABEL, ATTRIBUTE))
        nested = folder / PICTURES / PICTURES  # as the archive of Kaggle unpacks
        pictures = nested if nested.is_dir() else folder / PICTURES
        files = Files(pictures, faces["image_id"], faces, partition.places("partition", SPLITS))
        train, valid, test = (self.split(name, files, blond, 2 * blond + male) for name in SPLITS)
        return Bundle(self.name, train, valid, test, class_names=CLASSES, group_names=GROUP_NAMES)


def _from_csv(folder: Path) -> tuple[Columns, Columns]:
    faces = read_csv(folder / f"{ATTRIBUTES}.csv", ["image_id", LABEL, ATTRIBUTE], unique="image_id")
    return faces, read_csv(folder / f"{PARTITION}.csv", ["image_id", "partition"])


def _from_text(folder: Path) -> tuple[Columns, Columns]:
    """The official form: a count, the names of the attributes, then a line a face; and lines of a file and its part."""
    path = folder / f"{ATTRIBUTES}.txt"
    lines = _words(path)
    if len(lines) < 3:
        raise DataError(f"{path} has {len(lines)} lines; expected are a count, the names of the attributes, and faces.")
    (count, *_), names, *lines = lines
    for name in (LABEL, ATTRIBUTE):
        if name not in names:
            raise missing_column(path, name, names)
    if count != str(len(lines)):
        raise DataError(f"{path} announces {count} faces and lists {len(lines)}; it may be cut short.")
    faces = _columns(path, lines, ["image_id", *names], first_row=3)
    partition = folder / f"{PARTITION}.txt"
    return faces, _columns(partition, _words(partition), ["image_id", "partition"], first_row=1)


def _words(path: Path) -> list[list[str]]:
    if not path.is_file():
        raise DataError(f"There is no file {path}.")
    text = path.read_text(encoding="utf-8-sig", errors="replace")  # what is no text is no name or number either
    return [line.split() for line in text.splitlines() if line.strip()]


def _columns(path: Path, lines: list[list[str]], names: list[str], first_row: int) -> Columns:
    for row, words in enumerate(lines):
        if len(words) != len(names):
            raise DataError(f"{path} row {row + first_row}: {len(words)} words, where {len(names)} are expected.")
    return Columns(path, dict(zip(names, map(list, zip(*lines, strict=True)), strict=True)), first_row)


def _check_order(faces: Columns, partition: Columns) -> None:
    """The two files list the same faces in the same order, which everyone relies on."""
    if len(faces) != len(partition):
        raise DataError(f"{faces.path} lists {len(faces)} faces and {partition.path} {len(partition)}.")
    for row, (ours, theirs) in enumerate(zip(faces["image_id"], partition["image_id"], strict=True)):
        if ours != theirs:
            raise partition.refused(row, f"{theirs!r}, where {faces.path} has {ours!r}; both must be in one order.")
