"""What determines a result, and where its defaults come from.

Settings come from, each over the one before: the method's own defaults, the recipe of the data set
shipped with the package, a ``--config`` file, the command line.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, is_dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from torch import nn

from rmix import mixers, samplers, weightings
from rmix.datasets import DATASETS, Bundle, DataSet, InMemory
from rmix.errors import InvalidValueError, lookup, require, suggestion
from rmix.experiment.plain import from_plain, named_from_plain, to_plain
from rmix.methods import METHODS, Compose, Method
from rmix.models import ENCODERS, MODELS, Encoder, ModelSpec, OwnModule
from rmix.recipe import Mixer, Sampler
from rmix.training.selection import SELECTIONS
from rmix.training.settings import FirstStage, Training


def _parts() -> Iterator[Any]:
    """All that have a name and settings."""
    yield Mixer
    yield Sampler
    for package in (mixers, samplers, weightings):
        exported = [getattr(package, name) for name in package.__all__]
        yield from (part for part in exported if is_dataclass(part) and hasattr(part, "name"))


WITH_COMPOSE: dict[str, type[Method]] = METHODS | {Compose.name: Compose}
PARTS: dict[str, type[Any]] = {part.name: part for part in _parts()}
PARTS |= {f"method {name}": cls for name, cls in WITH_COMPOSE.items()}  # a mixer and a method are both called "mixup"


@dataclass(frozen=True)
class Config:
    """One run: all that determines its result, and nothing else."""

    dataset: DataSet
    method: Method
    model: ModelSpec
    training: Training = field(default_factory=Training)
    first: FirstStage = field(default_factory=FirstStage)
    selection: str = "worst_group"
    seed: int = 0
    features: Encoder | None = None  # the model is trained on what this frozen network makes of the inputs

    def __post_init__(self) -> None:
        lookup("selection", self.selection, SELECTIONS)
        require(isinstance(self.seed, int) and not isinstance(self.seed, bool), f"seed must be int, got {self.seed!r}.")

    def to_plain(self) -> dict[str, Any]:
        """As plain values, for JSON."""
        plain: dict[str, Any] = to_plain(self)
        return plain


SECTIONS = ("dataset", "features", "method", "model", "training", "first", "selection", "seed")


def check_sections(plain: Mapping[str, Any]) -> None:
    """A misspelt section must not be passed over."""
    for key in plain:
        if key not in SECTIONS:
            raise InvalidValueError(
                f"No section named {key!r}.{suggestion(key, SECTIONS)} Known: {', '.join(SECTIONS)}."
            )


def config_from(plain: Mapping[str, Any]) -> Config:
    """A configuration from plain values; what is missing comes from the data set's recipe."""
    check_sections(plain)
    wanted = plain.get("dataset", "moons")
    dataset = dataset_from(wanted)
    given = plain.get("features")
    features = None if given is None else _named("encoder of features", given, ENCODERS)
    shipped = f"{dataset.name}_features" if features else dataset.name
    recipe = shipped_recipe(shipped) if type(dataset) in DATASETS.values() else {}
    method = method_from(_completed(plain.get("method", "erm"), recipe.get("method", {})))
    own = recipe.get("published", {}).get(method.name, {})  # what its authors did differently on this data
    if "dataset" in recipe:
        dataset = dataset_from(_completed(wanted, {dataset.name: recipe["dataset"] | own.get("dataset", {})}))
    return Config(
        dataset=dataset,
        method=method,
        model=model_from(plain.get("model", recipe.get("model", "mlp" if features else dataset.model))),
        training=_settings("training", Training, recipe, own, plain),
        first=_settings("first", FirstStage, recipe, own, plain),
        selection=plain.get("selection", dataset.selection),
        seed=plain.get("seed", 0),
        features=features,
    )


def dataset_from(plain: str | Mapping[str, Any] | DataSet | Bundle) -> DataSet:
    """A data set from its name, from plain values, from a bundle, or as it is."""
    if isinstance(plain, Bundle):
        return InMemory.of(plain)
    dataset: DataSet = _named("data set", plain, DATASETS)
    return dataset


def model_from(plain: str | Mapping[str, Any] | ModelSpec | nn.Module) -> ModelSpec:
    """A model from its name, from plain values, from a network, or as it is."""
    if isinstance(plain, nn.Module):
        return OwnModule.of(plain)
    model: ModelSpec = _named("model", plain, MODELS)
    return model


def method_from(plain: str | Mapping[str, Any] | Method) -> Method:
    """A method from its name, from plain values, or as it is."""
    if isinstance(plain, Method):
        return plain
    method: Method = named_from_plain("method", plain, WITH_COMPOSE, PARTS)
    return method


def _completed(given: Any, recipes: Mapping[str, Any]) -> Any:
    """A method or data set given by name or by some settings, completed from the data set's recipe."""
    if not isinstance(given, str | Mapping):
        return given
    plain = {"name": given} if isinstance(given, str) else dict(given)
    return {**recipes.get(plain.get("name", ""), {}), **plain}


def _named(kind: str, value: Any, table: Mapping[str, type[Any]]) -> Any:
    return value if isinstance(value, DataSet | Encoder | ModelSpec) else named_from_plain(kind, value, table)


def _settings(section: str, cls: type[Any], *layers: Mapping[str, Any]) -> Any:
    """A section of settings, of which a later layer goes over those before it."""
    given = layers[-1].get(section, {})
    require(isinstance(given, cls | Mapping), f"{section} must be a table of settings, got {given!r}.")
    if isinstance(given, cls):
        return given
    return from_plain(cls, {k: v for layer in layers for k, v in layer.get(section, {}).items()}, where=section)


def shipped_recipe(dataset: str) -> dict[str, Any]:
    """The settings shipped for a data set (``<name>_features``: for its features), empty where there are none."""
    file = resources.files("rmix.experiment") / "recipes" / f"{dataset}.toml"
    return tomllib.loads(file.read_text()) if file.is_file() else {}


def read_toml(path: Path) -> dict[str, Any]:
    """A TOML file, or one sentence about why it cannot be read."""
    try:
        return tomllib.loads(path.read_text())
    except FileNotFoundError:
        raise InvalidValueError(f"There is no configuration file {path}.") from None
    except OSError as error:
        raise InvalidValueError(f"The configuration file {path} cannot be read ({error.strerror}).") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidValueError(f"{path} is not valid TOML: {error}.") from None
