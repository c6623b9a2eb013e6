"""How a stage is optimised."""

from __future__ import annotations

from typing import Any

import pytest

from rmix.errors import InvalidValueError
from rmix.training.settings import FirstStage, Training


@pytest.mark.parametrize(("setting", "message"), [
    ({"epochs": 0}, r"epochs must be >= 1, got 0"),
    ({"batch_size": 0}, r"batch_size must be >= 1, got 0"),
    ({"optimizer": "adam"}, r"optimizer must be one of \('sgd', 'adamw'\), got 'adam'"),
    ({"lr": 0.0}, r"lr must be > 0 and finite, got 0.0"),
    ({"lr": float("nan")}, r"lr must be > 0 and finite, got nan"),
    ({"momentum": 1.0}, r"momentum must be in \[0, 1\), got 1.0"),
    ({"weight_decay": -1e-4}, r"weight_decay must be >= 0 and finite, got -0.0001"),
    ({"schedule": "step"}, r"schedule must be one of \('constant', 'linear', 'cosine'\), got 'step'"),
    ({"warmup": 1.0}, r"warmup must be in \[0, 1\), got 1.0"),
    ({"clip_norm": 0.0}, r"clip_norm must be > 0, got 0.0"),
])  # fmt: skip
def test_settings_outside_what_is_allowed(setting: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidValueError, match=message):
        Training(**setting)


def test_the_first_stage_differs_only_where_it_says() -> None:
    main = Training(epochs=40, batch_size=32, lr=0.1, weight_decay=0.5, clip_norm=1.0, schedule="linear")
    assert FirstStage().over(main) == main
    first = FirstStage(epochs=5, batch_size=8, lr=0.2, weight_decay=0.0, schedule="constant").over(main)
    assert first == Training(epochs=5, batch_size=8, lr=0.2, weight_decay=0.0, clip_norm=1.0)


def test_the_first_stage_is_checked_too() -> None:
    with pytest.raises(InvalidValueError, match="epochs must be >= 1, got 0"):
        FirstStage(epochs=0).over(Training())
