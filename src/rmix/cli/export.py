"""`rmix export RUN --out DIR`: weights, configuration and a model card."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro
from rich.console import Console

from rmix.cli.found import find_runs
from rmix.errors import InvalidValueError, require
from rmix.experiment.store import model_in
from rmix.reports.model_card import model_card
from rmix.reports.safetensors import safetensors


@dataclass(frozen=True)
class Options:
    """Write the model of a run for others to use: model.safetensors, config.json, result.json and README.md.

    Args:
        run: id, beginning of an id, or folder of the run.
        out: folder to write; it must be new or empty.
        store: where ids are looked for.
    """

    run: Annotated[str, tyro.conf.Positional]
    out: Path
    store: Path = Path("runs")


def run(argv: Sequence[str]) -> int:
    """Find, check, write."""
    options = tyro.cli(Options, args=list(argv), prog="rmix export")
    found = find_runs([options.run], options.store)
    if len(found) != 1:
        names = ", ".join(folder.name for folder in found) or "none"
        raise InvalidValueError(f"{options.run!r} must name one run, got {len(found)}: {names}.")
    require(
        not options.out.exists() or not any(options.out.iterdir()),
        f"The folder {options.out} is not empty; nothing was written. Choose another with --out.",
    )
    ((folder, result),) = found.items()
    card = model_card(result)
    weights = safetensors(model_in(folder, result.id))
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "model.safetensors").write_bytes(weights)
    config = json.dumps(result.config, indent=1, sort_keys=True) + "\n"
    for name, text in (("config.json", config), ("result.json", result.to_json()), ("README.md", card)):
        (options.out / name).write_text(text, encoding="utf-8", newline="\n")
    Console().print(f"Model, settings and card of {result.id}: {options.out}", soft_wrap=True)
    return 0
