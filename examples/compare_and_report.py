"""Three methods, three seeds, one page: results are kept, so a second run is immediate."""

from pathlib import Path

from rmix.experiment.config import config_from
from rmix.reports import Summary, write_page
from rmix.studies import run_grid

configs = [
    config_from({"dataset": "moons", "method": method, "seed": seed})
    for method in ("erm", "iw", "rmix_aware")
    for seed in range(3)
]
results = run_grid(configs, store="runs", jobs=2)
print(Summary(results).markdown())
print(write_page(results, Path("runs/report.html"), title="Three methods on four moons"))
