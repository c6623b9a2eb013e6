"""IRM, IB-IRM and CORAL by hand, and where their penalties vanish."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from toys import facts_of, make_batch, rng

from rmix.batch import Batch
from rmix.errors import InvalidValueError
from rmix.methods import CORAL, IBIRM, IRM
from rmix.methods.coral import FORMS, misalignment, spread
from rmix.methods.ib_irm import variance
from rmix.methods.irm import invariance, scale_slope
from rmix.methods.penalised import Penalised, Seen
from rmix.mixers import Mixup
from rmix.recipe import Outcome, Recipe, cross_entropy
from rmix.reductions import GroupAverage

LOG3 = math.log(3.0)


class Plain(nn.Module):
    """Features are the inputs; logits are (x log 3, 0), so x = 1 has chances 3/4 and 1/4."""

    def __init__(self) -> None:
        super().__init__()
        self.features, self.head = nn.Flatten(), nn.Linear(1, 2, bias=False).double()
        with torch.no_grad():
            self.head.weight.copy_(torch.tensor([[LOG3], [0.0]], dtype=torch.float64))

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.features(x))


def seen(batch: Batch, features: Tensor | None = None, mixer: Any = None) -> Seen:
    """A step on the batch, with features of one's own."""
    outcome = Recipe(mixer=mixer or Recipe().mixer).step(Plain(), replace(batch, x=batch.x[:, :1]), rng())
    return Seen(outcome, [batch.x if features is None else features])


def test_the_slope_is_the_derivative_by_the_scale() -> None:
    logits = torch.randn(7, 4, generator=torch.Generator().manual_seed(0)).double()
    y, scale = torch.tensor([0, 1, 2, 3, 0, 1, 2]), torch.ones(7).double().requires_grad_()
    (by_autograd,) = torch.autograd.grad(cross_entropy(scale[:, None] * logits, y).sum(), scale)
    torch.testing.assert_close(scale_slope(logits, y), by_autograd)


def test_the_slope_by_hand() -> None:
    """Logits (log 3, 0): the expected logit is 3/4 log 3, that of class 0 is log 3."""
    slope = scale_slope(torch.tensor([[LOG3, 0.0]] * 2), torch.tensor([0, 1]))
    assert slope.tolist() == pytest.approx([-LOG3 / 4, 3 * LOG3 / 4])


def test_irm_multiplies_even_and_odd_rows_of_a_group() -> None:
    """All x = 1. Group 0: rows 0, 2, 3 of classes 0, 1, 0, so even {0, 3}: -log 3 / 4, odd {2}: 3/4 log 3.

    Group 1 has rows 1 and 4 of class 0: (log 3 / 4)^2. Group 2 has one row and is left out.
    """
    batch = make_batch([0, 0, 1, 0, 0, 1], x=[[1.0]] * 6, group=[0, 1, 0, 0, 1, 2])
    expected = (-3 / 16 + 1 / 16) * LOG3**2 / 2
    assert invariance(seen(batch), n_groups=4).item() == pytest.approx(expected)


def test_irm_means_are_weighted_and_blind_to_rows_in_no_group() -> None:
    """Even half: classes 0 and 1 with weights 3 and 1: (3 * (-1) + 3) / 16 log 3 = 0."""
    batch = make_batch([0, 1, 1, 1], x=[[1.0]] * 4, group=[0, 0, 0, -1], weight=[3.0, 1.0, 1.0, 9.0])
    assert invariance(seen(batch), n_groups=1).item() == pytest.approx(0.0)
    without = make_batch([0, 1, 1], x=[[1.0]] * 3, group=[0, 0, 0], weight=[3.0, 1.0, 2.0])
    expected = (-3 / 4 + 2 * 3 / 4) / 5 * 3 / 4 * LOG3**2
    assert invariance(seen(without), n_groups=1).item() == pytest.approx(expected)


def test_irm_of_an_optimal_scale_is_zero() -> None:
    """Three of class 0 to one of class 1 in each half: the chances 3/4 and 1/4 are right."""
    batch = make_batch([0, 0, 0, 0, 0, 0, 1, 1], x=[[1.0]] * 8, group=[0] * 8)
    assert invariance(seen(batch), n_groups=1).item() == pytest.approx(0.0, abs=1e-15)


def test_no_pair_of_rows_no_penalty() -> None:
    """Batches of singletons: nothing, and finite gradients."""
    batch = make_batch([0, 1, 0], x=[[1.0], [2.0], [3.0]], group=[0, 1, -1])
    features = batch.x.clone().requires_grad_()
    for penalty in (invariance, variance, misalignment):
        looked = seen(batch, features)
        value = penalty(looked, n_groups=3)
        assert value.item() == 0.0
        (value + features.sum()).backward()
    assert features.grad is not None
    assert features.grad.isfinite().all()


def test_the_bottleneck_by_hand() -> None:
    """Group 0: variances 2 and 8 of two features; group 1: rows 1, 2, 4 and 5, 5, 5 have 7/3 and 0."""
    x = [[0.0, 0.0], [2.0, 4.0], [1.0, 5.0], [2.0, 5.0], [4.0, 5.0], [100.0, 100.0]]
    batch = make_batch([0] * 6, x=x, group=[0, 0, 1, 1, 1, 3])
    assert variance(seen(batch), n_groups=4).item() == pytest.approx((5 + 7 / 6) / 2)


X = [[0.0, 0.0], [2.0, 0.0], [1.0, 1.0], [1.0, 5.0]]


def test_coral_by_hand() -> None:
    """Means (1, 0) and (1, 3); covariances diag(2, 0) and diag(0, 8): 9/2 + (4 + 64)/4."""
    batch = make_batch([0] * 4, x=X, group=[0, 0, 2, 2])
    assert misalignment(seen(batch), n_groups=3).item() == pytest.approx(4.5 + 17)
    assert misalignment(seen(batch), n_groups=3, original=True).item() == pytest.approx(68 / (4 * 4))


def test_coral_takes_the_form_that_it_is_given() -> None:
    batch = make_batch([0] * 4, x=X, group=[0, 0, 1, 1])
    found = [recipe_of(CORAL(form=form)).penalties[0].of(seen(batch)).item() for form in FORMS]
    assert found == pytest.approx([4.5 + 17, 68 / 16])


def test_coral_of_equal_groups_is_zero_whatever_the_others_lack() -> None:
    batch = make_batch([0] * 5, x=[*X[:2], *X[:2], [9.0, 9.0]], group=[1, 1, 0, 0, 2])
    assert misalignment(seen(batch), n_groups=3).item() == pytest.approx(0.0)


def test_variances_count_integer_weights_as_repeated_rows() -> None:
    weighted = make_batch([0] * 4, x=X, group=[0, 0, 1, 1], weight=[2.0, 1.0, 0.0, 3.0])
    repeated = make_batch([0] * 6, x=[X[0], X[0], X[1], X[3], X[3], X[3]], group=[0, 0, 0, 1, 1, 1])
    for penalty in (variance, misalignment):
        assert penalty(seen(weighted), 2).item() == pytest.approx(penalty(seen(repeated), 2).item(), rel=1e-12)


def test_spread_is_the_mean_over_pairs() -> None:
    values = torch.randn(5, 3, 2, generator=torch.Generator().manual_seed(1)).double()
    counts = torch.tensor([1.0, 0.0, 1.0, 1.0, 1.0]).double()
    chosen = [values[i] for i in (0, 2, 3, 4)]
    pairs = [((a - b) ** 2).mean() for i, a in enumerate(chosen) for b in chosen[:i]]
    torch.testing.assert_close(spread(values, counts), torch.stack(pairs).mean())


def test_a_mixed_row_belongs_to_both_groups() -> None:
    """Rows 0 and 2 of group 0, 0 and 4 of group 1, all mixed half and half at random: the groups' sums stay."""
    batch = make_batch([0, 0, 1, 1], x=[[0.0], [2.0], [0.0], [4.0]], group=[0, 0, 1, 1])
    outcome = Recipe(mixer=Mixup()).step(Plain(), batch, rng(3))
    assert len(outcome.mixed.parts) == 2
    looked = Seen(outcome, [outcome.mixed.x])
    assert invariance(looked, 2).isfinite()
    assert variance(looked, 2).item() > 0


def recipe_of(method: Any) -> Penalised:
    recipe: Penalised = method.recipe(facts_of([4, 4]))
    return recipe


def steps(recipe: Penalised, n: int) -> list[Outcome]:
    batch = make_batch([0, 1, 0, 0], x=[[1.0], [2.0], [3.0], [0.5]], group=[0, 0, 1, 1])
    return [recipe.step(Plain(), batch, rng()) for _ in range(n)]


def test_annealing_starts_the_optimizer_afresh_once() -> None:
    """One model: the loss is base + 1 * penalty for two updates, then base + 5 * penalty."""
    found = steps(recipe_of(IRM(penalty=5.0, anneal=2)), 4)
    assert [outcome.fresh_optimizer for outcome in found] == [False, False, True, False]
    early, late = found[1].loss.item(), found[2].loss.item()
    base = steps(recipe_of(IRM(penalty=0.0, anneal=0)), 1)[0].loss.item()
    assert found[0].loss.item() == early != late == found[3].loss.item()
    assert late - base == pytest.approx(5 * (early - base))


def test_the_bottleneck_has_a_switch_of_its_own() -> None:
    found = steps(recipe_of(IBIRM(anneal=1, bottleneck=2.0, bottleneck_anneal=3)), 5)
    assert [outcome.fresh_optimizer for outcome in found] == [False, True, False, True, False]
    irm = steps(recipe_of(IRM(anneal=1)), 1)[0].loss.item()
    assert found[2].loss.item() == irm
    assert found[3].loss.item() - irm == pytest.approx(2 * (0.5 + 3.125) / 2)  # variances of (1, 2) and (3, 0.5)


def test_without_penalty_the_loss_is_the_mean_of_the_groups() -> None:
    """Losses: group 0 log(4/3) and log(10), group 1 of the fourth alone log(1 + 1/sqrt 3) and of x = 3 log(28/27)."""
    losses = [math.log(4 / 3), math.log(10), math.log(28 / 27), math.log(1 + 3**-0.5)]
    assert steps(recipe_of(IRM(penalty=0.0, anneal=0)), 1)[0].loss.item() == pytest.approx(sum(losses) / 4)
    batch = make_batch([0, 1, 0], x=[[1.0], [2.0], [3.0]], group=[0, 0, 1])
    loss = Recipe(reduction=GroupAverage(2)).step(Plain(), batch, rng()).loss.item()
    assert loss == pytest.approx(((losses[0] + losses[1]) / 2 + losses[2]) / 2)


def test_a_model_without_a_head_will_do_where_no_features_are_read() -> None:
    model, batch = nn.Linear(1, 2).double(), make_batch([0, 1, 0, 1], group=[0, 0, 1, 1])
    assert recipe_of(IRM()).step(model, batch, rng()).loss.isfinite()
    with pytest.raises(InvalidValueError, match="needs a model with modules `features` and `head`"):
        recipe_of(CORAL()).step(model, batch, rng())


def test_what_they_refuse() -> None:
    for wrong in (lambda: IRM(penalty=-1.0), lambda: IBIRM(bottleneck=-1.0), lambda: CORAL(penalty=math.inf)):
        with pytest.raises(InvalidValueError, match="penalty must be >= 0"):
            wrong()
    with pytest.raises(InvalidValueError, match="anneal must be >= 0, got -5"):
        IRM(anneal=-5)
    for method in (IRM, IBIRM, CORAL):
        with pytest.raises(InvalidValueError, match="groups_per_batch must be >= 1, got 0"):
            method(groups_per_batch=0)
    with pytest.raises(InvalidValueError, match="form must be one of mean_and_covariance, deep_coral, got 'deep'"):
        CORAL(form="deep")  # type: ignore[arg-type]
