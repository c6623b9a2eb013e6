"""Any method of rmix in the Trainer of Hugging Face: ``pip install 'rmix[huggingface]'``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, cast

import numpy as np
from torch import nn

from rmix.errors import require
from rmix.loop import HeadAt, Notes, Objective, WithIndex
from rmix.loop.rows import membership
from rmix.metrics import GroupTable
from rmix.training import checkpoint

try:
    from transformers import Trainer, TrainerCallback
    from transformers.trainer_utils import get_last_checkpoint
except ImportError as error:
    raise ImportError("rmix.integrations.hugging_face needs transformers; pip install 'rmix[huggingface]'") from error

FILE, KEY = "rmix.pt", "hugging face"  # beside the other files of a checkpoint


class RMixTrainer(Trainer):
    """A Trainer whose loss is an objective's, or whose ERM run is noted for the objective of the next.

    Everything else is Trainer's: arguments, precision, schedules, logging, evaluation, checkpoints.
    Row numbers are added to the training items here. Checkpoints hold what the objective has
    learned, or the notes so far, so ``train(resume_from_checkpoint=...)`` draws what an
    uninterrupted run draws.

    Args:
        rmix: an objective, of the training rows in their order; or notes, where the loss is the
            model's own and its predictions are noted.
        head: name of the model's module before which rows are mixed, with ``mix="manifold"``.
        args: as of Trainer.
    """

    def __init__(self, *args: Any, rmix: Objective | Notes, head: str = "classifier", **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.rmix, self.head = rmix, head
        self.train_dataset = WithIndex(self.train_dataset)
        self.add_callback(_Keep(rmix))
        if isinstance(rmix, Objective):
            HeadAt(cast(nn.Module, self.model), head)  # a name that is wrong is refused now
            self.model_accepts_loss_kwargs = False  # the loss of a batch is its mean; Trainer divides it by the pieces

    def train(self, resume_from_checkpoint: str | bool | None = None, *args: Any, **kwargs: Any) -> Any:
        """As of Trainer; the objective or the notes go on, too."""
        folder = resume_from_checkpoint
        if folder is True:
            folder = get_last_checkpoint(self.args.output_dir)  # type: ignore[no-untyped-call]
        if isinstance(folder, str):
            self.rmix.load_state_dict(checkpoint.load(Path(folder) / FILE, KEY)["state"])
        return super().train(resume_from_checkpoint, *args, **kwargs)

    def compute_loss(
        self, model: nn.Module, inputs: dict[str, Any], return_outputs: bool = False, num_items_in_batch: Any = None
    ) -> Any:
        """The objective's loss of a training batch; the model's own while notes are taken and in evaluation."""
        index = inputs.pop("index", None)
        if not model.training or index is None:
            return super().compute_loss(model, inputs, return_outputs, num_items_in_batch)
        if isinstance(self.rmix, Objective):
            x, y = {name: value for name, value in inputs.items() if name != "labels"}, inputs["labels"]
            with self.accelerator.autocast():  # the model's own covers its whole forward pass only
                outcome = self.rmix.step(HeadAt(model, self.head), x, y, index)
            return (outcome.loss, {"logits": outcome.logits}) if return_outputs else outcome.loss
        loss, outputs = super().compute_loss(model, inputs, True, num_items_in_batch)
        self.rmix.observe(index, outputs["logits"], inputs["labels"])
        return (loss, outputs) if return_outputs else loss

    def _get_train_sampler(self, train_dataset: Any = None) -> Any:
        """The rows as the method draws them; accelerate deals batches out to several processes."""
        if isinstance(self.rmix, Objective):
            return self.rmix.sampler(self._train_batch_size, shares=False)
        return super()._get_train_sampler(train_dataset)

    def _set_signature_columns_if_needed(self) -> None:
        """Row numbers are no argument of the model, and are kept all the same."""
        super()._set_signature_columns_if_needed()
        columns: list[str] = self._signature_columns or []
        if "index" not in columns:
            columns.append("index")


class _Keep(TrainerCallback):
    """Tells an objective or notes of epochs, and keeps them with every checkpoint."""

    def __init__(self, rmix: Objective | Notes) -> None:
        self.rmix = rmix

    def on_epoch_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        epoch = int(state.epoch or 0)
        if isinstance(self.rmix, Objective):
            self.rmix.set_epoch(epoch)
        elif self.rmix.n_epochs < epoch:  # kept after the last step of an epoch, before its end
            self.rmix.end_epoch()

    def on_epoch_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        if isinstance(self.rmix, Notes):
            self.rmix.end_epoch()

    def on_save(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        kept = self.rmix.state_dict()
        if state.is_world_process_zero:
            checkpoint.save(Path(args.output_dir) / f"checkpoint-{state.global_step}" / FILE, KEY, {"state": kept})


def group_metrics(group: Any) -> Callable[[Any], Mapping[str, float]]:
    """For Trainer's ``compute_metrics``: average, worst-group accuracy, and that of each group.

    Args:
        group: (n,) groups of the evaluation rows in their order, -1 for none, or (n, n_groups) bool.

    Example:
        >>> from transformers import EvalPrediction
        >>> measure = group_metrics([0, 0, 1])
        >>> logits = np.array([[2.0, 1.0], [2.0, 1.0], [1.0, 2.0]])
        >>> measure(EvalPrediction(logits, np.array([0, 1, 1])))["worst_group_accuracy"]
        0.5
    """

    member = membership(group)

    def measure(shown: Any) -> Mapping[str, float]:
        right: np.ndarray = shown.predictions.argmax(1) == shown.label_ids
        require(len(member) == len(right), f"{len(member)} rows have groups, but {len(right)} were evaluated.")
        table = GroupTable.of(right, member)
        by_group = {f"accuracy_group_{number}": value for number, value in enumerate(table.accuracy.tolist())}
        return {"accuracy": table.average, "worst_group_accuracy": table.worst, **by_group}

    return measure
