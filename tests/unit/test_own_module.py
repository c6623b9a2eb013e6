"""Networks made in Python: as they are, or split before their last linear layer."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn
from toys import SMALL_MOONS, same

import rmix
from rmix.errors import InvalidValueError
from rmix.experiment.config import config_from
from rmix.methods import RMix
from rmix.mixers.manifold import cut_model
from rmix.models import OwnModule

QUICK: dict[str, Any] = {"dataset": SMALL_MOONS, "training": {"epochs": 2}}


class Theirs(nn.Module):
    """Layers of other names, the last one registered first."""

    def __init__(self, classes: int = 2) -> None:
        super().__init__()
        self.score = nn.Linear(5, classes)
        self.gate, self.body = nn.Linear(2, 5), nn.Linear(2, 5)

    def forward(self, x: Tensor) -> Tensor:
        return self.score(self.body(x).tanh() * self.gate(x).sigmoid())


class InTwoParts(nn.Module):
    """Features and a head, and maybe something between them."""

    def __init__(self, between: nn.Module) -> None:
        super().__init__()
        self.features, self.between = nn.Linear(2, 4), between
        self.head = nn.Sequential(nn.ReLU(), nn.Linear(4, 2))

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.between(self.features(x)))


def seeded(make: Any, *arguments: Any) -> Any:
    torch.manual_seed(0)
    return make(*arguments)


X = torch.linspace(-1, 2, 8).view(4, 2)


def test_it_is_cut_before_the_linear_layer_that_runs_last() -> None:
    theirs = seeded(Theirs)
    model = OwnModule.of(theirs).build((2,), 2)
    before, after = cut_model(model, None)
    assert torch.equal(before(X), theirs.body(X).tanh() * theirs.gate(X).sigmoid())
    assert torch.equal(after(before(X)), theirs(X))
    assert torch.equal(model.head.weight, theirs.score.weight)
    assert {id(p) for p in model.parameters()}.isdisjoint(id(p) for p in theirs.parameters())
    assert isinstance(theirs.score, nn.Linear), "what the user has stays whole"


def test_features_and_head_are_taken_where_they_are_the_whole() -> None:
    own = OwnModule.of(seeded(InTwoParts, nn.Identity())).build((2,), 2)
    assert (type(own).__name__, len(own.head)) == ("InTwoParts", 2)
    other = OwnModule.of(seeded(InTwoParts, nn.Tanh())).build((2,), 2)
    assert type(other.head) is nn.Linear, "its own parts leave something out, so it is cut elsewhere"
    assert torch.equal(other(X), seeded(InTwoParts, nn.Tanh())(X))


@pytest.mark.parametrize(
    ("make", "shape"),
    [
        (lambda: nn.Linear(3, 2), (3,)),
        (lambda: nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.Flatten(), nn.Linear(144, 2)), (3, 8, 8)),
        (lambda: nn.Sequential(nn.Embedding(7, 3), nn.Flatten(), nn.Linear(15, 2)), (5,)),
        (lambda: nn.Linear(3, 2).double(), (3,)),
    ],
    ids=["one layer", "images", "numbers of words", "float64"],
)
def test_networks_of_all_kinds(make: Any, shape: tuple[int, ...]) -> None:
    model = OwnModule.of(seeded(make)).build(shape, 2)
    assert isinstance(model.head, nn.Linear)


@pytest.mark.parametrize("method", ["erm", RMix(mix="manifold", window=1), "dfr"], ids=str)
def test_any_method_trains_it(method: Any) -> None:
    theirs = seeded(Theirs)
    start = [p.clone() for p in theirs.parameters()]
    run = rmix.train(method=method, model=theirs, **QUICK)
    assert run.result.config["model"] == {"name": "Theirs", "checksum": OwnModule.of(theirs).checksum}
    assert not torch.equal(run.model.head.weight, theirs.score.weight)
    assert all(torch.equal(a, b) for a, b in zip(theirs.parameters(), start, strict=True)), "a copy is trained"
    assert same(run, rmix.train(method=method, model=theirs, **QUICK))


def test_other_weights_and_other_layers_are_another_model(tmp_path: Any) -> None:
    first = rmix.train(method="erm", model=seeded(Theirs), store=tmp_path, **QUICK)
    again = rmix.train(method="erm", model=seeded(Theirs), store=tmp_path, **QUICK)
    assert again.reused
    assert same(first, again)
    other = seeded(Theirs)
    nn.init.zeros_(other.score.bias)
    assert not rmix.train(method="erm", model=other, store=tmp_path, **QUICK).reused
    with_relu, with_tanh = (nn.Sequential(seeded(nn.Linear, 2, 2), f()) for f in (nn.ReLU, nn.Tanh))
    assert OwnModule.of(with_relu) != OwnModule.of(with_tanh)
    assert config_from({"model": other}).model == OwnModule.of(other)


class Twice(nn.Module):
    """One layer that runs twice."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(2, 2)

    def forward(self, x: Tensor) -> Tensor:
        return self.layer(self.layer(x).tanh())


@pytest.mark.parametrize(
    ("module", "message"),
    [
        (
            nn.Sequential(nn.Conv1d(2, 2, 1), nn.Flatten()),
            "no linear layer runs; give it modules `features` and `head`",
        ),
        (
            nn.Sequential(nn.Linear(2, 2), nn.Softmax(1)),
            "its output is not that of its last linear layer, '0'; give it",
        ),
        (Twice(), "Twice cannot be split into features and a head: its output is not that of its last"),
        (nn.Linear(3, 2), r"Linear does not take inputs of shape \(2,\): mat1 and mat2 shapes cannot be multiplied"),
        (nn.Linear(2, 5), "Linear gives 5 logits, where there are 2 classes"),
        (nn.Unflatten(1, (2, 1)), r"Unflatten must give logits \(rows, classes\), got \(2, 2, 1\) for 2 rows"),
        (nn.LazyLinear(2), r"LazyLinear has no size yet at \['weight'\]; run it on an input once"),
        (nn.GRU(2, 2), r"GRU must give logits \(rows, classes\), got tuple for 2 rows"),
    ],
)
def test_what_cannot_be_used_is_refused_in_a_sentence(module: nn.Module, message: str) -> None:
    shape = (2, 1) if isinstance(module, nn.Sequential) and isinstance(module[0], nn.Conv1d) else (2,)
    with pytest.raises(InvalidValueError, match=message) as caught:
        OwnModule.of(module).build(shape, 2)
    assert len(str(caught.value).splitlines()) == 1
