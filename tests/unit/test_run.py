"""The public door: train()."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from toys import QUICK, SMALL_MOONS, Told, same, small

import rmix
from rmix.errors import RMixError
from rmix.experiment.run import GRID, run_config, surface_of, torch_threads
from rmix.methods import RMix
from rmix.mixers import CutMix, Mixup, SameLabelAndGroup
from rmix.training.settings import Training
from rmix.weightings import GroupSize


def test_names_mappings_and_objects_are_the_same_run() -> None:
    plain = {"name": "moons", "sizes": [30, 30, 5, 5], "valid_size": 10, "test_size": 10}
    by_object = rmix.train(SMALL_MOONS, RMix(eta=3.0), **QUICK)
    by_mapping = rmix.train(plain, {**by_object.result.config["method"]}, **QUICK)
    assert same(by_object, by_mapping)


def test_the_result_says_what_was_done() -> None:
    result = rmix.train(SMALL_MOONS, "rmix_aware", seed=4, selection="average", **QUICK).result
    assert result.groups_used == {"fit": True, "select": False}
    assert (result.method, result.seed, result.selected["rule"]) == ("rmix_aware", 4, "average")
    assert result.train_counts == (30, 30, 5, 5)
    assert (result.test.total, result.test.rows) == ((10, 10, 10, 10), 40)
    assert result.environment["torch"] == torch.__version__.split("+")[0]
    assert result.environment["data"] == SMALL_MOONS.load().checksum
    assert result.failure is None


def test_a_composition_is_taken_wherever_a_name_is(tmp_path: Path) -> None:
    """These pairs, this mixer, these weights, in one line; everything else as it is."""
    mine = rmix.Compose(weighting=GroupSize(ratio=5.0), mixer=Mixup(1.0, SameLabelAndGroup()))
    first = rmix.train(SMALL_MOONS, mine, store=tmp_path, **QUICK)
    assert first.result.method == "compose"
    assert first.result.groups_used["fit"]
    assert rmix.train(SMALL_MOONS, first.result.config["method"], store=tmp_path, **QUICK).reused


def test_mixing_images_with_cutmix() -> None:
    digits = {"name": "digits", "sizes": [8, 4, 4, 8], "held_out": 5}
    method = {"name": "rmix", "mix": "cutmix", "mix_prob": 1.0}
    result = rmix.train(digits, method, model={"name": "small_cnn", "width": 2}, training={"epochs": 1}).result
    assert result.test.rows == 20
    assert result.surface is None  # not points in the plane


def test_cutmix_of_points_is_refused() -> None:
    with pytest.raises(RMixError, match="CutMix needs images"):
        rmix.train(SMALL_MOONS, {"name": "mixup", "mix": "cutmix"}, **QUICK)


def test_a_finished_run_is_reused_and_says_so(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", logger="rmix")
    told = Told()
    first = rmix.train(SMALL_MOONS, "erm", store=tmp_path, **QUICK)
    again = rmix.train(SMALL_MOONS, "erm", store=str(tmp_path), callbacks=[told], **QUICK)
    assert (first.reused, again.reused, told.ends) == (False, True, [])
    assert same(first, again)
    assert f"Run {first.result.id} ended before; its result is shown." in caplog.text


def test_a_store_changes_no_bit(tmp_path: Path) -> None:
    assert same(run_config(small(), store=tmp_path), run_config(small()))


def test_seeds_differ_and_data_do_not() -> None:
    runs = [run_config(small(seed=seed)) for seed in (0, 1)]
    assert runs[0].result.environment["data"] == runs[1].result.environment["data"]
    assert runs[0].result.history != runs[1].result.history


def test_threads_are_put_back() -> None:
    before = torch.get_num_threads()
    with torch_threads(1):
        assert torch.get_num_threads() == 1
    assert torch.get_num_threads() == before
    with torch_threads(None):
        assert torch.get_num_threads() == before


def test_the_surface_is_the_chance_of_class_1_on_a_grid_around_the_points() -> None:
    """Logits 0 and x: the chance rises along x only, and is 1/2 at x = 0, the middle."""

    class Slope(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.stack([torch.zeros(len(x)), x[:, 0]], dim=1)

    surface = surface_of(Slope(), torch.tensor([[-1.0, 0.0], [1.0, 2.0]]))
    assert (surface["x"][0], surface["x"][-1]) == (-1.4, 1.4)
    assert (surface["y"][0], surface["y"][-1]) == (-0.4, 2.4)
    chance = torch.tensor(surface["chance"])  # one row a value of y
    assert chance.shape == (GRID, GRID)
    assert torch.equal(chance[0], chance[-1])
    assert (chance[0].diff() > 0).all()
    assert chance[0, 0].item() == pytest.approx(1 / (1 + torch.e**1.4), abs=1e-4)


def test_a_bundle_of_ones_own_is_trained_on_and_kept(tmp_path: Path) -> None:
    """Known by its checksum: the same rows are the same run, and any other value is another."""
    bundle = SMALL_MOONS.load()
    first = rmix.train(bundle, "erm", store=tmp_path, **QUICK)
    assert first.result.test == rmix.train(SMALL_MOONS, "erm", **QUICK).result.test
    assert rmix.train(SMALL_MOONS.load(), "erm", store=tmp_path, **QUICK).reused
    x = bundle.train.x.clone()
    x[0, 0] += 1e-6
    changed = replace(bundle, train=replace(bundle.train, x=x))
    assert not rmix.train(changed, "erm", store=tmp_path, **QUICK).reused


def test_inputs_in_float64_are_trained_on_in_float32() -> None:
    bundle = SMALL_MOONS.load()
    double = bundle.with_inputs(lambda split, x: x.double())
    plain, run = (rmix.train(data, "rmix", **QUICK).result for data in (bundle, double))
    assert (run.test, run.history) == (plain.test, plain.history)
    assert run.environment["data"] == double.checksum != bundle.checksum


@pytest.mark.parametrize("name", ["my data/v2", "..", "a\\b", "", "ümlaut", "x" * 300])
def test_a_bundle_may_have_any_name(name: str, tmp_path: Path) -> None:
    bundle = replace(SMALL_MOONS.load(), name=name)
    rmix.train(bundle, "erm", store=tmp_path, **QUICK)
    assert len(list(tmp_path.glob("runs/*/result.json"))) == 1
    assert {path.name for path in tmp_path.iterdir()} <= {"runs", "stages"}


def test_schedules_and_optimizers_train() -> None:
    training = Training(epochs=2, batch_size=16, optimizer="adamw", schedule="cosine", warmup=0.2, clip_norm=1.0)
    assert run_config(small(training=training)).result.history["main"][1]["loss"] > 0


def test_the_mixer_of_images_is_what_it_is_called() -> None:
    assert RMix(mix="cutmix").composed().mixer.mixer == CutMix(0.5)
    assert RMix(mix="mixup", alpha=2.0, per_sample=True).composed().mixer.mixer == Mixup(2.0, per_sample=True)
