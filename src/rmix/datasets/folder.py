"""Your own images: in folders that name class and group, or listed in a file."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import ClassVar

from rmix.datasets.base import Bundle
from rmix.datasets.cache import cache_folder
from rmix.datasets.csv_file import Columns, missing_column
from rmix.datasets.images import Images
from rmix.datasets.own_file import SPELLINGS, OwnFile, Piece, Pieces
from rmix.datasets.transforms import Crop, View
from rmix.errors import DataError

KINDS = (".jpg", ".jpeg", ".png", ".bmp", ".gif", ".tif", ".tiff", ".webp", ".ppm", ".pgm")
LEVELS = ("split", "class", "group")
LARGER = 256 / 224  # pictures are resized to this much more than what is shown of them


@dataclass(frozen=True)
class ImageFiles(OwnFile):
    """Your own images: folders SPLIT/CLASS/GROUP, or a CSV or Parquet file that lists them.

    Task: to tell the classes apart, from an image.
    Groups: Class x group folder, or the combinations of the group columns that occur. None where there are none.
    Sizes: Yours. Splits come from folders, from a column, or are dealt by label x group with a seed.
    Source: A folder of yours with images in CLASS/ or CLASS/GROUP/, or the same in train/, valid/ and test/; or a
        file with a column of paths. JPEG, PNG and other kinds that Pillow reads.
    Licence: Yours.

    The middle of an image is shown: its largest central square, resized to 8/7 of the size, and cut.

    Args:
        file: the folder, or the table that lists the images; or its training rows.
        label: column of the class; in a folder, ``class``.
        group: columns whose combinations are the groups; in a folder, ``class`` and ``group`` where there are groups.
        split: column that says train, valid or test; in a folder, ``split`` where its first level says so.
        valid_file: folder or table of the validation images.
        test_file: folder or table of the test images.
        shares: shares of the rows dealt to validation and to test, where nothing says.
        missing: what stands for a missing value, besides nothing at all.
        unseen_groups: allow groups in validation or test that training has no row of.
        id: column in which no value may stand twice, in one file or in two.
        seed: of the dealing.
        path: column of the paths.
        folder: that the paths start from; nothing = where the table lies.
        size: width and height of an input.
        squash: show the whole image, squashed to a square, instead of its middle.
        augment: in training, random crops of 0.7 to 1 of the area and random flips.
        cache: folder for decoded pictures; "default" is $RMIX_CACHE or the user's cache folder, "none" keeps none.
        workers: threads that decode; 0 = one a core. Changes no result.
    """

    name: ClassVar[str] = "images"
    model: ClassVar[str] = "small_cnn"
    path: str = "path"
    folder: str = field(default="", metadata={"plain": False})
    size: int = 224
    squash: bool = False
    augment: bool = False
    cache: str = field(default="default", metadata={"plain": False})
    workers: int = field(default=0, metadata={"plain": False})

    @property
    def selection(self) -> str:
        return "worst_group" if self._named.group else "average"

    @cached_property
    def _named(self) -> ImageFiles:
        """These settings with the columns that a folder gives."""
        if not self.file or not Path(self.file).is_dir():
            return self
        there = self.read(self.file).strings
        group = ("class", "group") if any(there["group"]) else ()
        split = "split" if any(there["split"]) and not self.valid_file and not self.test_file else ""
        return replace(self, label=self.label or "class", group=self.group or group, split=self.split or split)

    def read(self, path: str) -> Columns:
        """All columns of a table, or those that the levels of a folder are."""
        return scan(Path(path)) if Path(path).is_dir() else super().read(path)

    def load(self) -> Bundle:
        return super(ImageFiles, self._named).load()

    def inputs(self, pieces: Pieces) -> Mapping[str, Images]:
        """The images of each split."""
        x = {name: self._images(name, piece) for name, piece in pieces.items()}
        seen: dict[Path, str] = {}
        for name, images in x.items():
            for row, path in enumerate(images.paths):
                where = seen.setdefault(images.root / path, name)
                if where != name:
                    raise pieces[name].refused(row, f"image {path!r} is in split {where!r} too.")
        return x

    def _images(self, name: str, piece: Piece) -> Images:
        table = Path(piece.columns.path)
        if self.path not in piece.columns.strings:
            raise missing_column(table, self.path, piece.columns.strings)
        paths = [piece.columns[self.path][row] for row in piece.rows.tolist()]
        if "" in paths:
            raise piece.refused(paths.index(""), f"the path in column {self.path!r} is missing.")
        view = View(self.size, round(self.size * LARGER), square=not self.squash)
        return Images(
            paths,
            root=table if table.is_dir() else Path(self.folder) if self.folder else table.parent,
            view=replace(view, crop=Crop(), flip=True) if self.augment and name == "train" else view,
            cache=cache_folder(self.cache),
            workers=self.workers or None,
            listed=None if table.is_dir() else (table.name, piece.rows + piece.columns.first_row),
        )


def scan(folder: Path) -> Columns:
    """The images below a folder: their paths, and as columns the levels SPLIT/CLASS/GROUP they lie in.

    The first level is the split where all of its names say so; a missing level is empty.
    """
    paths = sorted(
        (Path(where) / name).relative_to(folder)
        for where, _, names in os.walk(folder, followlinks=True)
        for name in names
        if name.lower().endswith(KINDS) and not name.startswith(".")
    )
    if not paths:
        raise DataError(f"{folder} holds no images ({' '.join(KINDS)}) in folders CLASS/GROUP or SPLIT/CLASS/GROUP.")
    split = all(path.parts[0].lower() in SPELLINGS and not path.parts[0].isdecimal() for path in paths)
    levels = LEVELS if split else LEVELS[1:]
    columns: dict[str, list[str]] = {name: [] for name in ("path", *LEVELS)}
    for path in paths:
        *above, _ = path.parts
        if not (len(levels) - 1 <= len(above) <= len(levels)):
            raise DataError(f"{folder / path} lies in {len(above)} folders, where {'/'.join(levels)} are expected.")
        values = dict(zip(levels, above, strict=False))
        for name in LEVELS:
            columns[name].append(values.get(name, ""))
        columns["path"].append(path.as_posix())
    return Columns(folder, columns)
