"""`rmix train DATASET METHOD`: every setting is an option, and a key of a TOML file."""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, make_dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal

import tyro
from rich.console import Console

from rmix.cli.dataset_options import as_it_is, gathered, short
from rmix.cli.progress import StageBars, make_bars, show_log
from rmix.cli.recipes import published
from rmix.cli.show import show_result
from rmix.datasets import DATASETS
from rmix.errors import InvalidValueError, lookup, require
from rmix.experiment.config import Config, check_sections, config_from, read_toml
from rmix.experiment.run import run_config
from rmix.methods import METHODS
from rmix.models import ENCODERS, MODELS
from rmix.tracking import TensorBoard
from rmix.training.processes import processes

SelectedBy = Annotated[
    Literal["worst_group", "average", "last"] | None,
    tyro.conf.arg(
        metavar="worst_group|average|last",
        help="validation accuracy by which an epoch is chosen",
        help_behavior_hint="(default: worst_group; average where no group is named)",
    ),
]
OTHERS = {"config", "features", "help", "model", "recipe", "seed", "selection"}  # options that are of no part
KINDS: tuple[tuple[str, str, dict[str, type[Any]]], ...] = (
    ("dataset", "data set", DATASETS),
    ("method", "method", METHODS),
)


@dataclass(frozen=True)
class Where:
    """How a run is run, none of which determines its result.

    Args:
        out: folder in which runs are kept; a run that ended there is shown, one that was killed goes on.
        device: where to train.
        threads: threads of torch; few are faster on small models.
        tensorboard: write what TensorBoard shows into the folder of the run (needs rmix[track]).
    """

    out: Path = Path("runs")
    device: str = "cpu"
    threads: int = 1
    tensorboard: bool = False

    def __post_init__(self) -> None:
        require(self.threads >= 1, f"threads must be >= 1, got {self.threads}")


@dataclass(frozen=True)
class Form:
    """What a command takes.

    Args:
        command: its name.
        kinds: the words after it.
        own: its own options, with their defaults.
        fixed: parts of a configuration that are no options of it.
        more: further words, which it reads itself.
    """

    command: str = "train"
    kinds: tuple[tuple[str, str, dict[str, type[Any]]], ...] = KINDS
    own: Any = field(default_factory=Where)
    fixed: tuple[str, ...] = ()
    more: str = ""

    @property
    def words(self) -> str:
        """The words after its name."""
        return " ".join([*(key.upper() for key, _, _ in self.kinds), self.more]).strip()

    @property
    def usage(self) -> str:
        """How it is called."""
        return f"rmix {self.command} {self.words}"


def run(argv: Sequence[str]) -> int:
    """Parse, train, show."""
    config, where = parse(argv, Form())
    with processes(where.device) as rank:
        console = Console(quiet=rank > 0)
        show_log(console)
        watching = [TensorBoard()] if where.tensorboard else []
        with make_bars(console) as bars:
            done = run_config(
                config,
                store=where.out,
                device=where.device,
                threads=where.threads,
                callbacks=[StageBars(bars), *watching],
            )
        show_result(console, done.result, where.out, reused=done.reused)
    return 0


def parse(argv: Sequence[str], form: Form) -> tuple[Config, Any]:
    """Configuration and own options: defaults, then the data set's recipe, then ``--config``, then options."""
    names = list(itertools.takewhile(lambda word: not word.startswith("-"), argv))
    given, rest = _deciding_options().parse_known_args(list(argv)[len(names) :])
    if given.recipe:
        names += published(given.recipe)
    plain = read_toml(given.config) if given.config else {}
    check_sections(plain)
    if len(names) > len(form.kinds):
        raise InvalidValueError(f"rmix {form.command} takes {form.words}, got {' '.join(names)!r}.")
    for (key, kind, table), name in itertools.zip_longest(form.kinds, names):
        if name is not None:
            lookup(kind, name, table)
            plain[key] = _named(plain.get(key), name)
        elif key not in plain and not given.help:
            raise InvalidValueError(f"Which {kind}? Say: {form.usage}, or name it in --config.")
    for key in ("model", "features"):
        if name := getattr(given, key):
            plain[key] = _named(plain.get(key), name)
    config = config_from(plain)
    rest = gathered(config.dataset, rest) + ["--help"] * given.help
    told = plain.get("selection") or (config.selection if config.selection != config.dataset.selection else None)
    options = tyro.cli(
        _options(config, form, told),
        args=rest,
        prog=form.usage,
        description=_description(config, form),
    )
    return options.config(), getattr(options, form.command)


def _deciding_options() -> argparse.ArgumentParser:
    """The options that decide which other options there are."""
    parser = argparse.ArgumentParser(prog="rmix train", add_help=False, allow_abbrev=False)
    parser.add_argument("--config", type=Path)
    parser.add_argument("--model")
    parser.add_argument("--recipe")
    parser.add_argument("--features")
    parser.add_argument("-h", "--help", action="store_true")
    return parser


def _named(section: Any, name: str) -> Any:
    """The section of a file, if it is about ``name``; else the name alone."""
    about = section if isinstance(section, str) else (section or {}).get("name")
    return section if about == name else {"name": name}


def _options(config: Config, form: Form, selection: str | None) -> Any:
    """A dataclass whose fields are the options of this command for this data set, method and model."""
    flat, nested = tyro.conf.OmitArgPrefixes, tyro.conf.OmitSubcommandPrefixes
    groups = [("method", flat), ("training", flat), ("first", nested), ("model", nested), ("dataset", nested)]
    groups += [("features", nested)] if config.features else []
    groups = [(name, marker) for name, marker in groups if name not in form.fixed]
    values = {name: getattr(config, name) for name, _ in groups}
    flat_names = {f.name for part, marker in groups if marker is flat for f in fields(values[part])}
    values["dataset"] = short(config.dataset, flat_names | {f.name for f in fields(form.own)} | OTHERS)
    parts: list[Any] = [(name, *_option_group(values[name], marker)) for name, marker in groups]
    parts += [("selection", SelectedBy, field(default=selection)), ("seed", int, field(default=config.seed))]
    parts = [part for part in parts if part[0] not in form.fixed]
    shown = [name for name, *_ in parts]

    def as_config(self: Any) -> Config:
        given = {name: getattr(self, name) for name in shown}
        given["dataset"] = as_it_is(self.dataset)
        if "selection" in given:
            given["selection"] = given["selection"] or given["dataset"].selection
        return replace(config, **given)

    own = (form.command, *_option_group(form.own, flat))
    parts = [own, *parts] if form.fixed else [*parts, own]

    return make_dataclass("Options", parts, frozen=True, namespace={"config": as_config})


def _option_group(value: Any, marker: Any) -> tuple[Any, Any]:
    """Type and default of a group of options, headed by the first line of its docstring."""
    heading = tyro.conf.arg(help=_first_line(value))
    return Annotated[type(value), marker, heading], field(default=value)


def _first_line(value: Any) -> str:
    return (type(value).__doc__ or "").splitlines()[0]


def _names(table: dict[str, type[Any]]) -> str:
    return ", ".join(f"{name}:NAME" if hasattr(cls, "after_colon") else name for name, cls in table.items())


def _description(config: Config, form: Form) -> str:
    method = config.method.name
    about = _first_line(form.own) if form.fixed else f"Method {method} (its card: rmix methods {method})."
    return (
        f"{about} Data set {config.dataset.name}, model {config.model.name}. "
        "Also: --config FILE.toml with sections [dataset] [features] [method] [model] [training] [first] "
        f"and keys selection, seed; --model NAME ({_names(MODELS)}); --features NAME ({_names(ENCODERS)}); "
        "--recipe DATASET/METHOD."
    )
