"""Data sets. One file and one line here to add one."""

from rmix.datasets.base import Bundle, DataSet, InMemory, Split
from rmix.datasets.camelyon17 import Camelyon17
from rmix.datasets.celeba import CelebA
from rmix.datasets.civilcomments import CivilComments
from rmix.datasets.digits import DigitsOnBackgrounds
from rmix.datasets.fmow import FMoW
from rmix.datasets.folder import ImageFiles
from rmix.datasets.moons import FourMoons
from rmix.datasets.table import Table
from rmix.datasets.text_file import TextFile
from rmix.datasets.waterbirds import Waterbirds

DATASETS: dict[str, type[DataSet]] = {
    cls.name: cls
    for cls in (
        FourMoons,
        DigitsOnBackgrounds,
        Waterbirds,
        CelebA,
        CivilComments,
        FMoW,
        Camelyon17,
        Table,
        ImageFiles,
        TextFile,
    )
}

__all__ = [
    "DATASETS",
    "Bundle",
    "Camelyon17",
    "CelebA",
    "CivilComments",
    "DataSet",
    "DigitsOnBackgrounds",
    "FMoW",
    "FourMoons",
    "ImageFiles",
    "InMemory",
    "Split",
    "Table",
    "TextFile",
    "Waterbirds",
]
