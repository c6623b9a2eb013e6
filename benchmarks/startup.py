"""What starting costs, over starting Python."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from time import perf_counter

from benchmarks.timing import Line, interleaved, ratio_line


def start(*arguments: str) -> None:
    """A fresh Python."""
    subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)


def lines() -> list[Line]:
    """Importing the package, and asking the command line for help."""
    things = {"python": lambda: start("-c", "pass"), "import rmix": lambda: start("-c", "import rmix")}
    if find_spec("rmix.cli"):
        things["rmix --help"] = lambda: start("-c", "from rmix.cli import main; main(['--help'])")
    seconds = interleaved(things, repetitions=10, clock=perf_counter)
    return [ratio_line(f"{name} / starting Python", seconds[name], seconds["python"]) for name in list(things)[1:]]
