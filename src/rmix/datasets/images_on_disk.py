"""Published data sets of image files: what their options have in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar

import numpy as np
import torch

from rmix.datasets.base import Split
from rmix.datasets.cache import cache_folder
from rmix.datasets.csv_file import Columns, check_unique
from rmix.datasets.images import Images
from rmix.datasets.on_disk import OnDisk
from rmix.datasets.transforms import View
from rmix.errors import DataError


@dataclass(frozen=True)
class ImagesOnDisk(OnDisk):
    """A data set of image files in a folder of its own.

    Args:
        root: folder that holds the data set, or its parent.
        cache: folder for decoded pictures, from which all epochs but the first read; "default" is
            $RMIX_CACHE, else rmix in the user's cache folder; "none" decodes in every epoch.
        workers: threads that decode; 0 = one a core. Changes no result.
        size: width and height of an input.
    """

    pictures: ClassVar[str] = ""  # the folder of the images, below that of the data set
    cache: str = field(default="default", metadata={"plain": False})
    workers: int = field(default=0, metadata={"plain": False})
    size: int = 224

    def folder(self) -> Path:
        folder = super().folder()
        if not (folder / self.pictures).is_dir():
            what = f"the folder {self.pictures} ({self.files[self.pictures]})"
            raise DataError(f"{self.title} in {folder} lacks {what}. See: rmix data describe {self.name}")
        return folder

    def views(self) -> tuple[View, View]:
        """What is shown of a picture in training, and in evaluation."""
        return View(self.size), View(self.size)

    def split(self, name: str, files: Files, y: np.ndarray, group: np.ndarray) -> Split:
        """One split of the images and of the classes and groups of all of them."""
        rows = files.rows[name]
        training, evaluation = self.views()
        x = Images(
            [files.paths[row] for row in rows.tolist()],
            root=files.folder,
            view=training if name == "train" else evaluation,
            cache=cache_folder(self.cache),
            workers=self.workers or None,
            listed=(Path(files.table.path).name, rows + files.table.first_row),
        )
        return Split(x, torch.from_numpy(y[rows]), torch.from_numpy(group[rows]))


@dataclass(frozen=True, eq=False)
class Files:
    """Image files and the table that lists them, one a row.

    Args:
        folder: that the paths start from.
        paths: of the images, in the order of the table.
        table: lists them.
        rows: of each split, from 0.
    """

    folder: Path
    paths: Sequence[str]
    table: Columns
    rows: Mapping[str, np.ndarray]

    def __post_init__(self) -> None:
        check_unique("image", replace(self.table, strings={"image": list(self.paths)}))
