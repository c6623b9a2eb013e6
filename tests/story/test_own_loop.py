"""The diffs of the README and of the page are code: a plain loop with their lines trains as the library's trainer."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pages import ROOT, after, before, blocks, code_of, said_by
from torch import Tensor, nn
from torch.nn import functional
from torch.utils.data import DataLoader, Sampler, TensorDataset
from toys import SMALL_MOONS

import rmix
from rmix.methods import METHODS
from rmix.models import MLP
from rmix.recipe import bare
from rmix.streams import stream, torch_stream
from rmix.training.optimize import make_optimizer
from rmix.training.selection import SELECTIONS
from rmix.training.settings import FirstStage, Training
from rmix.training.trainer import Trainer

PAGE = ROOT / "docs" / "own_loop.md"
(WITH_GROUPS,) = blocks(ROOT / "README.md", "diff")
ON_THE_PAGE, NOTES, WITH_NOTES = blocks(PAGE, "diff")
DATA = SMALL_MOONS.load()
N = len(DATA.train)
TRAINING = Training(epochs=4, batch_size=64, lr=0.1)
FIRST = FirstStage(epochs=3)


class FirstOrder(Sampler[int]):
    """The rows in the order in which the library's trainer draws them in a stage that takes notes."""

    def __init__(self) -> None:
        self.epoch = -1

    def __len__(self) -> int:
        return N

    def __iter__(self) -> Iterator[int]:
        self.epoch += 1
        return iter(stream(0, "order", "notes", self.epoch).permutation(N).tolist())


def new_model() -> nn.Module:
    return MLP(width=8, depth=1).build(DATA.shape, DATA.n_classes)


def run(code: str, stage: str, epochs: int, **names: Any) -> dict[str, Any]:
    """Run a loop on the small moons, from the weights that the library's trainer begins ``stage`` with."""

    def loader(rows: Any, batch_size: int, shuffle: bool = False, sampler: Any = None) -> DataLoader[Any]:
        assert shuffle == (sampler is None)
        return DataLoader(rows, batch_size, sampler=sampler or FirstOrder())

    with torch_stream(0, "init", stage):
        model = new_model()
    names |= {"model": model, "optimizer": make_optimizer(model, TRAINING), "epochs": epochs, "DataLoader": loader}
    names |= {"train": TensorDataset(DATA.train.x, DATA.train.y), "train_y": DATA.train.y, "functional": functional}
    exec(code, names)
    return names


def trained(method: rmix.Method) -> dict[str, Tensor]:
    trainer = Trainer(TRAINING, FIRST, seed=0, selection=SELECTIONS["last"])
    return trainer.fit(new_model, method, DATA).model.state_dict()


def apart(ours: dict[str, Tensor], theirs: dict[str, Tensor]) -> float:
    return max(float((ours[name] - theirs[name]).abs().max()) for name in theirs)


@pytest.mark.parametrize("diff", [WITH_GROUPS, NOTES, WITH_NOTES])
def test_at_most_six_lines_change(diff: str) -> None:
    assert sum(line.startswith("+") for line in diff.splitlines()) <= 6


@pytest.mark.parametrize("diff", [WITH_GROUPS, NOTES, WITH_NOTES])
def test_what_the_diff_starts_from_runs_without_rmix(diff: str) -> None:
    plain = run(before(diff), "main", 1)
    assert "rmix" not in before(diff)
    with torch_stream(0, "init", "main"):
        assert apart(plain["model"].state_dict(), new_model().state_dict()) > 0


def test_with_groups_the_weights_are_those_of_the_trainer() -> None:
    mine = run(after(WITH_GROUPS), "main", TRAINING.epochs, train_group=DATA.train.group)
    assert apart(mine["model"].state_dict(), trained(rmix.RMixAware())) == 0


def test_without_groups_the_weights_are_those_of_the_trainer() -> None:
    first = run(after(NOTES), "notes", 3)
    mine = run(after(WITH_NOTES), "main", TRAINING.epochs, notes=first["notes"], rmix=rmix)
    theirs = trained(rmix.RMix(eta=50))
    assert apart(mine["model"].state_dict(), theirs) == 0
    assert apart(trained(rmix.RMix(eta=5)), theirs) > 0.01  # what is compared changes with what the notes do


def test_notes_that_were_kept_lead_to_the_same_weights(tmp_path: Path) -> None:
    first = run(after(NOTES), "notes", 3)
    first["notes"].save(tmp_path / "notes.pt")
    kept = rmix.Notes.load(tmp_path / "notes.pt")
    mine = run(after(WITH_NOTES), "main", TRAINING.epochs, notes=kept, rmix=rmix)
    assert apart(mine["model"].state_dict(), trained(rmix.RMix(eta=50))) == 0


NEEDS_NOTES = ("jtt", "rmix")
REACHED = sorted(set(METHODS) - {"dfr", "afr"})
OF_SETTINGS = {"fish": {"pretrain": False}}


@pytest.fixture(scope="module")
def notes() -> Any:
    return run(after(NOTES), "notes", 3)["notes"]


@pytest.mark.parametrize("name", REACHED)
def test_every_method_trains_in_a_loop_as_in_the_trainer(name: str, notes: rmix.Notes) -> None:
    method = METHODS[name](**OF_SETTINGS.get(name, {}))
    taken = notes if name in NEEDS_NOTES else ()
    objective = rmix.Objective(method, DATA.train.y, DATA.train.group, notes=taken)
    with torch_stream(0, "init", "main"):
        model = objective.accompany(new_model())
    optimizer = make_optimizer(model, TRAINING)
    loader = DataLoader(rmix.WithIndex(TensorDataset(DATA.train.x, DATA.train.y)), 64, sampler=objective.sampler(64))
    for epoch in range(TRAINING.epochs):
        objective.set_epoch(epoch)
        for x, y, index in loader:
            if name == "fish":
                objective.update(model, optimizer, x, y, index)
            else:
                loss = objective(model, x, y, index)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
    assert apart(bare(model).state_dict(), trained(method)) == 0


def test_the_pages_show_the_diff_of_the_readme() -> None:
    assert ON_THE_PAGE == WITH_GROUPS
    assert blocks(ROOT / "docs" / "index.md", "diff") == [WITH_GROUPS]


@pytest.mark.slow
def test_the_code_of_the_page_runs(tmp_path: Path) -> None:
    said = said_by(code_of(PAGE), tmp_path)
    worst = {name: float(value) for name, value in re.findall(r"^(.*): worst group (\d\.\d\d)", said, re.MULTILINE)}
    assert list(worst) == ["rmix_aware", "ERM", "rmix", "mixed precision"]
    assert min(worst["rmix_aware"], worst["rmix"], worst["mixed precision"]) > worst["ERM"]
