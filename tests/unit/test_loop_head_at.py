"""Any model as features and a head, without its consent."""

from __future__ import annotations

import copy
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from rmix import HeadAt, Notes, Objective, RMix
from rmix.methods import CORAL, LfF

X, Y, ROWS = torch.arange(12.0).view(4, 3) / 12, torch.tensor([0, 1, 0, 1]), torch.arange(4)


class Theirs(nn.Module):
    """A model of somebody else: two inputs, layers of other names, an object as output."""

    def __init__(self) -> None:
        super().__init__()
        self.body, self.score = nn.Sequential(nn.Linear(3, 5), nn.Tanh()), nn.Linear(5, 2)
        self.unused = nn.Linear(5, 2)

    def forward(self, values: Tensor, mask: Tensor) -> SimpleNamespace:
        return SimpleNamespace(logits=self.score(self.body(values * mask)))


def theirs() -> Theirs:
    torch.manual_seed(0)
    return Theirs()


INPUTS = {"values": X, "mask": torch.ones(4, 1)}


def test_features_then_head_is_the_model() -> None:
    net = theirs()
    view = HeadAt(net, "score")
    assert torch.equal(view.features(INPUTS), net.body(X))
    assert torch.equal(view.head(view.features(INPUTS)), net(**INPUTS).logits)
    assert torch.equal(view(INPUTS), net(**INPUTS).logits)


def test_a_nested_module_and_a_plain_tensor() -> None:
    net = nn.Sequential(nn.Linear(3, 4), nn.Sequential(nn.ReLU(), nn.Linear(4, 2)))
    view = HeadAt(net, "1.1")
    assert torch.equal(view.features(X), net[0](X).relu())
    assert torch.equal(view(X), net(X))


def test_hidden_features_are_mixed_by_hand() -> None:
    """The mixed input of the head is lambda of each row's features and 1 - lambda of its partner's."""
    net, notes = theirs(), Notes.of([[True], [False], [True], [True]])
    objective = Objective(RMix(mix="manifold", mix_prob=1.0), Y, notes=notes)
    outcome = objective.step(HeadAt(net, "score"), INPUTS, Y, ROWS)
    own, other = outcome.mixed.parts
    lam = own.weight / objective.weights()
    assert lam.unique().numel() == 1
    partners = [row for row in range(4) if not torch.equal(own.weight[row], other.weight[row])]
    assert partners
    hidden = net.body(X)
    for row in range(4):
        blends = [lam[0] * hidden[row] + (1 - lam[0]) * hidden[partner] for partner in range(4)]
        assert any(torch.allclose(outcome.mixed.x[row], blend, atol=1e-6) for blend in blends)
    outcome.loss.backward()
    assert net.body[0].weight.grad is not None
    assert net.body[0].weight.grad.abs().sum() > 0


def test_a_view_holds_no_weights_of_its_own() -> None:
    net = theirs()
    view = HeadAt(net, "score")
    assert [id(p) for p in view.parameters()] == [id(p) for p in net.parameters()]
    assert list(view.state_dict()) == [f"model.{name}" for name in net.state_dict()]
    assert not net.score._forward_pre_hooks
    view.features(INPUTS)
    assert not net.score._forward_pre_hooks


def test_a_copy_is_of_the_copy() -> None:
    view = HeadAt(theirs(), "score")
    other = copy.deepcopy(view)
    with torch.no_grad():
        view.model.body[0].weight.zero_()
    assert not torch.equal(view.features(INPUTS), other.features(INPUTS))
    assert other.head is other.model.score


def test_penalties_and_companions_see_it() -> None:
    group = torch.tensor([0, 0, 1, 1])
    coral = Objective(CORAL(), Y, group)
    coral(HeadAt(theirs(), "score"), INPUTS, Y, ROWS).backward()
    lff = Objective(LfF(), Y)
    lff(lff.accompany(HeadAt(theirs(), "score")), INPUTS, Y, ROWS).backward()


def test_a_compiled_model_is_seen_through() -> None:
    net = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
    view = HeadAt(torch.compile(net, backend="eager"), "2")
    assert torch.equal(view.features(X), net[1](net[0](X)))
    assert torch.equal(view(X), net(X))


@pytest.mark.parametrize(
    ("head", "message"),
    [
        ("fc", r"Theirs has no module 'fc' for a head; it has body, score, unused"),
        ("", r"Theirs has no module ''"),
    ],
)
def test_a_head_that_is_not_there(head: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        HeadAt(theirs(), head)


def test_a_head_that_is_not_called() -> None:
    with pytest.raises(ValueError, match="Theirs gave its output without calling the module named as its head"):
        HeadAt(theirs(), "unused").features(INPUTS)


@pytest.mark.parametrize("output", [(X, Y), {"scores": X}])
def test_an_output_without_logits(output: Any) -> None:
    class Odd(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.head = nn.Identity()

        def forward(self, x: Tensor) -> Any:
            return output

    with pytest.raises(ValueError, match="must give logits, or an object with `logits`; got"):
        HeadAt(Odd(), "head")(X)


def test_columns_of_a_dictionary_are_counted() -> None:
    with pytest.raises(ValueError, match=r"4 row numbers \(index\) but 3 rows of mask"):
        Objective("erm", Y)(HeadAt(theirs(), "score"), {"values": X, "mask": torch.ones(3, 1)}, Y, ROWS)
