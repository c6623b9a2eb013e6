"""Data sets. One file and one line here to add one."""

from rmix.datasets.base import Bundle, DataSet, Split
from rmix.datasets.digits import DigitsOnBackgrounds
from rmix.datasets.moons import FourMoons

DATASETS: dict[str, type[DataSet]] = {cls.name: cls for cls in (FourMoons, DigitsOnBackgrounds)}

__all__ = ["DATASETS", "Bundle", "DataSet", "DigitsOnBackgrounds", "FourMoons", "Split"]
