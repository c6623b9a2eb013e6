"""Birds on backgrounds that suggest where they live."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from rmix.datasets.base import Bundle
from rmix.datasets.csv_file import read_csv
from rmix.datasets.images_on_disk import Files, ImagesOnDisk
from rmix.datasets.transforms import Crop, View

TABLE = "metadata.csv"
CLASSES, PLACES = ("landbird", "waterbird"), ("land", "water")
GROUP_NAMES = tuple(f"{bird}, {place}" for bird in CLASSES for place in PLACES)
SPLITS = {"train": "0", "valid": "1", "test": "2"}
LARGER = 256 / 224  # pictures are resized to this much more than what is shown of them


@dataclass(frozen=True)
class Waterbirds(ImagesOnDisk):
    """Is a bird a waterbird or a landbird? In training 95 % of them are on their own kind of background.

    Task: waterbird or landbird, from a photograph of 224 x 224; two classes.
    Groups: Four, bird x background. In training the background nearly gives the bird away; in validation and
        test each kind of bird is on either background equally often.
    Sizes: 4,795 / 1,199 / 5,794 images. Training: landbird on land 3,498, on water 184, waterbird on land 56, on
        water 1,057. Validation 467, 466, 133, 133; test 2,255, 2,255, 642, 642.
    Source: Birds of CUB-200-2011 cut out and put on scenes of Places:
        https://github.com/kohpangwei/group_DRO (waterbird_complete95_forest2water2.tar.gz), also in WILDS 2.
    Files: metadata.csv (img_id, img_filename, y, split, place) and a folder of JPEG files a species beside it;
        looked for in waterbirds_v1.0 and in waterbird_complete95_forest2water2.
    Citation: Sagawa et al., Distributionally robust neural networks for group shifts, ICLR 2020.
    Licence: Images of CUB and of Places: non-commercial research and education only. Some labels are known to be
        wrong: three species of landbirds count as waterbirds.

    Evaluated as published: resized to 256 x 256, the middle 224 x 224 shown.

    Args:
        root: folder that holds the data set, or its parent.
        cache: folder for decoded pictures; "default" is $RMIX_CACHE or the user's cache folder, "none" keeps none.
        workers: threads that decode; 0 = one a core. Changes no result.
        size: width and height of an input.
        augment: in training, random crops of 0.7 to 1 of the area and random flips, as published with RMix.
    """

    name: ClassVar[str] = "waterbirds"
    model: ClassVar[str] = "resnet50"
    title: ClassVar[str] = "Waterbirds"
    folders: ClassVar[tuple[str, ...]] = (
        "waterbirds_v1.0",
        "waterbird_complete95_forest2water2",
        "cub/data/waterbird_complete95_forest2water2",
    )
    files: ClassVar[Mapping[str, str]] = {
        TABLE: "11,788 images, their bird, background and split",
        "SPECIES/NAME.jpg": "the images, in a folder for each of 200 species",
    }
    published: ClassVar[Mapping[str, Mapping[str, int]]] = {
        "train": dict(zip(GROUP_NAMES, (3498, 184, 56, 1057), strict=True)),
        "valid": dict(zip(GROUP_NAMES, (467, 466, 133, 133), strict=True)),
        "test": dict(zip(GROUP_NAMES, (2255, 2255, 642, 642), strict=True)),
    }
    augment: bool = False

    def views(self) -> tuple[View, View]:
        view = View(self.size, round(self.size * LARGER))
        return replace(view, crop=Crop(), flip=True) if self.augment else view, view

    def load(self) -> Bundle:
        folder = self.folder()
        columns = read_csv(folder / TABLE, ["img_id", "img_filename", "y", "split", "place"], unique="img_id")
        y, place = columns.integers("y", (0, 1)), columns.integers("place", (0, 1))
        files = Files(folder, columns["img_filename"], columns, columns.places("split", SPLITS))
        train, valid, test = (self.split(name, files, y, 2 * y + place) for name in SPLITS)
        return Bundle(self.name, train, valid, test, class_names=CLASSES, group_names=GROUP_NAMES)
