"""The one call of a user's own loop: what it returns, remembers and refuses."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.utils.data import DataLoader, TensorDataset

from rmix import Notes, Objective, RMix, RMixAware, WithIndex
from rmix.batch import Groups
from rmix.errors import CheckpointError
from rmix.methods import ERM, DomainMix, Fish, Method
from rmix.models import MLP
from rmix.recipe import Facts, Recipe, Weighting
from rmix.streams import stream

N = 24
X = torch.from_numpy(stream(0, "test").normal(size=(N, 3))).float()
Y, GROUP = torch.arange(N) % 2, torch.tensor([0, 1] * 8 + [2, 3] * 3 + [2, 1])
NOTES = Notes.of(stream(1, "test").random((N, 4)) > 0.3)
ROWS = torch.arange(8)


def model(dtype: torch.dtype = torch.float32) -> nn.Module:
    torch.manual_seed(0)
    return MLP(width=4, depth=1).build((3,), 2).to(dtype)


def objective(method: str | Method = "rmix", **given: Any) -> Objective:
    notes = NOTES if isinstance(method, RMix) or method in ("rmix", "jtt") else ()
    return Objective(method, **{"y": Y, "group": GROUP, "notes": notes, **given})


def loss_of(made: Objective, net: nn.Module | None = None, rows: Tensor = ROWS) -> Tensor:
    return made(model() if net is None else net, X[rows], Y[rows], rows)


def gradient(net: nn.Module) -> Tensor:
    return torch.cat([p.grad.flatten() for p in net.parameters() if p.grad is not None])


def test_the_loss_is_that_of_the_formula() -> None:
    """Weights of groups times cross entropy, mean over rows; mixing is off."""
    made = objective(RMixAware(mix_prob=0.0))
    net = model()
    losses = functional.cross_entropy(net(X[ROWS]), Y[ROWS], reduction="none")
    by_hand = sum(made.weights()[row] * losses[row] for row in range(8)) / 8
    assert loss_of(made, net).item() == pytest.approx(by_hand.item())
    assert made.weights()[GROUP == 3].unique().item() > made.weights()[GROUP == 0].unique().item()


def test_weights_of_the_users_own_multiply() -> None:
    own = torch.arange(1.0, N + 1)
    ones, mine = objective(RMixAware()).weights(), objective(RMixAware(), weight=own).weights()
    assert torch.allclose(mine, ones * own)
    assert loss_of(objective("erm", weight=2 * torch.ones(N))).item() == pytest.approx(
        2 * loss_of(objective("erm")).item()
    )


def test_a_step_tells_what_it_was_made_of() -> None:
    outcome = objective(RMix(mix_prob=1.0)).step(model(), X[ROWS], Y[ROWS], ROWS)
    assert len(outcome.mixed.parts) == 2
    assert outcome.logits.shape == (8, 2)
    weights = objective().weights()[ROWS]
    assert torch.allclose(outcome.batch.weight, weights)


def test_pieces_of_a_batch_add_up_to_it() -> None:
    whole, pieces, made = model(), model(), objective("iw")
    loss_of(made, whole).backward()
    for rows in ROWS.split(2):
        (loss_of(made, pieces, rows) / 4).backward()
    assert torch.allclose(gradient(whole), gradient(pieces), atol=1e-7)
    loss_of(made, pieces, ROWS).backward()
    assert not torch.allclose(gradient(whole), gradient(pieces), atol=1e-2)


def test_mixed_precision_stays_close_and_weighs_in_full() -> None:
    full, half = loss_of(objective()), None
    with torch.autocast("cpu", dtype=torch.bfloat16):
        outcome = objective().step(model(), X[ROWS], Y[ROWS], ROWS)
        half = outcome.loss
    assert (outcome.logits.dtype, half.dtype, outcome.batch.weight.dtype) == (
        torch.bfloat16,
        torch.float32,
        torch.float32,
    )
    assert half.item() == pytest.approx(full.item(), rel=0.02)
    assert half.item() != full.item()


@pytest.mark.parametrize(
    ("dtype", "weighed"), [(torch.float64, torch.float64), (torch.bfloat16, torch.float32), (torch.float32,) * 2]
)
def test_the_precision_of_the_inputs_is_kept(dtype: torch.dtype, weighed: torch.dtype) -> None:
    outcome = objective().step(model(dtype), X[ROWS].to(dtype), Y[ROWS], ROWS)
    assert (outcome.logits.dtype, outcome.batch.weight.dtype, outcome.loss.dtype) == (dtype, weighed, weighed)


def test_a_scaled_loss_is_unscaled_to_the_same_step() -> None:
    """GradScaler multiplies the loss by a power of two, and divides the gradients by it."""
    nets, scaler = [model(), model()], torch.amp.GradScaler("cpu", init_scale=2.0**10)
    plain, scaled = (torch.optim.SGD(net.parameters(), lr=0.1) for net in nets)
    loss_of(objective(), nets[0]).backward()
    plain.step()
    scaler.scale(loss_of(objective(), nets[1])).backward()
    scaler.step(scaled)
    assert all(torch.equal(a, b) for a, b in zip(nets[0].parameters(), nets[1].parameters(), strict=True))


@pytest.mark.parametrize("backend", ["eager", pytest.param("inductor", marks=pytest.mark.slow)])
@pytest.mark.filterwarnings("ignore::DeprecationWarning:torch", "ignore::FutureWarning:torch")
def test_a_compiled_model(backend: str) -> None:
    net = model()
    compiled = torch.compile(net, backend=backend)
    for made in (objective(RMix(mix_prob=1.0)), objective("group_dro")):
        state = copy.deepcopy(made)
        assert loss_of(made, compiled).item() == pytest.approx(loss_of(state, net).item(), rel=1e-5)


def test_no_global_generator_is_read_or_moved() -> None:
    torch.manual_seed(3)
    np.random.seed(3)  # noqa: NPY002
    before = torch.get_rng_state().clone(), np.random.get_state()[1].copy()  # noqa: NPY002
    first = loss_of(made := objective(RMix(mix_prob=1.0)), net := MLP(width=4).build((3,), 2))
    torch.set_rng_state(before[0])
    list(made.sampler(8))
    made.accompany(net)
    assert torch.equal(torch.get_rng_state(), before[0])
    assert np.array_equal(np.random.get_state()[1], before[1])  # noqa: NPY002
    assert loss_of(objective(RMix(mix_prob=1.0)), net).item() == first.item()


def trained(made: Objective, net: nn.Module, steps: range) -> list[float]:
    """Losses of steps of three an epoch."""
    losses, optimizer = [], torch.optim.SGD(net.parameters(), lr=0.1)
    for step in steps:
        made.set_epoch(step // 3)
        loss = loss_of(made, net, torch.tensor(list(made.sampler(8)))[step % 3 * 8 :][:8])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


@pytest.mark.parametrize("method", ["group_dro", "lff", "cgd", "irm", RMix(mix_prob=0.5), "lisa"])
@pytest.mark.parametrize("stop", [6, 7])  # between two epochs, and in the middle of one
def test_a_run_that_was_stopped_goes_on_as_if_it_had_not_been(method: Any, stop: int, tmp_path: Path) -> None:
    made = objective(method)
    net = made.accompany(model())
    trained(made, net, range(stop))
    torch.save({"model": net.state_dict(), "objective": made.state_dict()}, tmp_path / "kept.pt")
    rest = trained(made, net, range(stop, 12))
    again = objective(method)
    net = again.accompany(model())
    kept = torch.load(tmp_path / "kept.pt", weights_only=True)
    net.load_state_dict(kept["model"])
    again.load_state_dict(kept["objective"])
    assert trained(again, net, range(stop, 12)) == rest


def test_a_state_of_another_objective_is_refused() -> None:
    state = objective("group_dro").state_dict()
    with pytest.raises(CheckpointError, match=r"another objective: method is GroupDRO\(.*\), not ERM\(\)"):
        objective("erm").load_state_dict(state)
    with pytest.raises(CheckpointError, match=r"another objective: method is None, not ERM\(\)"):
        objective("erm").load_state_dict({})


class Counts(Weighting):
    """Weighs rows by how many epochs have ended, and counts what it observes."""

    memory = ("ended",)

    def __init__(self) -> None:
        self.ended, self.seen = torch.ones(()), 0

    def __call__(self, batch: Any) -> Tensor:
        return batch.weight * self.ended

    def observe(self, batch: Any, logits: Tensor) -> None:
        self.seen += len(logits)

    def end_epoch(self) -> None:
        self.ended = self.ended + 1


def test_a_weighting_that_learns_is_told_of_predictions_and_of_epochs() -> None:
    class Learns(ERM):
        def recipe(self, facts: Facts) -> Recipe:
            return Recipe(weighting=Counts())

    made = objective(Learns())
    losses = []
    for epoch in range(3):
        made.set_epoch(epoch)
        losses.append(loss_of(made).item())
    assert losses == pytest.approx([losses[0], 2 * losses[0], 3 * losses[0]])
    assert made.recipe.weighting.seen == 24


class TestOrder:
    def test_epochs_differ_and_come_back(self) -> None:
        made = objective("erm")
        order = made.sampler(8)
        first = list(order)
        assert sorted(first) == list(range(N))
        made.set_epoch(1)
        assert list(order) != first
        order.set_epoch(0)
        assert list(order) == first

    def test_groups_come_alike_where_the_method_wants_it(self) -> None:
        order = torch.tensor(list(objective("lisa").sampler(8)))
        assert all(torch.bincount(GROUP[rows]).tolist() == [2, 2, 2, 2] for rows in order.split(8))

    def test_its_length_is_that_of_what_it_gives(self) -> None:
        order = objective("jtt").sampler(8)
        assert len(order) == len(list(order)) > N

    def test_workers_of_a_loader_change_nothing(self) -> None:
        made = objective("erm")
        loader = DataLoader(WithIndex(TensorDataset(X, Y)), 8, sampler=made.sampler(8), num_workers=2)
        made.set_epoch(2)
        shown = torch.cat([index for _, _, index in loader])
        assert shown.tolist() == list(made.sampler(8))

    def test_a_batch_has_rows(self) -> None:
        with pytest.raises(ValueError, match="batch_size must be >= 1, got 0"):
            objective().sampler(0)


def test_groups_are_hidden_from_a_method_that_does_not_declare_them() -> None:
    outcome = objective().step(model(), X[ROWS], Y[ROWS], ROWS)
    assert outcome.batch.group is None
    assert objective().method.groups == Groups.NONE


@pytest.mark.parametrize(
    ("method", "given", "message"),
    [
        ("rmx", {}, r"No method named 'rmx'. Did you mean 'rmix'\?"),
        ("group_dro", {"group": None}, r"'group_dro' reads group labels in training, but .* has none"),
        ("rmix", {"notes": ()}, r"'rmix' starts from notes of an ERM run: .*give them here as notes="),
        ("erm", {"notes": NOTES}, r"'erm' starts from notes of 0 runs, got 1"),
        (RMix(ensemble=3), {"notes": [NOTES]}, r"'rmix' starts from notes of an ERM run"),
        ("rmix", {"notes": Notes.of([[True]])}, r"The notes are on 1 rows, but y has 24"),
        ("rmix", {"notes": Notes(N)}, r"The notes have no epoch: say notes.end_epoch\(\)"),
        (RMix(window=9), {}, r"does not lie within the 4 recorded"),
        ("dfr", {}, r"'dfr' begins with a stage of its own, 'features', .*use rmix.train"),
        ("fish", {}, r"'fish' begins with a stage of its own, 'pretrain', .*say Fish\(pretrain=False\), or use rmix"),
        ("erm", {"y": Y.float()}, r"y must be whole numbers"),
    ],
)
def test_what_cannot_work_is_said_when_it_is_made(method: Any, given: dict[str, Any], message: str) -> None:
    with pytest.raises(Exception, match=message):
        objective(method, **given)


@pytest.mark.parametrize(
    ("x", "y", "index", "message"),
    [
        (X[:8], Y[:8], ROWS[:7], r"A batch has 7 row numbers \(index\) but 8 rows of y"),
        (X[:7], Y[:8], ROWS, r"8 row numbers \(index\) but 7 rows of x"),
        (X[:8], Y[:8], ROWS + 20, r"index must be 0 … 23, .* got 27"),
        (X[:8], Y[:8], ROWS.float(), r"index must be a vector of whole numbers.*got torch.float32 of shape \(8,\)"),
        (X[:8], 1 - Y[:8], ROWS, r"Row 0 is of class 0 in the y that was given first and of class 1 in the batch"),
    ],
)
def test_a_bad_batch_is_refused(x: Tensor, y: Tensor, index: Tensor, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        objective()(model(), x, y, index)


@pytest.mark.parametrize(
    ("net", "message"),
    [
        (nn.Linear(3, 1), r"one logit a class, \(b, 2\), got \(8, 1\); its last layer needs 2 outputs"),
        (nn.Sequential(nn.Linear(3, 1), nn.Flatten(0)), r"got \(8,\)"),
        (nn.LSTM(3, 2), r"must give logits, got tuple; rmix.HeadAt"),
    ],
    ids=["one logit", "no column", "tuple"],
)
def test_a_model_that_gives_no_logits_is_refused_at_the_first_batch(net: nn.Module, message: str) -> None:
    made = objective("group_dro")
    with pytest.raises(ValueError, match=message):
        made(net, X[ROWS], Y[ROWS], ROWS)
    with pytest.raises(ValueError, match=message):
        made.update(net, torch.optim.SGD(net.parameters(), lr=0.1), X[ROWS], Y[ROWS], ROWS)
    assert not net._forward_hooks  # nothing stays behind


def test_methods_that_need_more_of_the_loop_say_so() -> None:
    with pytest.raises(ValueError, match=r"'fish' takes the optimizer's steps itself.*call objective.update"):
        loss_of(objective(Fish(pretrain=False)))
    for method in ("lff", DomainMix(adversary=1.0)):
        with pytest.raises(ValueError, match=r"say model = objective.accompany\(model\)"):
            loss_of(objective(method))
    with pytest.raises(ValueError, match=r"needs a model with modules `features` and `head`, got Linear"):
        loss_of(objective(RMix(mix="manifold", mix_prob=1.0)), nn.Linear(3, 2))


def test_several_runs_of_notes() -> None:
    """Three models, of which the last predictions count: row 0 is wrong in none, row 1 in one, row 2 in all."""
    runs = [Notes.of([[False, True], [True, good], [True, False], [False, True]]) for good in (True, False, True)]
    made = Objective(RMix(ensemble=3, eta=3.0, scale="none"), [0, 1, 0, 1], notes=runs)
    assert made.weights().tolist() == [1, 2, 4, 1]
