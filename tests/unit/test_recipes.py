"""Published settings: all of them build, and the numbers are those of their sources."""

from __future__ import annotations

from typing import Any

import pytest

from rmix.cli import main
from rmix.cli.recipes import recipes, settings_of
from rmix.datasets import DATASETS
from rmix.experiment.config import config_from, method_from, shipped_recipe
from rmix.experiment.plain import from_plain
from rmix.methods import METHODS
from rmix.models import MODELS
from rmix.training.settings import FirstStage, Training

NAMES = recipes()


def usable(name: str) -> None:
    """Skip what names a data set or a model that this version does not have."""
    dataset = name.split("/")[0]
    model = shipped_recipe(dataset)["model"]
    if dataset not in DATASETS or model not in MODELS:
        pytest.skip(f"{dataset} or {model} is not part of this version")


def config(name: str) -> Any:
    usable(name)
    dataset, method = name.split("/")
    return config_from({"dataset": dataset, "method": method})


@pytest.mark.parametrize("name", NAMES)
def test_every_recipe_builds_and_names_its_source(name):
    assert set(NAMES[name]) <= {"source", "note", "dataset", "training", "first"}
    assert len(NAMES[name]["source"]) > 20
    assert config(name).method.name == name.split("/")[1]


@pytest.mark.parametrize("dataset", sorted({name.split("/")[0] for name in NAMES}))
def test_every_setting_of_a_file_is_one(dataset):
    shipped = shipped_recipe(dataset)
    assert set(shipped) <= {"model", "dataset", "training", "first", "method", "published"}
    for name, plain in shipped["method"].items():
        method_from({"name": name, **plain})
    for name, told in shipped["published"].items():
        assert name in METHODS
        from_plain(Training, shipped["training"] | told.get("training", {}))
        from_plain(FirstStage, shipped.get("first", {}) | told.get("first", {}))


# learning rate, weight decay, batch size and epochs of both stages, as in the published scripts
STAGES = {
    "waterbirds": ((1e-5, 1.0, 64, 300), (1e-5, 1.0, 64, 300)),
    "celeba": ((1e-5, 0.1, 128, 50), (1e-4, 1e-4, 128, 20)),
    "civilcomments": ((1e-5, 0.01, 16, 10), (5e-5, 1e-4, 128, 5)),
    "camelyon17": ((1e-3, 0.01, 32, 5), (1e-5, 0.01, 32, 5)),
}
# eta, sigma, alpha, mixing, T_s, T
RMIX = {
    "waterbirds": (80.0, 0.5, 0.5, "mixup", 50, 50),
    "celeba": (50.0, 0.5, 1.5, "cutmix", 0, 5),
    "civilcomments": (3.0, 1.0, 0.5, "manifold", 0, 4),
    "camelyon17": (5.0, 1.0, 0.5, "mixup", 0, 5),
}


@pytest.mark.parametrize("dataset", STAGES)
def test_rmix_is_trained_as_published(dataset):
    found = config(f"{dataset}/rmix")
    stages = (found.first.over(found.training), found.training)
    assert tuple((s.lr, s.weight_decay, s.batch_size, s.epochs) for s in stages) == STAGES[dataset]
    method = found.method
    settings = (method.eta, method.mix_prob, method.alpha, method.mix, method.window_start, method.window)
    assert settings == RMIX[dataset]
    assert (method.c, method.scale, method.record) == (1.0, "none", "training")
    assert found.selection == ("average" if dataset == "camelyon17" else "worst_group")


def test_what_a_method_published_is_over_what_the_data_set_has():
    found = config("waterbirds/lisa").training
    assert (found.lr, found.weight_decay, found.batch_size, found.epochs) == (1e-3, 1e-4, 64, 300)
    plain = {"dataset": "waterbirds", "method": "lisa", "training": {"lr": 0.5}}
    assert config_from(plain).training.lr == 0.5  # what is said is over both


def test_what_is_shown_is_over_what_the_data_set_has():
    usable("waterbirds/rmix")
    assert config("waterbirds/rmix").dataset.augment
    assert not config("waterbirds/group_dro").dataset.augment  # its published command has none
    plain = {"dataset": {"name": "waterbirds", "augment": False}, "method": "rmix"}
    assert not config_from(plain).dataset.augment
    there = config_from({"dataset": {"name": "waterbirds", "root": "/there"}, "method": "rmix"}).dataset
    assert (there.root, there.augment) == ("/there", True)


def test_jtt_on_celeba_as_published():
    found = config("celeba/jtt")
    assert (found.first.epochs, found.method.epoch, found.method.up_weight) == (1, 1, 50)
    assert (found.training.lr, found.training.weight_decay, found.training.batch_size) == (1e-5, 0.1, 64)


def test_the_list_and_a_recipe_are_shown(capsys):
    assert main(["recipes"]) == 0
    out = capsys.readouterr().out
    assert all(name in out for name in NAMES)
    usable("celeba/rmix")
    assert main(["recipes", "celeba/rmix"]) == 0
    out = capsys.readouterr().out
    for words in ("script/CelebA/UMIX/start.sh", "method.eta", "50.0", "cutmix", "rmix train celeba rmix"):
        assert words in out
    assert "dataset.augment" in out
    assert settings_of("celeba/rmix")["dataset.augment"] == "yes"
    assert settings_of("celeba/rmix")["method.scale"] == "none"  # which is not the same as nothing
    assert "training.clip_norm" not in settings_of("celeba/rmix")


@pytest.mark.parametrize("words", [["recipes", "celeba/rmx"], ["train", "--recipe", "celeba/rmx"]])
def test_a_misspelt_recipe_gets_a_suggestion(capsys, words):
    assert main(words) == 2
    assert "No recipe named 'celeba/rmx'. Did you mean 'celeba/rmix'?" in capsys.readouterr().err


def test_train_takes_a_recipe(capsys, tmp_path):
    usable("civilcomments/erm")
    assert main(["train", "--recipe", "civilcomments/erm", "--dataset.root", str(tmp_path)]) == 2
    assert "CivilComments is not in" in capsys.readouterr().err
