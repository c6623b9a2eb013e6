"""A fitted classifier in one file: tensors, and JSON in the header. Reading executes nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import torch

from rmix.errors import CheckpointError, InvalidValueError, RMixError
from rmix.estimator.inputs import Scaling
from rmix.experiment.plain import to_plain
from rmix.streams import torch_stream
from rmix.training.checkpoint import write_whole

if TYPE_CHECKING:
    from rmix.estimator.classifier import RobustClassifier

FORMAT = "rmix classifier 1"
FITTED = ("n_features_in_", "history_", "selected_", "groups_used_", "group_names_", "group_counts_")
C = TypeVar("C", bound="RobustClassifier")


def write(classifier: RobustClassifier, path: Path) -> None:
    """Write ``classifier`` whole, or not at all."""
    save = _safetensors().torch.save
    scaling = classifier._scaling
    tensors = {f"network.{name}": t.detach().cpu().contiguous() for name, t in classifier.network_.state_dict().items()}
    tensors |= {"mean": torch.from_numpy(scaling.mean), "scale": torch.from_numpy(scaling.scale)}
    classes, names = classifier.classes_, getattr(classifier, "feature_names_in_", None)
    header = {
        "format": FORMAT,
        "class": type(classifier).__name__,
        "settings": _settings(classifier),
        "classes": classes.tolist(),
        "classes_dtype": classes.dtype.str,
        "features": None if names is None else names.tolist(),
        "fitted": {name: getattr(classifier, name) for name in FITTED},
    }
    write_whole(path, save(tensors, {"rmix": json.dumps(header)}))


def read(cls: type[C], path: Path) -> C:
    """The classifier of ``cls`` that is in ``path``, or one sentence about why it cannot be read."""
    safetensors = _safetensors()
    try:
        with safetensors.safe_open(path, "pt") as file:
            header = json.loads((file.metadata() or {}).get("rmix", "{}"))
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  # not a mapping
    except (safetensors.SafetensorError, OSError) as error:
        raise CheckpointError(f"{path} cannot be read ({str(error)[:80]}).") from error
    if header.get("format") != FORMAT:
        raise CheckpointError(f"{path} was not written by save() of this version of rmix.")
    if header["class"] != cls.__name__:
        raise CheckpointError(f"{path} holds a {header['class']}; read it with {header['class']}.load.")
    return _restored(cls(**header["settings"]), header, tensors)


def _restored(classifier: C, header: dict[str, Any], tensors: dict[str, torch.Tensor]) -> C:
    for name, value in header["fitted"].items():
        setattr(classifier, name, value)
    classifier.group_names_ = tuple(classifier.group_names_)
    classifier.group_counts_ = classifier.group_counts_ and tuple(classifier.group_counts_)
    classifier.classes_ = np.array(header["classes"], dtype=header["classes_dtype"])
    if header["features"] is not None:
        classifier.feature_names_in_ = np.array(header["features"], dtype=object)
    classifier._scaling = Scaling(tensors.pop("mean").numpy(), tensors.pop("scale").numpy())
    with torch_stream(0, "load"):  # the initial weights are not used
        network = classifier._make_model().build((classifier.n_features_in_,), len(classifier.classes_))
    network.load_state_dict({name.removeprefix("network."): tensor for name, tensor in tensors.items()})
    classifier.network_ = network
    return classifier


def _plain(name: str, value: Any) -> Any:
    if name == "random_state" and not isinstance(value, int | np.integer):
        return None  # a generator is of no use after the fit
    if isinstance(value, dict):
        return {key: _plain(key, item) for key, item in value.items()}
    return to_plain(value.item() if isinstance(value, np.generic) else value)


def _settings(classifier: RobustClassifier) -> dict[str, Any]:
    """The settings as plain values; what is read back must be what was written."""
    try:
        settings = {name: _plain(name, value) for name, value in classifier.get_params(deep=False).items()}
        again = type(classifier)(**settings)
        same = again._make_method() == classifier._make_method() and again._make_model() == classifier._make_model()
    except RMixError:
        same = False
    if not same:
        raise InvalidValueError(
            f"{classifier!r} has parts that no name stands for, so it cannot be saved as plain values; use joblib.dump."
        )
    return settings


def _safetensors() -> Any:
    try:
        import safetensors
        import safetensors.torch
    except ImportError:
        raise InvalidValueError("Saving a classifier needs safetensors; pip install safetensors.") from None
    return safetensors
