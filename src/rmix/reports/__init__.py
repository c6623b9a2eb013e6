"""Tables and figures, all of them functions of a list of results."""

from rmix.reports.accuracy import TrainAccuracy
from rmix.reports.boundary import Boundary
from rmix.reports.curves import Curves
from rmix.reports.page import write_page
from rmix.reports.picture import Picture
from rmix.reports.summary import Summary
from rmix.reports.uncertainty import UncertaintyDensity

__all__ = ["Boundary", "Curves", "Picture", "Summary", "TrainAccuracy", "UncertaintyDensity", "write_page"]
