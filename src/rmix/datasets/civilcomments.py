"""Online comments, and the identities they mention."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import torch

from rmix.datasets.base import Bundle, ShownGroups, Split
from rmix.datasets.csv_file import header_of, read_csv
from rmix.datasets.on_disk import OnDisk
from rmix.datasets.texts import Texts
from rmix.errors import require

IDENTITIES = ("male", "female", "LGBTQ", "christian", "muslim", "other_religions", "black", "white")
LABELS = ("non-toxic", "toxic")
GROUP_NAMES = tuple(f"{identity}, {label}" for identity in IDENTITIES for label in LABELS)
FILE = "all_data_with_identities.csv"
SPLITS = {"train": "train", "valid": "val", "test": "test"}  # ours -> as written in the file
TRAIN_COUNTS = (25373, 4437, 31282, 4962, 6155, 2265, 24292, 2446, 10829, 3125, 5541, 1003, 6785, 3111, 12016, 4682)
SHOWN = ("least_populous", "black", "identity_any")


@dataclass(frozen=True)
class CivilComments(OnDisk):
    """Is a comment toxic? It must not depend on who is mentioned.

    Task: toxicity (>= 0.5) of an online comment; two classes.
    Groups: Sixteen that overlap, identity x label, for eight identities (each >= 0.5). A comment may mention
        several, or none; the average is over all comments, the worst group over the sixteen.
    Sizes: 269,038 / 45,180 / 133,782 comments. Training, non-toxic and toxic: male 25,373 and 4,437, female 31,282
        and 4,962, LGBTQ 6,155 and 2,265, christian 24,292 and 2,446, muslim 10,829 and 3,125, other religions 5,541
        and 1,003, black 6,785 and 3,111, white 12,016 and 4,682.
    Source: Jigsaw Unintended Bias in Toxicity Classification, in the layout and splits of WILDS 2 (comments with
        identity annotation only, no article in two splits): https://wilds.stanford.edu/datasets/#civilcomments
    Files: civilcomments_v1.0/all_data_with_identities.csv, from the WILDS archive.
    Citation: Borkan et al., Nuanced metrics for measuring unintended bias with real data for text classification,
        WWW 2019; Koh et al., WILDS: a benchmark of in-the-wild distribution shifts, ICML 2021.
    Licence: CC0.

    Args:
        root: folder that holds the data set, or its parent.
        shown: groups that a method with permission sees in training. least_populous: of the sixteen that a
            comment is in, the smallest (paper); black: mention of black x label, four groups (WILDS);
            identity_any: mention of any identity x label, four groups (JTT).
    """

    name: ClassVar[str] = "civilcomments"
    model: ClassVar[str] = "distilbert"
    title: ClassVar[str] = "CivilComments"
    folders: ClassVar[tuple[str, ...]] = ("civilcomments_v1.0",)
    files: ClassVar[Mapping[str, str]] = {FILE: "448,000 comments, their split, toxicity and identities"}
    published: ClassVar[Mapping[str, Mapping[str, int]]] = {
        "train": dict(zip(GROUP_NAMES, TRAIN_COUNTS, strict=True)),
    }
    published_rows: ClassVar[Mapping[str, int]] = {"train": 269038, "valid": 45180, "test": 133782}
    shown: Literal["least_populous", "black", "identity_any"] = "least_populous"

    def __post_init__(self) -> None:
        require(self.shown in SHOWN, f"shown must be one of {', '.join(SHOWN)}, got {self.shown!r}")

    def load(self) -> Bundle:
        path = self.folder() / FILE
        extra = ("identity_any",) if self.shown == "identity_any" else ()
        columns = read_csv(path, ["comment_text", "split", "toxicity", *IDENTITIES, *extra], unique=header_of(path)[0])
        rows = columns.places("split", SPLITS)
        y = (columns.numbers("toxicity", required=True) >= 0.5).astype(np.int64)
        mentioned = {name: columns.numbers(name) >= 0.5 for name in (*IDENTITIES, *extra)}  # an empty field is no
        member = np.stack([mentioned[name] & (y == label) for name in IDENTITIES for label in (0, 1)], axis=1)
        splits = {name: _split(columns["comment_text"], y, member, place) for name, place in rows.items()}
        return Bundle(
            self.name,
            splits["train"],
            splits["valid"],
            splits["test"],
            class_names=LABELS,
            group_names=GROUP_NAMES,
            shown=None if self.shown == "least_populous" else _crossed(self.shown, mentioned, y, rows["train"]),
        )


def _split(texts: list[str], y: np.ndarray, member: np.ndarray, rows: np.ndarray) -> Split:
    x = Texts(map(texts.__getitem__, rows.tolist()))
    return Split(x, torch.from_numpy(y[rows]), torch.from_numpy(member[rows]))


def _crossed(identity: str, mentioned: Mapping[str, np.ndarray], y: np.ndarray, rows: np.ndarray) -> ShownGroups:
    names = tuple(f"{who}, {label}" for who in (f"not {identity}", identity) for label in LABELS)
    return ShownGroups(torch.from_numpy(2 * mentioned[identity][rows] + y[rows]), names)
