"""The command line: parses, calls, prints. Each command loads what it needs when it is called."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module

from rmix._version import __version__
from rmix.errors import RMixError, lookup

COMMANDS = {
    "demo": "train on the embedded data, show the table, write a report",
    "compare": "several methods and seeds: a table and a page: rmix compare DATASET [options]",
    "tune": "search for the settings of methods: rmix tune DATASET METHOD [options]",
    "train": "train a method on a data set: rmix train DATASET METHOD [options]",
    "show": "show runs: rmix show RUN...",
    "report": "tables, figures and a page: rmix report RUNS_OR_STORES... [options]",
    "export": "weights as safetensors, settings and a model card: rmix export RUN --out DIR",
    "recipes": "list the published settings, or show those of one: rmix recipes waterbirds/rmix",
    "reproduce": "the paper's tables and figures, our numbers beside the paper's: rmix reproduce TABLE|FIGURE",
    "methods": "list the methods, or show the card of one",
    "theory": "check the claims of the paper's theory in numbers",
    "data": "describe a data set, or check your copy of it: rmix data check NAME --root DIR",
    "datasets": "list the data sets, or show the card of one",
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; the return value is the exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    if not words or words[0] in ("-h", "--help"):
        print(usage())
        return 0
    if words[0] == "--version":
        print(f"rmix {__version__}")
        return 0
    try:
        lookup("command", words[0], COMMANDS)
        code: int = import_module(f"rmix.cli.{words[0]}").run(words[1:])
        return code
    except RMixError as error:
        print(f"rmix: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        if error.filename is None:
            raise
        print(f"rmix: {error.filename} cannot be read or written ({error.strerror}).", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("\nrmix: stopped; the same command goes on from the last finished epoch.", file=sys.stderr)
        return 130


def usage() -> str:
    """What `rmix --help` shows."""
    lines = ["usage: rmix COMMAND [options]", "", "Train classifiers that hold up on every subgroup.", "", "commands:"]
    lines += [f"  {name:<10}{text}" for name, text in COMMANDS.items()]
    return "\n".join([*lines, "", "`rmix COMMAND --help` shows the options of a command."])
