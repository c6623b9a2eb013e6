"""A classifier of scikit-learn around the trainer: everything but the choice of the method."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from itertools import chain
from numbers import Integral
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import torch
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from rmix.batch import Groups
from rmix.datasets.base import Bundle, Split
from rmix.errors import HiddenGroupsError, InvalidValueError, lookup, require
from rmix.estimator.files import read, write
from rmix.estimator.inputs import Scaling
from rmix.estimator.progress import Lines
from rmix.estimator.report import GroupReport
from rmix.estimator.scorers import group_table
from rmix.estimator.sensitive import Grouped, group_rows
from rmix.estimator.splits import Latest, bundle_of, held_out, rows_and_classes
from rmix.experiment.plain import named_from_plain
from rmix.experiment.run import torch_threads
from rmix.methods.base import Method
from rmix.models import MODELS, ModelSpec
from rmix.training.evaluate import predict
from rmix.training.selection import SELECTIONS, Rule
from rmix.training.settings import FirstStage, Training
from rmix.training.trainer import Fitted, Trainer

LARGEST_BATCH = 256
STEPS = 32  # at least so many an epoch, where there are rows for batches of at least 16


@dataclass(eq=False, repr=False)
class RobustClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # sklearn has no types
    """What every classifier of this package takes and does; subclasses say which method it is.

    Args:
        model: a name, a mapping such as ``{"name": "mlp", "width": 128}``, or a model specification.
        epochs: passes over the training rows.
        batch_size: rows of a step; None = 256, less where there are fewer than 8,192 rows.
        optimizer: adamw or sgd.
        lr: learning rate.
        weight_decay: decoupled decay of adamw, L2 penalty of sgd.
        schedule: constant, linear or cosine.
        first_epochs: passes of the preliminary stage of a method that has one; None = as many as ``epochs``.
        standardize: take the mean of each feature off and divide by its standard deviation, both of the
            training rows; False where that was done before.
        validation_fraction: share of the rows held out to choose the epoch that is kept, drawn from each class
            (and group, where groups are used) alike; None = train on all rows, and keep the last epoch.
        selection: what the kept epoch makes largest, the last of equal ones: worst_group, average, last; "auto"
            is worst_group where ``fit`` was given sensitive features, else average.
        patience: stop where this has not grown for so many epochs, best with ``schedule="constant"``; None = train
            for all epochs.
        group_by_label: groups are sensitive features x label, as in the literature; False: sensitive features alone.
        device: where to train, such as "cuda".
        threads: of torch while training; None = as they are.
        random_state: an int, a RandomState, or None for numpy's global one, as everywhere in scikit-learn.
        verbose: write a line an epoch.
    """

    _: KW_ONLY
    model: Any = "mlp"
    epochs: int = 30
    batch_size: int | None = None
    optimizer: str = "adamw"
    lr: float = 0.001
    weight_decay: float = 0.01
    schedule: str = "cosine"
    first_epochs: int | None = None
    standardize: bool = True
    validation_fraction: float | None = 0.1
    selection: str = "auto"
    patience: int | None = None
    group_by_label: bool = True
    device: str = "cpu"
    threads: int | None = 1
    random_state: Any = None
    verbose: int = 0

    # a search hands these on where routing is enabled, without a set_fit_request
    __metadata_request__fit: ClassVar[dict[str, bool]] = {"sensitive_features": True}

    def _make_method(self, counts: Sequence[int] | None = None) -> Method:
        """The method, where ``counts`` are the training rows of each group."""
        raise NotImplementedError

    def fit(self, X: Any, y: Any, *, sensitive_features: Any = None, sample_weight: Any = None) -> Self:  # noqa: N803
        """Train.

        Args:
            X: inputs (n, n_features): array, frame or sparse matrix.
            y: labels (n,), of any kind.
            sensitive_features: one value a row or one column an attribute; a row with None or nan is in no group.
            sample_weight: (n,) >= 0, multiplies the loss of a row; only ratios matter. Rows of weight 0 are left out;
                held-out rows count alike.
        """
        model = self._make_model()
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=(np.float64, np.float32))  # noqa: N806
        check_classification_targets(y)
        grouped = None
        if sensitive_features is not None:
            grouped = group_rows(sensitive_features, y, by_label=self.group_by_label)
        method = self._make_method()
        check_permission(method, grouped)
        rule, seed = self._rule(grouped), self._seed()
        weight = None if sample_weight is None else _check_sample_weight(sample_weight, X, ensure_non_negative=True)
        bundle = self._bundle(X, y, grouped, weight, seed, by_group=method.groups != Groups.NONE or rule.reads_groups)
        method = self._make_method(bundle.train_counts)
        trainer = Trainer(
            self._training(len(bundle.train)),
            FirstStage(epochs=self.first_epochs),
            seed=seed,
            selection=rule,
            device=self.device,
            callbacks=[Lines()] if self.verbose else [],
        )
        with torch_threads(self.threads):
            fitted = trainer.fit(lambda: model.build(bundle.shape, bundle.n_classes), method, bundle)
        self._keep(fitted, bundle, method, rule)
        return self

    def _bundle(
        self, x: Any, y: np.ndarray, grouped: Grouped | None, weight: np.ndarray | None, seed: int, by_group: bool
    ) -> Bundle:
        rows, self.classes_ = rows_and_classes(y, weight)
        if weight is not None:
            x, y, weight = x[rows], y[rows], weight[rows]
            grouped = grouped and Grouped(grouped.names, grouped.code[rows])
        code = np.searchsorted(self.classes_, y)
        held = None
        if self.validation_fraction is not None:
            shown = grouped.code if grouped is not None and by_group else None
            held = held_out(code, shown, self.validation_fraction, seed)
        self._scaling = Scaling.of(x if held is None else x[~held], self.standardize)
        return bundle_of(x, code, self.classes_, grouped, weight, held, self._scaling)

    def _keep(self, fitted: Fitted, bundle: Bundle, method: Method, rule: Rule) -> None:
        """The attributes that end in an underscore."""
        self.network_ = fitted.model
        self.history_ = fitted.history
        if self.validation_fraction is None:
            for record in chain(*fitted.history.values()):
                del record["valid"]  # of the row that stood in
        self.selected_ = {"rule": rule.name, **fitted.selected, "value": round(fitted.selected["value"], 6)}
        self.groups_used_ = {"fit": method.groups != Groups.NONE, "select": rule.reads_groups}
        self.group_names_ = bundle.group_names
        self.group_counts_ = bundle.train_counts

    def predict(self, X: Any) -> np.ndarray:  # noqa: N803
        """Labels (n,)."""
        logits = self._logits(X)
        labels: np.ndarray = self.classes_[logits.argmax(1)]
        return labels

    def predict_proba(self, X: Any) -> np.ndarray:  # noqa: N803
        """Probability of each class, (n, n_classes), in the order of ``classes_``."""
        return torch.from_numpy(self._logits(X)).softmax(1).numpy()

    def decision_function(self, X: Any) -> np.ndarray:  # noqa: N803
        """Logits (n, n_classes); of two classes the difference (n,), above 0 where the second is predicted."""
        logits = self._logits(X)
        return logits[:, 1] - logits[:, 0] if logits.shape[1] == 2 else logits

    def report(self, X: Any, y: Any, sensitive_features: Any) -> GroupReport:  # noqa: N803
        """Accuracy of every group of these rows, with counts and intervals."""
        table, grouped = group_table(
            y, self.predict(X), sensitive_features=sensitive_features, group_by_label=self.group_by_label
        )
        return GroupReport(table, grouped.names, self.group_names_)

    def save(self, path: str | Path) -> None:
        """Write the fitted classifier to one file of numbers and JSON (safetensors), for :meth:`load`."""
        check_is_fitted(self)
        write(self, Path(path))

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """The classifier that :meth:`save` wrote; reading executes nothing that is in the file."""
        return read(cls, Path(path))

    def _logits(self, X: Any) -> np.ndarray:  # noqa: N803
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, accept_sparse="csr", dtype=(np.float64, np.float32))  # noqa: N806
        rows = Split(self._scaling(X), torch.zeros(X.shape[0], dtype=torch.int64))
        with torch_threads(self.threads):
            return predict(self.network_, rows).double().numpy()

    def _make_model(self) -> ModelSpec:
        if isinstance(self.model, ModelSpec):
            return self.model
        model: ModelSpec = named_from_plain("model", self.model, MODELS)
        return model

    def _training(self, n: int) -> Training:
        size = int(np.clip(n // STEPS, 16, LARGEST_BATCH)) if self.batch_size is None else self.batch_size
        return Training(
            epochs=self.epochs,
            batch_size=size,
            optimizer=self.optimizer,  # type: ignore[arg-type]  # checked there
            lr=self.lr,
            weight_decay=self.weight_decay,
            schedule=self.schedule,  # type: ignore[arg-type]
        )

    def _rule(self, grouped: Grouped | None) -> Rule:
        chooses = self.validation_fraction is not None and self.selection != "last"
        require(
            self.patience is None or (self.patience >= 1 and chooses),
            f"patience must be >= 1, with held-out rows that choose the epoch, or None; got {self.patience} with "
            f"validation_fraction={self.validation_fraction} and selection={self.selection!r}.",
        )
        if self.validation_fraction is None:
            require(
                self.selection in ("auto", "last"),
                f"With validation_fraction=None the last epoch is kept; selection must be 'auto' or 'last', "
                f"got {self.selection!r}.",
            )
            return SELECTIONS["last"]
        name = self.selection if self.selection != "auto" else ("average" if grouped is None else "worst_group")
        rule = lookup("selection", name, SELECTIONS)
        if rule.reads_groups and grouped is None:
            raise InvalidValueError("selection='worst_group' needs sensitive_features, and fit got none.")
        return Latest(rule.name, rule.text, rule.reads_groups, self.patience)

    def _seed(self) -> int:
        if isinstance(self.random_state, Integral):
            return int(self.random_state)
        return int(check_random_state(self.random_state).randint(2**31))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def check_permission(method: Method, grouped: Grouped | None) -> None:
    """A method that reads group labels must be given them."""
    if grouped is None and method.groups != Groups.NONE:
        raise HiddenGroupsError(
            f"Method {method.name!r} reads group labels: pass sensitive_features to fit (through a pipeline or a "
            "search with sklearn.set_config(enable_metadata_routing=True)), or use a method that does not, "
            "such as 'rmix'."
        )
