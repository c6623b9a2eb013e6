"""Tables and figures, all of them functions of a list of results."""

from rmix.reports.accuracy import TrainAccuracy
from rmix.reports.boundary import Boundary
from rmix.reports.curves import Curves
from rmix.reports.groups import GroupAccuracy
from rmix.reports.latex import latex
from rmix.reports.page import write_page
from rmix.reports.paired import Paired
from rmix.reports.picture import Picture
from rmix.reports.runs import Runs
from rmix.reports.summary import Summary
from rmix.reports.uncertainty import UncertaintyDensity

__all__ = [
    "Boundary",
    "Curves",
    "GroupAccuracy",
    "Paired",
    "Picture",
    "Runs",
    "Summary",
    "TrainAccuracy",
    "UncertaintyDensity",
    "latex",
    "write_page",
]
