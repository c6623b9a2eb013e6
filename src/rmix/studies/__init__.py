"""Many runs: grids of methods and seeds, and searches for settings."""

from rmix.studies.executors import Cluster, Local
from rmix.studies.grid import Grid, run_grid

__all__ = ["Cluster", "Grid", "Local", "run_grid"]
