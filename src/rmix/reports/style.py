"""How figures look: colours that colour-blind readers can tell apart, one style, and the same bytes each time."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from html import escape
from typing import TYPE_CHECKING, Any

from rmix.errors import require
from rmix.experiment.result import Result
from rmix.reports.series import series_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

METHODS = ("#3d3d3d", "#0072b2", "#e69f00", "#cc79a7", "#009e73", "#d55e00", "#56b4e9", "#a6761d")  # Okabe and Ito
GROUPS = ("#4477aa", "#228833", "#ee6677", "#aa3377", "#ccbb44", "#66ccee", "#888888")  # Paul Tol, "bright"
DASHES = ("solid", "dashed", "dotted", "dashdot")  # tell apart what must share a colour
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
PALE = "#cfcfcf"
COLUMNS = 2  # of panels
WIDTH = 5.4  # inches: narrow, so that the words can still be read on a phone
STYLE: dict[Any, Any] = {
    "font.size": 9.0,
    "axes.titlesize": 9.0,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#8a8a8a",
    "axes.labelcolor": "#3d3d3d",
    "xtick.color": "#8a8a8a",
    "ytick.color": "#8a8a8a",
    "xtick.labelcolor": "#3d3d3d",
    "ytick.labelcolor": "#3d3d3d",
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e8e8e8",
    "grid.linewidth": 0.7,
    "lines.linewidth": 1.6,
    "figure.labelsize": "medium",
    "legend.frameon": False,
    "text.parse_math": False,  # a name may contain a dollar sign
    "svg.hashsalt": "rmix",
    "svg.fonttype": "path",
}
Look = tuple[str, str]  # colour and dashes


def looks(names: Sequence[str], palette: Sequence[str]) -> dict[str, Look]:
    """A colour for each name; when the palette is used up it starts again with other dashes.

    Example:
        >>> looks(["a", "b", "c"], ["red", "blue"])
        {'a': ('red', 'solid'), 'b': ('blue', 'solid'), 'c': ('red', 'dashed')}
    """
    turns = {name: divmod(place, len(palette)) for place, name in enumerate(names)}
    return {name: (palette[at], DASHES[turn % len(DASHES)]) for name, (turn, at) in turns.items()}


def method_looks(results: Iterable[Result]) -> dict[str, Look]:
    """The look of each method in every figure about ``results``."""
    return looks(list(dict.fromkeys(series.method for series in series_of(results))), METHODS)


def group_looks(names: Sequence[str]) -> dict[str, Look]:
    """The look of each group in every figure."""
    return looks(names, GROUPS)


@contextmanager
def drawing() -> Iterator[None]:
    """Draw in the style of rmix, whatever the user's own settings are; they are put back afterwards."""
    import matplotlib

    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(STYLE)
        yield


def figure_of(panels: int, height: float, columns: int = 1, share_y: bool = True) -> tuple[Figure, list[Axes]]:
    """A figure without pyplot's global state, and its panels row by row, each ``height`` inches high."""
    from matplotlib.figure import Figure

    require(panels > 0, "These runs have no numbers for this figure; its frame() is empty")
    rows = -(-panels // columns)
    figure = Figure(figsize=(WIDTH, height * rows + 0.6), layout="constrained")
    axes = list(figure.subplots(rows, columns, sharex=True, sharey=share_y, squeeze=False).flat)
    for empty in axes[panels:]:
        empty.set_visible(False)
    for last in axes[max(0, panels - columns) : panels]:
        last.xaxis.set_tick_params(labelbottom=True)
    return figure, axes[:panels]


def svg(figure: Figure, name: str, title: str, text: str) -> str:
    """The figure as inline SVG with a text alternative; ``name`` keeps its ids apart from those of others."""
    buffer = io.StringIO()
    with drawing():
        nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))  # nothing that changes, no addresses
        figure.savefig(buffer, format="svg", dpi=200, metadata=nothing)
    drawn = buffer.getvalue()
    drawn = drawn[drawn.index("<svg") :]
    drawn = re.sub(r'\bid="|url\(#|href="#', lambda found: found[0] + name + "-", drawn)
    drawn = re.sub(r' (?:width|height)="[\d.]+pt"', "", drawn, count=2)
    head = f'<svg role="img" aria-labelledby="{name}-title {name}-text"'
    alternative = f'<title id="{name}-title">{escape(title)}</title><desc id="{name}-text">{escape(text)}</desc>'
    return head + re.sub(r">", lambda _: ">\n" + alternative, drawn.removeprefix("<svg"), count=1)
