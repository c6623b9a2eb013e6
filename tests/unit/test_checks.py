"""Bad input: one sentence each, and it shows the value."""

from __future__ import annotations

import math
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, get_args, get_type_hints

import numpy as np
import pytest
import torch
from toys import bundle_of, facts_of, finished, small, split_of

from rmix.datasets import Bundle, DigitsOnBackgrounds, FourMoons, Split
from rmix.errors import DataError, HiddenGroupsError, InvalidValueError, StoreError
from rmix.experiment.config import config_from
from rmix.experiment.run import run_config
from rmix.methods import METHODS, Compose, ImportanceWeighting, InGroupMixup, PlainMixup, RMix, RMixAware
from rmix.mixers import CutMix, Mixup, Sometimes
from rmix.models import MLP
from rmix.training.settings import Training
from rmix.training.trainer import check_permission
from rmix.weightings import Fixed

GOOD = split_of([0, 1, 0, 1], group=[0, 0, 1, 1])


def refused(message: str, **changes: Any) -> None:
    """The bundle is refused with exactly this sentence."""
    with pytest.raises(DataError) as error:
        bundle_of(**changes)
    assert str(error.value) == message


def test_a_good_bundle_is_taken() -> None:
    assert bundle_of().n_groups == 2


@pytest.mark.parametrize("split", ["train", "valid", "test"])
@pytest.mark.parametrize("label", [-1, 2, 17])
def test_labels_must_be_0_to_k_minus_1(split: str, label: int) -> None:
    refused(
        f"labels must be 0 … 1 (n_classes=2); got {label} at row 2 of split {split!r}.",
        **{split: split_of([0, 1, label, 1])},
    )


def test_labels_must_be_int64() -> None:
    refused(
        "labels must be a vector of int64, got torch.float32 of shape (2,) in split 'train'.",
        train=split_of([0.0, 1.0]),
    )
    refused(
        "labels must be a vector of int64, got torch.int64 of shape (2, 2) in split 'train'.",
        train=split_of([[0, 1], [1, 0]]),
    )


def test_every_class_must_be_in_training() -> None:
    refused(
        "labels must be 0 … 2, each in training; class 2 ('maybe') has no row in split 'train'.",
        class_names=("no", "yes", "maybe"),
    )


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
@pytest.mark.parametrize("split", ["train", "valid", "test"])
def test_inputs_must_be_finite(split: str, value: float) -> None:
    x = torch.zeros(4, 2)
    x[3, 1] = value
    refused(
        f"Inputs must be finite; got {value} at row 3 of split {split!r}.",
        **{split: split_of([0, 1, 0, 1], group=[0, 0, 1, 1], x=x)},
    )


@pytest.mark.parametrize("split", ["train", "valid", "test"])
def test_no_split_may_be_empty(split: str) -> None:
    empty = Split(torch.zeros(0, 2), torch.zeros(0, dtype=torch.int64))
    refused(f"Split {split!r} is empty.", **{split: empty})


@pytest.mark.parametrize("group", [-2, 2, 4])
def test_group_ids_must_be_in_range(group: int) -> None:
    refused(
        f"group ids must be 0 … 1 (n_groups=2); got {group} at row 1 of split 'valid'.",
        valid=split_of([0, 1, 0], group=[0, group, 1]),
    )


def test_a_row_may_be_in_no_group() -> None:
    bundle = bundle_of(train=split_of([0, 1, 0, 1], group=[0, -1, 1, 1]))
    assert bundle.train_counts == (1, 2)


def test_overlapping_groups_must_be_a_matrix_of_bools() -> None:
    refused(
        "Overlapping groups must be (n, 2) bool, got torch.bool of shape (4, 3) in split 'test'.",
        test=split_of([0, 1, 0, 1], group=np.ones((4, 3), dtype=bool).tolist()),
    )
    refused(
        "Overlapping groups must be (n, 2) bool, got torch.int64 of shape (4, 2) in split 'test'.",
        test=split_of([0, 1, 0, 1], group=[[0, 1]] * 4),
    )


def test_a_group_absent_from_training_is_named() -> None:
    absent = split_of([0, 1, 0, 1], group=[0, 0, 0, 0])
    refused(
        "Group 1 ('b') has 2 rows in split 'valid' and none in split 'train'; drop them, or say "
        "Bundle(..., unseen_groups=True) if that is the task.",
        train=absent,
    )
    assert bundle_of(train=absent, unseen_groups=True).train_counts == (4, 0)


@pytest.mark.parametrize("weight", [-1.0, float("nan"), float("inf")])
def test_row_weights_must_be_finite_and_not_negative(weight: float) -> None:
    refused(
        f"Weights must be finite and >= 0; got {weight} at row 2 of split 'train'.",
        train=split_of([0, 1, 0, 1], weight=[1.0, 1.0, weight, 1.0]),
    )


def test_row_weights_must_not_all_be_zero() -> None:
    refused(
        "All 4 weights of split 'train' are 0, so nothing can be learned.",
        train=split_of([0, 1, 0, 1], weight=[0.0] * 4),
    )


@pytest.mark.parametrize(("weights", "message"), [
    ((1.0, -2.5, 1.0), r"Weights must be finite and >= 0, got -2.5 at position 1 \(fixed\)"),
    ((1.0, 1.0, float("nan")), r"got nan at position 2"),
    ((0.0, 0.0, 0.0), r"All 3 weights are 0, so nothing can be learned \(fixed\)"),
    ((1.0, 1.0), r"one a training row: got 2 for 3 rows"),
])  # fmt: skip
def test_given_weights(weights: tuple[float, ...], message: str) -> None:
    with pytest.raises(InvalidValueError, match=message):
        finished(Fixed(table=weights).prepare(facts_of([3])))


@pytest.mark.parametrize("field", ["x", "group", "weight"])
def test_lengths_must_match(field: str) -> None:
    other = {"x": torch.zeros(3, 2), "group": [0, 1, 1], "weight": [1.0] * 3}
    refused(
        f"Split 'train' has 4 labels but 3 rows of {field}.",
        train=split_of([0, 1, 0, 1], **{field: other[field]}),
    )


def test_one_class_only() -> None:
    refused(
        "The training split has one class only (1), so there is nothing to learn.",
        train=split_of([1, 1], group=[0, 1]),
    )


@pytest.mark.parametrize("field", ["x", "y", "group", "weight"])
@pytest.mark.parametrize("kind", [list, np.asarray])
def test_fields_must_be_tensors(field: str, kind: Any) -> None:
    good = split_of([0, 1, 0, 1], group=[0, 0, 1, 1], weight=[1, 1, 1, 1])
    value = kind(getattr(good, field).tolist())
    refused(
        f"{field} of split 'train' must be a tensor, got {type(value).__name__}; see torch.as_tensor.",
        train=replace(good, **{field: value}),
    )


def test_weights_must_be_one_number_a_row() -> None:
    message = "Weights must be one number a row, got shape (4, 2) in split 'train'."
    refused(message, train=replace(GOOD, weight=torch.ones(4, 2)))


@pytest.mark.parametrize("x", [torch.zeros(4, 3), torch.zeros(4, 2).double()])
def test_inputs_are_alike_in_all_splits(x: torch.Tensor) -> None:
    refused(
        f"Inputs must be alike in all splits; got {x.dtype} of shape {tuple(x.shape[1:])} in 'valid' "
        "and torch.float32 of shape (2,) in 'train'.",
        valid=split_of([0, 1, 0, 1], group=[0, 0, 1, 1], x=x),
    )


def numbers(cls: Any) -> list[str]:
    """The settings that take any number."""
    hints = get_type_hints(cls)
    return [f.name for f in fields(cls) if float in (hints[f.name], *get_args(hints[f.name]))]


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("cls", [*METHODS.values(), FourMoons, MLP], ids=lambda cls: cls.name)
def test_no_setting_is_infinite_or_no_number(cls: Any, bad: float) -> None:
    for name in numbers(cls):
        with pytest.raises(InvalidValueError, match=f"must .*got {bad}"):
            cls(**{name: bad})


def test_the_smallest_data_are_taken_and_smaller_ones_refused() -> None:
    FourMoons(sizes=(1, 1, 1, 1), valid_size=1, test_size=1).load()
    DigitsOnBackgrounds(sizes=(1, 1, 1, 1), held_out=1).load()
    for data, setting in ((FourMoons, "valid_size"), (FourMoons, "test_size"), (DigitsOnBackgrounds, "held_out")):
        with pytest.raises(InvalidValueError, match=f"{setting} must be >= 1, got 0"):
            data(**{setting: 0})


@pytest.mark.parametrize("name", ["lr", "weight_decay", "momentum", "warmup"])
def test_training_takes_finite_numbers(name: str) -> None:
    for bad in (math.nan, math.inf):
        with pytest.raises(InvalidValueError, match=f"{name} must be .*got {bad}"):
            Training(**{name: bad})


def test_a_composition_takes_parts_not_their_names() -> None:
    with pytest.raises(InvalidValueError, match=r"mixer must be a Mixer, got 'mixup' \(compose\)"):
        Compose(mixer="mixup")
    with pytest.raises(InvalidValueError, match="weighting must be a WeightRule, got 3"):
        Compose(weighting=3)


@pytest.mark.parametrize("device", ["gpu", "cuda:99"])
def test_a_device_that_is_not_there(device: str) -> None:
    with pytest.raises(InvalidValueError, match=rf"Device '{device}' cannot be used here \(.*\); use cpu\."):
        run_config(small(), device=device)


@pytest.mark.parametrize("alpha", [0.0, -1.0, float("nan")])
@pytest.mark.parametrize("make", [Mixup, CutMix, PlainMixup, InGroupMixup, RMix, RMixAware])
def test_alpha_must_be_positive(make: Any, alpha: float) -> None:
    with pytest.raises(InvalidValueError, match=f"alpha must be > 0 and finite, got {alpha}"):
        make(alpha=alpha)


@pytest.mark.parametrize("sigma", [-0.1, 1.01, float("nan")])
def test_sigma_must_be_a_probability(sigma: float) -> None:
    message = rf"mix_prob \(sigma\) must be in \[0, 1\], got {sigma}"
    for make in (lambda: Sometimes(Mixup(), sigma), lambda: RMix(mix_prob=sigma), lambda: RMixAware(mix_prob=sigma)):
        with pytest.raises(InvalidValueError, match=message):
            make()


@pytest.mark.parametrize(("make", "message"), [
    (lambda: RMix(eta=-1.0), r"eta must be >= 0 and finite, got -1.0 \(uncertainty\)"),
    (lambda: RMix(c=-0.5), r"c must be >= 0 and finite, got -0.5 \(uncertainty\)"),
    (lambda: RMix(mix="blend"), r"mix must be one of mixup, cutmix, manifold, manifold_random, none, got 'blend'"),
    (lambda: RMix(scale="sum"), r"scale must be one of \('none', 'mean_one'\), got 'sum'"),
    (lambda: RMix(ensemble=-1), r"models must be >= 1, got -1"),
    (lambda: RMixAware(capacity=-1.0), r"capacity \(C\) must be >= 0 and finite, got -1.0"),
    (lambda: RMixAware(ratio=0.5), r"ratio must be >= 1 and finite, got 0.5"),
    (lambda: ImportanceWeighting(power=-1.0), r"power must be >= 0 and finite, got -1.0"),
])  # fmt: skip
def test_settings_of_methods_are_refused_where_they_are_written_down(make: Any, message: str) -> None:
    with pytest.raises(InvalidValueError, match=message):
        make()


@pytest.mark.parametrize(
    ("start", "window", "shown"),
    [
        (0, 3, "3 epochs from epoch 0"),
        (2, 1, "1 epochs from epoch 2"),
        (-1, 2, "2 epochs from epoch -1"),
        (2, None, "0 epochs from epoch 2"),
    ],
)
def test_a_window_beyond_the_recorded_epochs_fails_before_training(start: int, window: int | None, shown: str) -> None:
    with pytest.raises(InvalidValueError, match=rf"window of {shown} on .* does not lie within the 2 recorded"):
        run_config(small(RMix(window_start=start, window=window)))  # the first stage has two epochs


def test_a_store_folder_that_is_a_file(tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("mine")
    with pytest.raises(StoreError, match=rf"The folder {file}/runs-go-here/runs cannot be made \(Not a directory\)"):
        run_config(small(), store=file / "runs-go-here")
    with pytest.raises(StoreError, match=rf"The folder {file}/runs cannot be made"):
        run_config(small(), store=file)
    assert file.read_text() == "mine"


def test_a_store_folder_that_is_not_writable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.access", lambda path, mode: False)  # root may write anywhere
    with pytest.raises(StoreError, match=rf"The store folder {tmp_path} is not writable; choose another"):
        run_config(small(), store=tmp_path)


@pytest.mark.parametrize("name", [name for name, method in METHODS.items() if method().groups])
def test_a_method_that_reads_groups_needs_them(name: str) -> None:
    bundle: Bundle = bundle_of(train=split_of([0, 1, 0, 1]), group_names=("a", "b"))
    with pytest.raises(HiddenGroupsError, match=f"Method '{name}' reads group labels in training, but data set 'toy'"):
        check_permission(METHODS[name](), bundle)


@pytest.mark.parametrize(("settings", "message"), [
    ({"dataset": "moon"}, "No data set named 'moon'. Did you mean 'moons'?"),
    ({"method": "rmixx"}, "No method named 'rmixx'. Did you mean 'rmix'?"),
    ({"model": "mlpp"}, "No model named 'mlpp'. Did you mean 'mlp'?"),
    ({"selection": "worst"}, "No selection named 'worst'. Did you mean 'worst_group'?"),
    ({"trainig": {}}, "No section named 'trainig'. Did you mean 'training'?"),
    ({"training": {"epoch": 3}}, "No setting named 'epoch' in training. Did you mean 'epochs'?"),
    ({"first": {"lrr": 3.0}}, "No setting named 'lrr' in first. Did you mean 'lr'?"),
    ({"method": {"name": "rmix", "etta": 3}}, "No setting named 'etta' in rmix. Did you mean 'eta'?"),
])  # fmt: skip
def test_a_mistyped_name_gets_a_suggestion(settings: dict[str, Any], message: str) -> None:
    with pytest.raises((InvalidValueError, KeyError)) as error:
        config_from(settings)
    assert str(error.value).startswith(message)
