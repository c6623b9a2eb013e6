"""A user's own loop under DistributedDataParallel: two processes on half batches train as one on whole ones."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset

from rmix import Notes, Objective, RMix, WithIndex
from rmix.joined import world
from rmix.testing.toy import toy_bundle, toy_model
from rmix.training.processes import processes

BATCH = 32  # of 72 rows: two batches of 32 and one of 8, each cut in two


def methods() -> dict[str, Any]:
    notes = Notes.of(toy_bundle().train.x.flatten(1)[:, :2] > 0)
    plain = {name: {"method": name} for name in ("erm", "group_dro", "vrex", "cvar_dro", "irm")}
    return {**plain, "rmix": {"method": RMix(mix_prob=0.0), "notes": notes}}


def trained(given: dict[str, Any]) -> dict[str, Tensor]:
    """Weights, the last loss and what was noted, after three epochs in all processes there are."""
    data = toy_bundle().train
    objective, noted = Objective(y=data.y, group=data.group, **given), Notes(len(data))
    torch.manual_seed(0)
    net = toy_model()
    model = DistributedDataParallel(net) if world()[1] > 1 else net
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    size = BATCH // world()[1]
    loader = DataLoader(WithIndex(TensorDataset(data.x, data.y)), size, sampler=objective.sampler(size))
    for epoch in range(3):
        objective.set_epoch(epoch)
        for x, y, index in loader:
            outcome = objective.step(model, x, y, index)
            optimizer.zero_grad()
            outcome.loss.backward()
            optimizer.step()
            with torch.no_grad():
                noted.observe(index, model(x), y)
        noted.end_epoch()
    left = {name: value.detach().clone() for name, value in net.state_dict().items()}
    return {**left, "loss": outcome.loss.detach(), "bits": noted.trajectory.bits}


@pytest.fixture(scope="module")
def left_by_two(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Tensor]]:
    file = tmp_path_factory.mktemp("two") / "left.pt"
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    done = subprocess.run([*command, __file__, str(file)], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    left: dict[str, dict[str, Tensor]] = torch.load(file, weights_only=True)
    return left


@pytest.mark.slow
@pytest.mark.xdist_group("two processes")
@pytest.mark.parametrize("name", methods())
def test_two_processes_train_as_one(left_by_two: dict[str, dict[str, Tensor]], name: str) -> None:
    one, two = trained(methods()[name]), left_by_two[name]
    for value in one:
        assert torch.allclose(one[value].double(), two[value].double(), atol=1e-6), value


def main(file: str) -> None:
    torch.set_num_threads(1)
    with processes() as rank:
        left = {name: trained(given) for name, given in methods().items()}
        if rank == 0:
            torch.save(left, Path(file))


if __name__ == "__main__":
    main(sys.argv[1])
