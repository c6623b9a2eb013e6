"""Where a published data set is looked for."""

from dataclasses import dataclass

import pytest

from rmix.datasets.on_disk import OnDisk
from rmix.errors import DataError
from rmix.experiment.plain import from_plain, to_plain


@dataclass(frozen=True)
class Birds(OnDisk):
    """Birds."""

    name = "birds"
    title = "Birds"
    folders = ("birds_v1.0", "cub")
    files = {"metadata.csv": "rows, 1 MB", "pictures/": "pictures"}  # noqa: RUF012


@pytest.mark.parametrize("where", [".", "birds_v1.0", "cub"])
def test_the_folder_is_root_or_a_known_one_below_it(tmp_path, where):
    (tmp_path / where).mkdir(exist_ok=True)
    (tmp_path / where / "metadata.csv").touch()
    assert Birds(root=str(tmp_path)).folder().samefile(tmp_path / where)


def test_a_missing_folder_says_what_was_looked_for_and_what_to_do(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DataError) as caught:
        Birds().folder()
    assert str(caught.value) == (
        "Birds is not in ./data (looked for metadata.csv, there and in birds_v1.0 or cub). "
        "See: rmix data describe birds"
    )


def test_where_it_lies_is_a_setting_but_not_part_of_what_it_is():
    assert from_plain(Birds, {"root": "elsewhere"}).root == "elsewhere"
    assert to_plain(Birds(root="elsewhere")) == {"name": "birds"}
