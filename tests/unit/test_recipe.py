"""The one step, by hand."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest
import torch
from torch import Tensor
from toys import make_batch, rng

from rmix.batch import Batch, Mixed, Part
from rmix.errors import HiddenGroupsError
from rmix.recipe import Facts, Mixer, Recipe, Rows, Sampler, Weighting, average, cross_entropy


def part(weight: list[float]) -> Part:
    return Part(torch.zeros(len(weight), dtype=torch.int64), torch.tensor(weight))


def test_average_divides_by_the_rows_not_by_the_weights() -> None:
    """(2 * 3 + 4 * 5) / 2 = 13."""
    mixed = Mixed(torch.zeros(2, 1), (part([2.0, 4.0]),))
    assert average([torch.tensor([3.0, 5.0])], mixed).item() == 13.0


def test_average_adds_the_parts_of_a_row() -> None:
    """Row one 0.75 * 2 + 0.25 * 6 = 3, row two 0.75 * 4 + 0.25 * 8 = 5; their mean is 4."""
    mixed = Mixed(torch.zeros(2, 1), (part([0.75, 0.75]), part([0.25, 0.25])))
    assert average([torch.tensor([2.0, 4.0]), torch.tensor([6.0, 8.0])], mixed).item() == 4.0


def test_average_wants_one_loss_a_part() -> None:
    with pytest.raises(ValueError, match="zip"):
        average([torch.ones(2)], Mixed(torch.zeros(2, 1), (part([1.0, 1.0]), part([1.0, 1.0]))))


def test_cross_entropy_by_hand() -> None:
    """Logits (log 3, 0) give chances 3/4 and 1/4."""
    logits = torch.tensor([[math.log(3.0), 0.0]] * 2)
    loss = cross_entropy(logits, torch.tensor([0, 1]))
    assert loss.tolist() == pytest.approx([math.log(4 / 3), math.log(4)], rel=1e-6)


def two_logits(x: Tensor) -> Tensor:
    """x log 3 against 0: chances 3/4 and 1/4 at x = 1, 1/2 and 1/2 at x = 0."""
    return torch.cat([x * math.log(3.0), torch.zeros_like(x)], dim=1)


class Doubled(Weighting):
    def __call__(self, batch: Batch) -> Tensor:
        return 2 * batch.weight


def test_a_step_by_hand() -> None:
    """Weights 2 and 6: (2 log(4/3) + 6 log 2) / 2."""
    batch = make_batch([0, 1], x=[[1.0], [0.0]], weight=[1.0, 3.0])
    outcome = Recipe(weighting=Doubled()).step(two_logits, batch, rng())
    assert outcome.loss.item() == pytest.approx(math.log(4 / 3) + 3 * math.log(2), rel=1e-6)
    assert outcome.mixed.clean
    assert batch.weight.tolist() == [1.0, 3.0]


def test_weights_double_the_loss_and_integers_repeat_rows() -> None:
    """Weight 2 on a row is the row twice, up to the number of rows divided by: 2 rows against 3."""
    weighted = make_batch([0, 1], x=[[1.0], [0.3]], weight=[2.0, 1.0])
    repeated = make_batch([0, 0, 1], x=[[1.0], [1.0], [0.3]])
    losses = [Recipe().step(two_logits, batch, rng()).loss.item() for batch in (weighted, repeated)]
    assert 2 * losses[0] == pytest.approx(3 * losses[1], rel=1e-12)


class Halves(Mixer):
    """Doubles the input before mixing; after mixing the model sees it plus one."""

    def where(self, model, rng):  # type: ignore[no-untyped-def]
        return (lambda x: 2 * x), (lambda x: model(x + 1))


def test_a_mixer_may_cut_the_model_in_two() -> None:
    batch = make_batch([0], x=[[5.0]])
    outcome = Recipe(mixer=Halves()).step(two_logits, batch, rng())
    assert outcome.logits[0, 0].item() == pytest.approx(11 * math.log(3.0))


def test_the_order_is_weigh_mix_predict_compare_reduce() -> None:
    order: list[str] = []

    class W(Weighting):
        def __call__(self, batch: Batch) -> Tensor:
            order.append("weigh")
            return batch.weight

    class M(Mixer):
        def __call__(self, batch: Batch, rng: np.random.Generator) -> Mixed:
            order.append("mix")
            return super().__call__(batch, rng)

    def note(name, result):  # type: ignore[no-untyped-def]
        return lambda *given: order.append(name) or result(*given)

    recipe = Recipe(weighting=W(), mixer=M(), loss=note("compare", cross_entropy), reduction=note("reduce", average))
    recipe.step(note("predict", two_logits), make_batch([0, 1]), rng())
    assert order == ["weigh", "mix", "predict", "compare", "reduce"]


def test_the_neutral_sampler_takes_every_row_once_in_the_order_of_its_stream() -> None:
    rows = Rows(torch.zeros(50, dtype=torch.int64))
    order = Sampler()(rows, rng(3), 8)
    assert sorted(order.tolist()) == list(range(50))
    assert order.tolist() != list(range(50))
    assert torch.equal(order, Sampler()(rows, rng(3), 8))


class Learns(Weighting):
    memory = ("level",)

    def __init__(self) -> None:
        self.level, self.scratch = torch.tensor(1.0), torch.tensor(1.0)


def test_only_what_a_weighting_names_is_kept() -> None:
    first, second = Learns(), Learns()
    first.level, first.scratch = torch.tensor(5.0), torch.tensor(5.0)
    second.restore(first.state())
    assert (second.level.item(), second.scratch.item()) == (5.0, 1.0)
    assert Weighting().state() == {}


@dataclass
class Counts(Recipe):
    """A recipe with a memory of its own."""

    memory: ClassVar[tuple[str, ...]] = ("count",)

    def __post_init__(self) -> None:
        self.count = torch.tensor(0)


def test_a_recipe_keeps_its_own_memory_and_that_of_its_parts() -> None:
    first, second = Counts(weighting=Learns()), Counts(weighting=Learns())
    first.count, first.weighting.level = torch.tensor(7), torch.tensor(5.0)
    assert first.state() == {"count": torch.tensor(7), "weighting.level": torch.tensor(5.0)}
    second.restore(first.state())
    assert (second.count.item(), second.weighting.level.item()) == (7, 5.0)


def test_hidden_group_sizes_are_an_error() -> None:
    facts = Facts(4, 2, (2, 2), group_counts=(3, 1), group_rows=(3, 1))
    assert [counts.tolist() for counts in facts.known_groups()] == [[3, 1], [3, 1]]
    with pytest.raises(HiddenGroupsError, match="Group sizes are hidden"):
        replace(facts, group_counts=None).known_groups()
