"""Where settings come from, each over the one before: defaults, the shipped recipe, what is given."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rmix.datasets import DATASETS, DigitsOnBackgrounds, FourMoons
from rmix.errors import InvalidValueError, UnknownNameError
from rmix.experiment import config as module
from rmix.experiment.config import Config, config_from, method_from, read_toml, shipped_recipe
from rmix.methods import ERM, METHODS, Compose, RMix
from rmix.mixers import Mixup
from rmix.models import MLP, SmallCNN
from rmix.training.settings import FirstStage, Training

RECIPE = {
    "model": {"name": "mlp", "width": 7},
    "training": {"lr": 0.5, "epochs": 9},
    "first": {"epochs": 4},
    "method": {"rmix": {"eta": 33.0, "alpha": 2.0}},
}


@pytest.fixture
def recipe(monkeypatch: pytest.MonkeyPatch) -> None:
    """A recipe of our own, whatever is shipped."""
    monkeypatch.setattr(module, "shipped_recipe", lambda dataset: RECIPE if dataset == "moons" else {})


@pytest.mark.usefixtures("recipe")
def test_the_recipe_is_over_the_defaults() -> None:
    config = config_from({"dataset": "moons", "method": "rmix"})
    assert config.training == Training(lr=0.5, epochs=9)
    assert config.first == FirstStage(epochs=4)
    assert config.model == MLP(width=7)
    assert config.method == RMix(eta=33.0, alpha=2.0)
    assert (config.selection, config.seed) == ("worst_group", 0)


@pytest.mark.usefixtures("recipe")
def test_what_is_given_is_over_the_recipe_one_setting_at_a_time() -> None:
    given = {"training": {"lr": 0.25}, "method": {"name": "rmix", "alpha": 1.0}, "model": {"name": "mlp", "depth": 1}}
    config = config_from({"dataset": "moons", **given})
    assert config.training == Training(lr=0.25, epochs=9)
    assert config.method == RMix(eta=33.0, alpha=1.0)
    assert config.model == MLP(depth=1)  # a model that is given is given whole


@pytest.mark.usefixtures("recipe")
def test_objects_are_taken_as_they_are() -> None:
    mine, training = Compose(mixer=Mixup(3.0)), Training(epochs=2)
    config = config_from({"dataset": FourMoons(noise=0.1), "method": mine, "model": MLP(3), "training": training})
    assert config == Config(FourMoons(noise=0.1), mine, MLP(3), training, FirstStage(epochs=4))
    assert config_from({"dataset": "moons", "method": RMix()}).method == RMix()  # not completed from the recipe


@pytest.mark.usefixtures("recipe")
def test_methods_and_data_sets_without_a_recipe_keep_their_defaults() -> None:
    assert config_from({"method": "erm"}).method == ERM()
    assert config_from({"dataset": "digits", "method": "rmix"}) == Config(DigitsOnBackgrounds(), RMix(), SmallCNN())


def test_the_shortest_configuration() -> None:
    config = config_from({})
    assert isinstance(config.dataset, FourMoons)
    assert config.method == ERM()


@pytest.mark.parametrize("dataset", sorted(DATASETS))
@pytest.mark.parametrize("method", sorted(METHODS))
def test_every_shipped_recipe_is_valid_for_every_method(dataset: str, method: str) -> None:
    config = config_from({"dataset": dataset, "method": method})
    assert config_from(config.to_plain()) == config


@pytest.mark.parametrize("dataset", sorted(DATASETS))
def test_shipped_recipes_name_only_what_exists(dataset: str) -> None:
    recipe = shipped_recipe(dataset)
    assert set(recipe) <= {"model", "dataset", "training", "first", "method", "published"}
    for name, plain in recipe.get("method", {}).items():
        assert method_from({"name": name, **plain}).name == name
    assert shipped_recipe("no-such-data") == {}


@pytest.mark.parametrize(("given", "message"), [
    ({"training": {"lr": "fast"}}, "training.lr must be float, got 'fast'."),
    ({"training": {"epochs": 2.5}}, "training.epochs must be int, got 2.5."),
    ({"method": {"name": "rmix", "window": 1.5}}, "rmix.window must be int or none, got 1.5."),
    ({"seed": "seven"}, "seed must be int, got 'seven'."),
    ({"seed": 1.5}, "seed must be int, got 1.5."),
])  # fmt: skip
def test_values_of_the_wrong_type(given: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidValueError) as error:
        config_from(given)
    assert str(error.value) == message


@pytest.mark.parametrize("given", [{"dataset": 3}, {"method": None}, {"model": [1]}, {"training": 5}, {"first": "x"}])
def test_sections_of_the_wrong_type_are_named(given: dict[str, Any]) -> None:
    (section,) = given
    with pytest.raises(InvalidValueError, match=r"data set|" + section):
        config_from(given)


def test_a_selection_is_looked_up() -> None:
    with pytest.raises(UnknownNameError, match="No selection named 'best'"):
        Config(FourMoons(), ERM(), MLP(), selection="best")


def test_a_file_is_read(tmp_path: Path) -> None:
    file = tmp_path / "run.toml"
    file.write_text('method = "rmix"\n[training]\nlr = 1\n')
    assert config_from(read_toml(file)).training.lr == 1.0


def test_a_file_that_is_not_there_or_not_toml(tmp_path: Path) -> None:
    with pytest.raises(InvalidValueError, match=r"There is no configuration file .*missing\.toml\.$"):
        read_toml(tmp_path / "missing.toml")
    file = tmp_path / "bad.toml"
    for content in (b"lr = = 1", b"\xff\xfe"):
        file.write_bytes(content)
        with pytest.raises(InvalidValueError, match=r"bad\.toml is not valid TOML: "):
            read_toml(file)
