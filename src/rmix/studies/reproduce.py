"""The paper's tables, run again: which runs they are made of, and our numbers beside the paper's."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from math import isnan, nan
from typing import TYPE_CHECKING, Any

from rmix.datasets import DATASETS
from rmix.datasets.images_on_disk import ImagesOnDisk
from rmix.datasets.on_disk import OnDisk
from rmix.errors import lookup
from rmix.experiment.config import Config, config_from
from rmix.experiment.result import Result
from rmix.models import SmallCNN
from rmix.reports.dots import draw_dots, figure_of_dots
from rmix.reports.estimate import UNKNOWN, Estimate, per_cent, points
from rmix.reports.style import Look, drawing
from rmix.reports.text_table import TextTable
from rmix.studies.paper import MEASURES, PaperCell, paper_cells

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# the paper's name of a line -> our method
METHOD_OF = {
    "ERM": "erm",
    "IRM": "irm",
    "IB-IRM": "ib_irm",
    "CORAL": "coral",
    "Fish": "fish",
    "GroupDRO": "group_dro",
    "V-REX": "vrex",
    "CGD": "cgd",
    "DomainMix": "domain_mix",
    "LISA": "lisa",
    "Focal Loss": "focal",
    "CVaRDro": "cvar_dro",
    "CVaRDoro": "cvar_doro",
    "chi2-Dro": "chi2_dro",
    "chi2-Doro": "chi2_doro",
    "JTT": "jtt",
    "ERM/oblivious": "erm",
    "mixup/oblivious": "mixup",
    "IGMix/aware": "igmix",
    "IW/aware": "iw_sampling",  # the paper's numbers are of drawing groups alike
    "Ours/oblivious": "rmix",
    "Ours/aware": "rmix_aware",
    "with": "rmix",
    "without": "rmix",
}
OURS = {"group_aware": "rmix_aware", "group_oblivious": "rmix"}
LOOKS: dict[str, Look] = {"ours": ("#d55e00", "solid"), "the paper's": ("#0072b2", "solid")}


@dataclass(frozen=True)
class Cell:
    """One line of a table on one data set.

    Args:
        paper: what the paper says; None on data that the paper does not have.
        line: as the paper calls it.
        dataset: by our name.
        method: by our name.
        selection: rule by which the epoch is chosen; None = that of the data set.
    """

    paper: PaperCell | None
    line: str
    dataset: str
    method: str
    selection: str | None = None

    def config(self, seed: int, root: str | None = None) -> Config:
        """The run of this cell with one seed, with the published settings of its data set."""
        on_disk = issubclass(lookup("data set", self.dataset, DATASETS), OnDisk)
        place = {"root": root} if on_disk and root is not None else {}
        plain = {"dataset": {"name": self.dataset, **place}, "method": self.method, "seed": seed}
        return config_from(plain if self.selection is None else {**plain, "selection": self.selection})

    def holds(self, result: Result) -> bool:
        """Whether a run is one of this cell."""
        asked = self.selection in (None, result.config["selection"])
        return (result.config["dataset"]["name"], result.method) == (self.dataset, self.method) and asked

    def value(self, result: Result, measure: str) -> float:
        """A measure of a run, as the source of the paper's number takes it."""
        if result.test is None:
            return nan
        ours = self.line.startswith("Ours") or self.line in ("with", "without")
        if self.dataset != "waterbirds" or ours or measure == "worst":
            return float(getattr(result.test, measure))
        # the baselines' Waterbirds averages weigh groups as in training, the paper's own do not
        return result.adjusted_average - (result.test.worst if measure == "gap" else 0.0)


def cells_of(table: str, *, smoke: bool = False) -> list[Cell]:
    """The cells of a table of the paper; those of ``smoke`` know no numbers of the paper, whose data they lack."""
    cells = [_cell(paper) for paper in paper_cells(table)]
    return [replace(cell, paper=None) for cell in cells] if smoke else cells


def _cell(paper: PaperCell) -> Cell:
    method = OURS[paper.table] if paper.line == "Ours" else METHOD_OF[paper.line]
    selection = {"with": "worst_group", "without": "average"}.get(paper.line)
    return Cell(paper, paper.line, paper.dataset, method, selection)


SHORT = {"window_start": 0, "window": None, "epoch": None, "anneal": 1, "bottleneck_anneal": 1}
QUICK: dict[str, Any] = {"epochs": 2, "batch_size": 16, "lr": 0.01, "weight_decay": 0.0}
MOONS = {"sizes": (60, 60, 6, 6), "valid_size": 20, "test_size": 30}


def shortened(config: Config) -> Config:
    """The same path in a second: small pictures, a small network for them, two epochs of either stage."""
    small: Any = MOONS if config.dataset.name == "moons" else {}
    if isinstance(config.dataset, ImagesOnDisk):
        small = {"size": 32, "cache": "none", "workers": 1}
    return replace(
        config,
        dataset=changed(config.dataset, **small),
        method=changed(config.method, **{name: v for name, v in SHORT.items() if hasattr(config.method, name)}),
        model=SmallCNN() if isinstance(config.dataset, ImagesOnDisk) else config.model,
        training=replace(config.training, **QUICK),
        first=replace(config.first, **QUICK),
    )


def changed(part: Any, **changes: Any) -> Any:
    """A data set, method or model with other settings."""
    return replace(part, **changes)


class Reproduction:
    """A table of the paper with our numbers beside it.

    Args:
        table: group_aware, group_oblivious, validation_labels or ablation.
        results: of our runs; those of no cell are passed over, and a cell without runs says so.
        smoke: the runs are of data made up in miniature, beside which the paper's numbers have no place.
    """

    HEADERS = ("Data set", "Line", "Measure", "Ours", "The paper's", "Points", "Inside", "Seeds")

    def __init__(self, table: str, results: Iterable[Result], *, smoke: bool = False) -> None:
        self.name, self.smoke = table, smoke
        found = list(results)
        cells = cells_of(table, smoke=smoke)
        order = list(dict.fromkeys(cell.dataset for cell in cells))
        cells.sort(key=lambda cell: order.index(cell.dataset))
        self.cells = [(cell, [r for r in found if r.test is not None and cell.holds(r)]) for cell in cells]

    @property
    def title(self) -> str:
        """Which table it is."""
        made_up = " of data made up in miniature" if self.smoke else ""
        return f"The paper's table {self.name}, and our runs{made_up}, in per cent"

    caption = (
        "Ours: mean ± standard deviation over our seeds. The paper's: as printed, 3 seeds (Camelyon17: 10). "
        "Points: ours minus the paper's. Inside: whether our mean lies in the 95 % interval of the paper's mean "
        "(Student's t). Many of the paper's baselines were themselves quoted from other papers."
    )

    @cached_property
    def rows(self) -> list[tuple[Cell, str, Estimate, Estimate, bool | None]]:
        """Cell, measure, our estimate, the paper's, and whether ours is inside the paper's interval."""
        return [
            (cell, measure, ours, paper, _inside(cell, measure, ours))
            for cell, results in self.cells
            for measure in MEASURES
            for ours in [Estimate.of(cell.value(result, measure) for result in results)]
            for paper in [cell.paper.estimate(measure) if cell.paper else Estimate(nan, nan, 0)]
            if cell.paper is None or not (isnan(ours.mean) and isnan(paper.mean))
        ]

    def frame(self) -> dict[str, list[Any]]:
        """Columns of numbers as shares; nan where a cell was not run, or the paper says nothing."""
        rows = self.rows
        return {
            "dataset": [cell.dataset for cell, *_ in rows],
            "line": [cell.line for cell, *_ in rows],
            "method": [cell.method for cell, *_ in rows],
            "measure": [measure for _, measure, *_ in rows],
            "ours": [ours.mean for _, _, ours, *_ in rows],
            "ours_std": [ours.std for _, _, ours, *_ in rows],
            "seeds": [ours.n for _, _, ours, *_ in rows],
            "paper": [paper.mean for *_, paper, _ in rows],
            "paper_std": [paper.std for *_, paper, _ in rows],
            "difference": [ours.mean - paper.mean for _, _, ours, paper, _ in rows],
            "inside": [inside for *_, inside in rows],
        }

    def table(self) -> TextTable:
        """As text."""
        return TextTable(self.title, self.caption, self.HEADERS, [_cells(*row) for row in self.rows], n_words=3)

    @property
    def text(self) -> str:
        """The figure in words."""
        known = [inside for *_, inside in self.rows if inside is not None]
        return f"Worst-group accuracies of our runs and the paper's; {sum(known)} of {len(known)} numbers are inside."

    def figure(self) -> Figure:
        """A panel a data set: lines of the table from top to bottom, our worst group and the paper's."""
        shown: dict[str, list[tuple[Cell, Estimate, Estimate]]] = {}
        for cell, measure, ours, paper, _ in self.rows:
            if measure == ("average" if cell.dataset == "camelyon17" else "worst"):
                shown.setdefault(cell.dataset, []).append((cell, ours, paper))
        with drawing():
            figure, panels = figure_of_dots([0.3 * len(rows) for rows in shown.values()])
            for axes, (dataset, rows) in zip(panels, shown.items(), strict=True):
                for place, (label, look) in enumerate(LOOKS.items()):
                    estimates = [(ours, paper)[place] for _, ours, paper in rows]
                    draw_dots(axes, [(of.mean, of.interval) for of in estimates], look, (2 * place + 1, 4), label)
                axes.set_yticks(range(len(rows)), [cell.line for cell, *_ in rows])
                axes.set(title=dataset, ylim=(len(rows) - 0.5, -0.5))
            panels[-1].set_xlabel("Worst group (Camelyon17: average) in per cent, and its 95 % interval")
            figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper left", ncols=2, alignment="left")
            return figure


def _inside(cell: Cell, measure: str, ours: Estimate) -> bool | None:
    """None where there is no interval, or nothing to lie in it."""
    if cell.paper is None or isnan(ours.mean):
        return None
    low, high = cell.paper.interval(measure)
    return None if isnan(low) else low <= ours.mean <= high


def _cells(cell: Cell, measure: str, ours: Estimate, paper: Estimate, inside: bool | None) -> tuple[str, ...]:
    word = UNKNOWN if inside is None else "yes" if inside else "no"
    own = ours.text if ours.n else "not run"
    spread = "" if isnan(paper.std) else f" ± {per_cent(paper.std)}"
    difference = UNKNOWN if isnan(ours.mean - paper.mean) else points(ours.mean - paper.mean)
    return (cell.dataset, cell.line, measure, own, per_cent(paper.mean) + spread, difference, word, str(ours.n))
