"""Tumours in patches of lymph nodes, in hospitals that training has not seen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from rmix.datasets.base import Bundle
from rmix.datasets.csv_file import Columns, read_csv
from rmix.datasets.images_on_disk import Files, ImagesOnDisk
from rmix.errors import require

TABLE = "metadata.csv"
COLUMNS = ("patient", "node", "x_coord", "y_coord", "tumor", "slide", "center", "split")
SLIDES, HOSPITALS = 50, 5
VALID_HOSPITAL, TEST_HOSPITAL = 1, 2
COUNTED = ("slide", "hospital")


@dataclass(frozen=True)
class Camelyon17(ImagesOnDisk):
    """Is there tumour in the middle of a patch? Validation and test are of hospitals that training has not seen.

    Task: tumour or normal tissue, from a patch of 96 x 96 of a lymph node; two classes, half of each in every hospital.
    Groups: The 50 slides, 30 of which are in training, 10 in validation and 10 in test; or the five hospitals.
    Sizes: 302,436 / 34,904 / 85,054 patches; 33,560 more of the training hospitals for validation.
    Source: CAMELYON17, in the patches and splits of WILDS 2: https://wilds.stanford.edu/datasets/#camelyon17
    Files: camelyon17_v1.0/metadata.csv (patient, node, x_coord, y_coord, tumor, slide, center, split) and
        patches/patient_004_node_4/patch_patient_004_node_4_x_3328_y_21792.png and so on. 10.7 GB.
    Citation: Bandi et al., From detection of individual metastases to classification of lymph node status at the
        patient level, IEEE TMI 2019; Koh et al., WILDS: a benchmark of in-the-wild distribution shifts, ICML 2021.
    Licence: CC0.

    The published number is the average; validation and test have no group of training.

    Args:
        root: folder that holds the data set, or its parent.
        cache: folder for decoded pictures; "default" is $RMIX_CACHE or the user's cache folder, "none" keeps none.
        workers: threads that decode; 0 = one a core. Changes no result.
        size: width and height of an input.
        group: slide (paper) or hospital.
        id_valid: validate on patches of the training hospitals instead of a new one.
    """

    name: ClassVar[str] = "camelyon17"
    model: ClassVar[str] = "densenet121"
    title: ClassVar[str] = "Camelyon17"
    folders: ClassVar[tuple[str, ...]] = ("camelyon17_v1.0",)
    files: ClassVar[Mapping[str, str]] = {
        TABLE: "455,954 patches, their patient, place, slide, hospital and label",
        "patches": "a folder of PNG files a node, 96 x 96, 10.7 GB",
    }
    published_rows: ClassVar[Mapping[str, int]] = {"train": 302436, "valid": 34904, "test": 85054}
    pictures: ClassVar[str] = "patches"
    size: int = 96
    group: Literal["slide", "hospital"] = "slide"
    id_valid: bool = False

    def __post_init__(self) -> None:
        require(self.group in COUNTED, f"group must be one of {', '.join(COUNTED)}, got {self.group!r}")

    @property
    def expected_rows(self) -> Mapping[str, int]:
        return {**self.published_rows, **({"valid": 33560} if self.id_valid else {})}

    @property
    def selection(self) -> str:
        return "average"

    def load(self) -> Bundle:
        folder = self.folder()
        columns = read_csv(folder / TABLE, COLUMNS)
        hospital, slide = columns.integers("center", range(HOSPITALS)), columns.integers("slide", range(SLIDES))
        files = Files(folder, _paths(columns), columns, self._rows(columns, hospital))
        y, group = columns.integers("tumor", (0, 1)), slide if self.group == "slide" else hospital
        train, valid, test = (self.split(name, files, y, group) for name in files.rows)
        return Bundle(
            self.name,
            train,
            valid,
            test,
            class_names=("normal", "tumour"),
            group_names=tuple(f"{self.group} {g}" for g in range(SLIDES if self.group == "slide" else HOSPITALS)),
            unseen_groups=True,
        )

    def _rows(self, columns: Columns, hospital: np.ndarray) -> dict[str, np.ndarray]:
        kept_aside = columns.integers("split", (0, 1)) == 1
        seen = ~np.isin(hospital, (VALID_HOSPITAL, TEST_HOSPITAL))
        valid = seen & kept_aside if self.id_valid else hospital == VALID_HOSPITAL
        masks = {"train": seen & ~kept_aside, "valid": valid, "test": hospital == TEST_HOSPITAL}
        return {name: np.flatnonzero(mask) for name, mask in masks.items()}


def _paths(columns: Columns) -> list[str]:
    """Where the patches are; a patient has three digits, also where a spreadsheet took the zeros away."""
    places = zip(*(columns[name] for name in COLUMNS[:4]), strict=True)
    nodes = ((f"patient_{patient.zfill(3)}_node_{node}", x, y) for patient, node, x, y in places)
    return [f"patches/{node}/patch_{node}_x_{x}_y_{y}.png" for node, x, y in nodes]
