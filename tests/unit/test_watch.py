"""A loss that is not finite ends the run."""

from __future__ import annotations

import pytest
import torch
from toys import bundle_of, make_batch, small, split_of

from rmix.batch import unmixed
from rmix.errors import DivergedError
from rmix.experiment.run import run_config
from rmix.methods import Compose
from rmix.mixers import Mixup
from rmix.recipe import Outcome
from rmix.training.settings import Training
from rmix.training.trainer import Trainer
from rmix.training.watch import EVERY, LossWatch
from rmix.weightings import Fixed


def outcome(loss: float, *weights: float) -> Outcome:
    """A step on rows of these weights."""
    batch = make_batch([0] * max(1, len(weights)), weight=weights or (1.0,))
    return Outcome(torch.tensor(loss), torch.zeros(1, 2), unmixed(batch), batch)


def test_mean_of_all_losses() -> None:
    watch = LossWatch("main", 0)
    for loss in (1.0, 2.0, 6.0):
        watch.see(outcome(loss), 0.1)
    assert watch.mean() == 3.0


@pytest.mark.parametrize("count", [EVERY - 1, EVERY, EVERY + 1, 3 * EVERY])
def test_the_mean_does_not_depend_on_how_often_it_looks(count: int) -> None:
    """1 + 2 + … + n over n is (n + 1) / 2."""
    watch = LossWatch("main", 0)
    for step in range(count):
        watch.see(outcome(step + 1.0), 0.1)
    assert watch.mean() == (count + 1) / 2


@pytest.mark.parametrize("loss", [float("nan"), float("inf"), -float("inf")])
def test_the_message_says_where_and_how(loss: float) -> None:
    watch = LossWatch("notes", 7)
    watch.see(outcome(0.5, 900.0), 0.3)
    watch.see(outcome(loss, 2.0, 81.0), 0.25)
    watch.see(outcome(float("nan"), 5.0), 0.2)
    with pytest.raises(DivergedError) as error:
        watch.mean()
    assert str(error.value) == (
        f"The loss became {loss} in stage 'notes', epoch 7, step 1 (learning rate 0.25, largest weight 81); "
        "lower the learning rate or the weights. The last good checkpoint is kept."
    )


def test_parameters_show_what_the_last_step_did() -> None:
    """Every loss was good, and the last of two steps broke the weights."""
    watch, model = LossWatch("main", 3), torch.nn.Linear(2, 1)
    for rate, weight in ((0.1, 1.0), (0.2, 7.0)):
        watch.see(outcome(1.0, weight), rate)
    watch.mean()
    watch.check(model)
    with torch.no_grad():
        model.bias.fill_(float("inf"))
    with pytest.raises(DivergedError) as error:
        watch.check(model)
    assert str(error.value).startswith(
        "The parameters of the model became nan or infinite in stage 'main', epoch 3, step 1 "
        "(learning rate 0.2, largest weight 7);"
    )


def test_it_stops_within_an_epoch_and_counts_steps_from_its_start() -> None:
    watch = LossWatch("main", 0)
    for _ in range(EVERY + 3):
        watch.see(outcome(1.0), 0.1)
    watch.see(outcome(float("nan")), 0.1)
    for _ in range(EVERY - 5):
        watch.see(outcome(1.0), 0.1)
    with pytest.raises(DivergedError, match=rf"step {EVERY + 3} "):
        watch.see(outcome(1.0), 0.1)  # the second look, before the epoch is over


def test_the_largest_weight_is_that_of_a_row_not_its_share_of_a_mix() -> None:
    """Row 2 weighs 40; lambda splits that between two parts, but the user set 40."""
    split = split_of([0, 1, 0, 1], group=[0, 0, 1, 1], x=torch.tensor([[1e30, 1.0]] * 4))
    method = Compose(weighting=Fixed(table=(1.0, 1.0, 40.0, 1.0)), mixer=Mixup(1.0))
    training = Training(epochs=5, batch_size=4, lr=1e10)
    config = small(training=training)
    with pytest.raises(DivergedError, match=r"largest weight 40\)"):
        Trainer(training).fit(lambda: config.model.build((2,), 2), method, bundle_of(train=split))


def test_a_run_that_diverges_raises_without_a_store_too() -> None:
    with pytest.raises(DivergedError, match="learning rate 1e\\+30"):
        run_config(small(training=Training(epochs=3, batch_size=16, lr=1e30)))
