"""Learning from failure."""

from __future__ import annotations

import copy
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn
from toys import KilledError, StopAt, make_batch, rng, same, small

from rmix.batch import Batch
from rmix.errors import InvalidValueError
from rmix.experiment.run import run_config
from rmix.losses import GeneralizedCrossEntropy
from rmix.methods import LfF
from rmix.methods.lff import Difficulty, TwinRecipe
from rmix.recipe import Accompanied, Facts
from rmix.testing.runs import fit


def doubles(values: list[list[float]]) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.float64)


def test_the_formula_as_printed() -> None:
    """Losses 1 and 3 of the twin's under both: 3/4; equal losses: 1/2; a row that only the twin has right: 0."""
    difficulty = Difficulty(3, 2, decay=0.0, normalise=False)
    share = difficulty(make_batch([0, 1, 1]), doubles([[1.0, 2.0, 5.0], [3.0, 2.0, 0.0]]))
    assert share.tolist() == pytest.approx([0.75, 0.5, 0.0], abs=1e-7)


def test_losses_are_compared_within_their_class() -> None:
    """Class 0: the model's 1, 2 become 1/2, 1, the twin's 4, 1 become 1, 1/4; row 2 is alone in its class."""
    difficulty = Difficulty(3, 2, decay=0.0, normalise=True)
    share = difficulty(make_batch([0, 0, 1]), doubles([[1.0, 2.0, 9.0], [4.0, 1.0, 0.1]]))
    assert share.tolist() == pytest.approx([2 / 3, 1 / 5, 1 / 2], abs=1e-7)


def test_losses_are_smoothed_from_the_second_time_on() -> None:
    """First 2, then 0.7 * 2 + 0.3 * 12 = 5."""
    difficulty, batch = Difficulty(4, 2, decay=0.7, normalise=True), make_batch([1])
    batch = replace(batch, index=torch.tensor([2]))
    difficulty(batch, doubles([[2.0], [1.0]]))
    assert difficulty.losses[0].tolist() == [0, 0, 2, 0]
    difficulty(batch, doubles([[12.0], [1.0]]))
    assert difficulty.losses[:, 2].tolist() == pytest.approx([5.0, 1.0])
    assert difficulty.y.tolist() == [2, 2, 1, 2]  # 2 = not seen yet


def test_the_largest_of_a_class_may_lie_in_an_earlier_batch() -> None:
    difficulty = Difficulty(2, 2, decay=0.0, normalise=True)
    difficulty(make_batch([0]), doubles([[8.0], [2.0]]))
    later = replace(make_batch([0]), index=torch.tensor([1]))
    assert difficulty(later, doubles([[4.0], [1.0]])).item() == pytest.approx(0.5, abs=1e-7)  # both are halves


def test_a_row_of_weight_zero_is_not_there() -> None:
    difficulty = Difficulty(2, 2, decay=0.0, normalise=True)
    difficulty(make_batch([0, 0], weight=[1.0, 0.0]), doubles([[1.0, 9.0], [1.0, 9.0]]))
    assert difficulty.losses.tolist() == [[1.0, 0.0], [1.0, 0.0]]
    assert difficulty.y.tolist() == [0, 2]


def test_generalised_cross_entropy() -> None:
    """A chance of 1/4: (1 - 1/2) / 0.5 = 1; q = 1 gives 1 - p; q near 0 gives cross entropy."""
    logits, y = doubles([[0.0, math.log(3)]]), torch.tensor([0])
    assert GeneralizedCrossEntropy(0.5)(logits, y).item() == pytest.approx(1.0)
    assert GeneralizedCrossEntropy(1.0)(logits, y).item() == pytest.approx(0.75)
    assert GeneralizedCrossEntropy(1e-6)(logits, y).item() == pytest.approx(math.log(4), rel=1e-5)


def test_its_gradient_is_that_of_cross_entropy_times_p_to_the_q() -> None:
    logits = doubles([[0.0, math.log(3)], [2.0, -1.0]]).requires_grad_()
    y = torch.tensor([0, 1])
    chance = logits.detach().softmax(1).gather(1, y[:, None])
    (ours,) = torch.autograd.grad(GeneralizedCrossEntropy(0.7)(logits, y).sum(), logits)
    (plain,) = torch.autograd.grad(nn.functional.cross_entropy(logits, y, reduction="sum"), logits)
    torch.testing.assert_close(ours, chance**0.7 * plain)


def twins() -> Accompanied:
    model, twin = nn.Linear(1, 2).double(), nn.Linear(1, 2).double()
    with torch.no_grad():
        for layer, slope in ((model, 0.0), (twin, 1.0)):
            layer.weight.copy_(doubles([[0.0], [slope]]))
            layer.bias.zero_()
    return Accompanied(model, twin)


def step(model: Accompanied, batch: Batch) -> torch.Tensor:
    recipe = LfF(decay=0.0, normalise=False, q=1.0).recipe(Facts(len(batch), 2, (1, 1)))
    return recipe.step(model, batch, rng()).loss


def test_a_step_by_hand() -> None:
    """Logits 0, 0 of the model lose log 2 each; the twin's 0, log 3 give chances 1/4 and 3/4.

    The twin loses log 4 and log 4/3, so shares are 2/3 and log(4/3) / log(8/3); its own loss is 1 - p.
    """
    batch = make_batch([0, 1], x=[[math.log(3)]] * 2)
    shares = 2 / 3, math.log(4 / 3) / math.log(8 / 3)
    expected = math.log(2) * sum(shares) / 2 + (0.75 + 0.25) / 2
    assert step(twins(), batch).item() == pytest.approx(expected, rel=1e-7)


def test_neither_learns_from_the_loss_of_the_other() -> None:
    """The model's gradient is that of its cross entropy at fixed shares, the twin's that of its own loss."""
    model, batch = twins(), make_batch([0, 1], x=[[math.log(3)]] * 2)
    step(model, batch).backward()  # type: ignore[no-untyped-call]
    shares = torch.tensor([2 / 3, math.log(4 / 3) / math.log(8 / 3)], dtype=torch.float64)
    alone = twins()
    losses = nn.functional.cross_entropy(alone.model(batch.x), batch.y, reduction="none")
    chance = alone.companion(batch.x).softmax(1).gather(1, batch.y[:, None])
    ((shares * losses).mean() + (1 - chance).mean()).backward()
    for ours, theirs in zip(model.parameters(), alone.parameters(), strict=True):
        torch.testing.assert_close(ours.grad, theirs.grad, rtol=1e-6, atol=1e-12)


def test_the_twin_begins_as_the_model_and_parts_from_it() -> None:
    model = nn.Linear(2, 2)
    recipe = LfF().recipe(Facts(4, 2, (2, 2)))
    both = recipe.accompany(copy.deepcopy(model))
    assert isinstance(both, Accompanied)
    assert torch.equal(both.model.weight, both.companion.weight)
    assert both.model.weight.data_ptr() != both.companion.weight.data_ptr()


def test_the_memory_is_that_of_the_rows() -> None:
    recipe = fit(LfF()).recipe
    assert isinstance(recipe, TwinRecipe)
    assert sorted(recipe.state()) == ["difficulty.losses", "difficulty.y"]
    assert np.bincount(recipe.difficulty.y.numpy(), minlength=3).tolist() == [36, 36, 0]  # every row was seen


@pytest.mark.parametrize("epoch", [1, 2])
def test_a_killed_run_ends_as_if_it_had_not_been(epoch: int, tmp_path: Path) -> None:
    config = small(LfF())
    with pytest.raises(KilledError):
        run_config(config, store=tmp_path, callbacks=[StopAt("main", epoch, in_the_middle=True)])
    assert same(run_config(config, store=tmp_path), run_config(config))


def test_bad_settings() -> None:
    with pytest.raises(InvalidValueError, match=r"decay must be in \[0, 1\), got 1.0"):
        LfF(decay=1.0)
    with pytest.raises(InvalidValueError, match=r"q must be in \(0, 1\], got 0.0"):
        LfF(q=0.0)
