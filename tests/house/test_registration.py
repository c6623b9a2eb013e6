"""What is written is registered: a file that nobody imports is found, and so is a method that cannot be searched."""

import importlib
import pkgutil
from dataclasses import fields

import pytest

from rmix.datasets import DATASETS
from rmix.experiment.config import PARTS
from rmix.methods import METHODS, Compose
from rmix.models import ENCODERS, MODELS

# the classes of each package that a name stands for, and those that are for Python alone
REGISTERED = {
    "methods": {*METHODS.values(), Compose},
    "datasets": set(DATASETS.values()),
    "models": {*MODELS.values(), *ENCODERS.values()},
    **{package: set(PARTS.values()) for package in ("mixers", "weightings", "samplers")},
}
OF_PYTHON = {"InMemory", "OwnModule"}


def defined_in(package: str) -> set[type]:
    """The public classes of a package, from every file of it."""
    folder = importlib.import_module(f"rmix.{package}")
    modules = [
        importlib.import_module(f"rmix.{package}.{found.name}") for found in pkgutil.iter_modules(folder.__path__)
    ]
    classes = {value for module in modules for value in vars(module).values() if isinstance(value, type)}
    return {
        cls for cls in classes if cls.__module__.startswith(f"rmix.{package}.") and not cls.__name__.startswith("_")
    }


@pytest.mark.parametrize("package", REGISTERED)
def test_every_class_with_a_name_of_its_own_is_registered(package):
    named = {cls for cls in defined_in(package) if isinstance(vars(cls).get("name"), str)}
    assert named, "there are some"
    assert {cls.__name__ for cls in named - REGISTERED[package]} - OF_PYTHON == set()


@pytest.mark.parametrize("package", ["losses", "reductions"])
def test_every_class_is_exported(package):
    folder = importlib.import_module(f"rmix.{package}")
    assert {cls.__name__ for cls in defined_in(package)} <= set(folder.__all__)


@pytest.mark.parametrize("name", METHODS)
def test_a_method_with_settings_has_a_search_space(name):
    assert bool(METHODS[name].space) == bool(fields(METHODS[name]))
