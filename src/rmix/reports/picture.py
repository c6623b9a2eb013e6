"""What a figure of the report offers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Picture(Protocol):
    """A figure about the runs of one data set, and everything a reader needs besides."""

    @property
    def name(self) -> str:
        """Short and unique."""

    @property
    def title(self) -> str:
        """What is shown."""

    @property
    def caption(self) -> str:
        """How to read it."""

    @property
    def text(self) -> str:
        """What it shows, for those who cannot see it."""

    def frame(self) -> dict[str, list[Any]]:
        """The numbers as columns, empty where the runs have none."""

    def figure(self) -> Figure:
        """The drawing."""
