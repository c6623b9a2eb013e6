"""Worst group on Adult (UCI) of classifiers of scikit-learn and rmix: ``python -m benchmarks.adult FOLDER``.

FOLDER holds adult.data and adult.test (or both with .gz), from https://archive.ics.uci.edu/dataset/2/adult.
"""

from __future__ import annotations

import sys
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils.class_weight import compute_sample_weight

from rmix import GroupRobustClassifier, RMixClassifier
from rmix.estimator import group_table

COLUMNS = (
    *("age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation", "relationship"),
    *("race", "sex", "capital-gain", "capital-loss", "hours-per-week", "native-country", "income"),
)
SEEDS = range(3)


class Adult(NamedTuple):
    """Rows of one split, one-hot and standardised, with label and sex."""

    x: np.ndarray
    y: np.ndarray
    sex: np.ndarray


def read(folder: Path) -> tuple[Adult, Adult]:
    """Training and test rows; unknown values are a category of their own."""
    frames = [
        pd.read_csv(next(folder.glob(f"adult.{split}*")), names=COLUMNS, skiprows=skip, skipinitialspace=True)
        for split, skip in (("data", 0), ("test", 1))
    ]
    words = [name for name in COLUMNS[:-1] if not pd.api.types.is_numeric_dtype(frames[0][name])]
    numbers = [name for name in COLUMNS[:-1] if name not in words]
    one_hot = OneHotEncoder(handle_unknown="ignore", sparse_output=False, dtype=np.float32)
    encode = make_column_transformer((one_hot, words), (StandardScaler(), numbers)).fit(frames[0])
    rich = (frame["income"].str.rstrip(".").to_numpy(dtype=str) for frame in frames)
    return tuple(
        Adult(encode.transform(frame).astype(np.float32), y, frame["sex"].to_numpy(dtype=str))
        for frame, y in zip(frames, rich, strict=True)
    )


def classifiers(seed: int, train: Adult) -> dict[str, tuple[Any, dict[str, Any]]]:
    """What is compared, by name, with its own defaults but for the seed; and what ``fit`` is told besides x and y."""
    blind, aware = RMixClassifier(random_state=seed), RMixClassifier(use_groups=True, random_state=seed)
    erm = GroupRobustClassifier("erm", random_state=seed)
    told = {"sensitive_features": train.sex}
    groups = np.char.add(train.sex, train.y)
    weight = {"sample_weight": compute_sample_weight("balanced", groups)}
    return {
        "LogisticRegression": (LogisticRegression(max_iter=1000), {}),
        "LogisticRegression, classes weighed alike": (LogisticRegression(max_iter=1000, class_weight="balanced"), {}),
        "LogisticRegression, groups weighed alike": (LogisticRegression(max_iter=1000), weight),
        "MLPClassifier, early stopping": (MLPClassifier((64, 64), early_stopping=True, random_state=seed), {}),
        "erm": (erm, {}),
        "RMixClassifier()": (blind, {}),
        "erm, epoch by groups": (erm, told),
        "RMixClassifier(), epoch by groups": (blind, told),
        "RMixClassifier(use_groups=True)": (aware, told),
        "group_dro": (GroupRobustClassifier("group_dro", random_state=seed), told),
    }


def main(folder: Path, words: list[str]) -> None:
    """Fit everything on each seed and print mean and standard deviation."""
    train, test = read(folder)
    sex = {"sex": test.sex}
    print(f"{train.x.shape[0]:,} training rows, {train.x.shape[1]} columns, {len(test.y):,} test rows")
    for name in classifiers(0, train):
        if words and not any(word in name for word in words):
            continue
        tables, start = [], perf_counter()
        for seed in SEEDS:
            classifier, told = classifiers(seed, train)[name]
            fitted = classifier.fit(train.x, train.y, **told)
            tables.append(group_table(test.y, fitted.predict(test.x), sensitive_features=sex))
        seconds = (perf_counter() - start) / len(SEEDS)
        average, worst = ([100 * getattr(table, what) for table, _ in tables] for what in ("average", "worst"))
        groups = {grouped.names[table.worst_group] for table, grouped in tables}
        print(
            f"{name:45s} average {np.mean(average):.1f} ± {np.std(average, ddof=1):.1f}  worst group "
            f"{np.mean(worst):.1f} ± {np.std(worst, ddof=1):.1f} ({'; '.join(sorted(groups))})  {seconds:.1f} s a fit",
            flush=True,
        )


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
