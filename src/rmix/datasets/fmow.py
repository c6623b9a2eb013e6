"""What the land is used for, seen from above, in years to come."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import ClassVar

import numpy as np

from rmix.datasets.base import Bundle
from rmix.datasets.csv_file import Columns, read_csv
from rmix.datasets.images_on_disk import Files, ImagesOnDisk
from rmix.errors import suggestion

TABLE, COUNTRIES = "rgb_metadata.csv", "country_code_mapping.csv"
REGIONS = ("Asia", "Europe", "Africa", "Americas", "Oceania")
SPLITS = {"train": "train", "val": "val", "test": "test", "seq": "seq"}  # as written in the table
LATER, LATEST = (datetime(year, 1, 1, tzinfo=UTC).timestamp() for year in (2013, 2016))
NAMES = """
airport airport_hangar airport_terminal amusement_park aquaculture archaeological_site barn border_checkpoint
burial_site car_dealership construction_site crop_field dam debris_or_rubble educational_institution
electric_substation factory_or_powerplant fire_station flooded_road fountain gas_station golf_course
ground_transportation_station helipad hospital impoverished_settlement interchange lake_or_pond lighthouse
military_facility multi-unit_residential nuclear_powerplant office_building oil_or_gas_facility park
parking_lot_or_garage place_of_worship police_station port prison race_track railway_bridge
recreational_facility road_bridge runway shipyard shopping_mall single-unit_residential smokestack solar_farm
space_facility stadium storage_tank surface_mine swimming_pool toll_booth tower tunnel_opening waste_disposal
water_treatment_facility wind_farm zoo
"""
CLASSES = tuple(NAMES.split())


@dataclass(frozen=True)
class FMoW(ImagesOnDisk):
    """What is a place used for? Satellites saw it before 2013 in training, and later in test.

    Task: use of the land or kind of building, from a satellite image; 62 classes.
    Groups: Five regions of the world. Images of no region (42 in training) are in no group, as in WILDS: they are
        trained on and counted in the average.
    Sizes: 76,863 / 19,915 / 22,108 images. Training: Asia 17,809, Europe 34,816, Africa 1,582, Americas 20,973,
        Oceania 1,641, others 42. Of the training years there are 11,483 for validation.
    Source: Functional Map of the World, in the layout and splits of WILDS 2:
        https://wilds.stanford.edu/datasets/#fmow
    Files: fmow_v1.1/rgb_metadata.csv (split, category, country_code, timestamp), country_code_mapping.csv (alpha-3,
        region), and images/rgb_img_N.png, where N counts the rows of rgb_metadata.csv from 0, sequestered ones
        included. 54 GB.
    Citation: Christie et al., Functional Map of the World, CVPR 2018; Koh et al., WILDS: a benchmark of in-the-wild
        distribution shifts, ICML 2021.
    Licence: FMoW Challenge Public Licence.

    Training is before 2013, validation from 2013, test from 2016 on; times are compared with their time zone.

    Args:
        root: folder that holds the data set, or its parent.
        cache: folder for decoded pictures; "default" is $RMIX_CACHE or the user's cache folder, "none" keeps none.
        workers: threads that decode; 0 = one a core. Changes no result.
        size: width and height of an input.
        id_valid: validate on images of the training years instead of later ones.
    """

    name: ClassVar[str] = "fmow"
    model: ClassVar[str] = "densenet121"
    title: ClassVar[str] = "FMoW"
    folders: ClassVar[tuple[str, ...]] = ("fmow_v1.1", "fmow_v1.0")
    files: ClassVar[Mapping[str, str]] = {
        TABLE: "141,696 images that are used and others, their category, country and time",
        COUNTRIES: "the region of each country",
        "images": "rgb_img_N.png, 224 x 224, 54 GB",
    }
    published: ClassVar[Mapping[str, Mapping[str, int]]] = {
        "train": dict(zip(REGIONS, (17809, 34816, 1582, 20973, 1641), strict=True)),
    }
    published_rows: ClassVar[Mapping[str, int]] = {"train": 76863, "valid": 19915, "test": 22108}
    pictures: ClassVar[str] = "images"
    id_valid: bool = False

    @property
    def expected_rows(self) -> Mapping[str, int]:
        return {**self.published_rows, **({"valid": 11483} if self.id_valid else {})}

    def load(self) -> Bundle:
        folder = self.folder()
        columns = read_csv(folder / TABLE, ["split", "category", "country_code", "timestamp"])
        rows = self._rows(columns.places("split", SPLITS), _times(columns))
        paths = [f"images/rgb_img_{row}.png" for row in range(len(columns))]  # counted before any row is left out
        files = Files(folder, paths, columns, rows)
        countries = read_csv(folder / COUNTRIES, ["alpha-3", "region"])
        region_of = dict(zip(countries["alpha-3"], countries["region"], strict=True))
        place = {region: g for g, region in enumerate(REGIONS)}
        group = np.array([place.get(region_of.get(code, ""), -1) for code in columns["country_code"]])
        y = _categories(columns)
        train, valid, test = (self.split(name, files, y, group) for name in rows)
        return Bundle(self.name, train, valid, test, class_names=CLASSES, group_names=REGIONS)

    def _rows(self, of: Mapping[str, np.ndarray], time: np.ndarray) -> dict[str, np.ndarray]:
        before, latest = time < LATER, time >= LATEST
        held_out = before if self.id_valid else ~before & ~latest
        shown = {"train": ("train", before), "valid": ("val", held_out), "test": ("test", latest)}
        return {name: of[split][when[of[split]]] for name, (split, when) in shown.items()}


def _times(columns: Columns) -> np.ndarray:
    """Seconds since 1970 in UTC, (n,) float64."""
    seconds = np.empty(len(columns))
    for row, text in enumerate(columns["timestamp"]):
        try:
            time = datetime.fromisoformat(text)
        except ValueError:
            raise columns.refused(row, f"timestamp {text!r} is not a time such as 2013-01-01T00:00:00Z.") from None
        if time.tzinfo is None:
            raise columns.refused(row, f"timestamp {text!r} has no time zone; write 2013-01-01T00:00:00Z.")
        seconds[row] = time.timestamp()
    return seconds


def _categories(columns: Columns) -> np.ndarray:
    code = {name: y for y, name in enumerate(CLASSES)}
    unknown = set(columns["category"]) - set(code)
    if unknown:
        row = next(row for row, name in enumerate(columns["category"]) if name in unknown)
        name = columns["category"][row]
        raise columns.refused(row, f"category {name!r} is none of the 62.{suggestion(name, code)}")
    return np.array([code[name] for name in columns["category"]])
