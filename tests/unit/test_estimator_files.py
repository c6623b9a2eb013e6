"""A classifier in a file comes back as it was; anything else is refused in a sentence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from safetensors.torch import save_file
from shortcut_table import make_table

from rmix.errors import CheckpointError, InvalidValueError
from rmix.estimator import GroupRobustClassifier, RMixClassifier
from rmix.methods import Compose
from rmix.mixers import Mixup
from rmix.models import MLP, ModelSpec
from rmix.weightings import GroupSize

X, Y, SIDE = make_table(80)


@pytest.mark.parametrize(
    ("classifier", "y"),
    [
        (RMixClassifier(random_state=1, mix="none"), Y),
        (RMixClassifier(use_groups=True, random_state=np.random.RandomState(0)), (Y == "yes").astype(np.int8)),
        (GroupRobustClassifier({"name": "jtt", "up_weight": 3}, model={"name": "mlp", "depth": 1}), Y.astype(object)),
        (GroupRobustClassifier(Compose(mixer=Mixup(0.3), weighting=GroupSize()), lr=np.float64(0.01)), Y == "yes"),
        (GroupRobustClassifier("erm", model=MLP(width=4)), np.where(Y == "yes", 1.0, -1.0)),
    ],
    ids=["strings", "random state", "mappings", "composed", "floats"],
)
def test_it_comes_back_as_it_was(classifier: Any, y: np.ndarray, tmp_path: Path) -> None:
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    fitted = classifier.set_params(epochs=1).fit(frame, y, sensitive_features=SIDE)
    fitted.save(tmp_path / "clf.safetensors")
    again = type(classifier).load(tmp_path / "clf.safetensors")
    assert (again.predict_proba(frame) == fitted.predict_proba(frame)).all()
    assert again.predict(frame).dtype == fitted.predict(frame).dtype
    for name in ("classes_", "feature_names_in_"):
        assert getattr(again, name).tolist() == getattr(fitted, name).tolist()
    for name in ("history_", "selected_", "groups_used_", "group_names_", "group_counts_", "n_features_in_"):
        assert getattr(again, name) == getattr(fitted, name)
    assert str(again.report(frame, y, SIDE)) == str(fitted.report(frame, y, SIDE))
    assert again.fit(frame, y, sensitive_features=SIDE).n_features_in_ == 3  # and can be fitted again
    assert [path.name for path in tmp_path.iterdir()] == ["clf.safetensors"]


class Mine(ModelSpec):
    """A model that no name stands for."""

    name = "mine"

    def build(self, shape: tuple[int, ...], n_classes: int) -> torch.nn.Module:
        return torch.nn.Linear(*shape, n_classes)


def test_what_cannot_be_named_is_not_written(tmp_path: Path) -> None:
    fitted = GroupRobustClassifier("erm", model=Mine(), epochs=1).fit(X, Y)
    with pytest.raises(InvalidValueError, match=r"parts that no name stands for.*use joblib.dump"):
        fitted.save(tmp_path / "clf")
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_read_is_said(tmp_path: Path) -> None:
    path = tmp_path / "clf"
    RMixClassifier(epochs=1).fit(X, Y).save(path)
    with pytest.raises(CheckpointError, match=r"holds a RMixClassifier; read it with RMixClassifier.load"):
        GroupRobustClassifier.load(path)
    (tmp_path / "half").write_bytes(path.read_bytes()[:-100])
    with pytest.raises(CheckpointError, match="half cannot be read"):
        RMixClassifier.load(tmp_path / "half")
    with pytest.raises(CheckpointError, match="none cannot be read"):
        RMixClassifier.load(tmp_path / "none")
    save_file({"a": torch.zeros(1)}, tmp_path / "other")
    with pytest.raises(CheckpointError, match=r"other was not written by save\(\) of this version"):
        RMixClassifier.load(tmp_path / "other")
