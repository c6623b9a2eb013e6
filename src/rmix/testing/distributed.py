"""Contract 12: two processes on half batches train as one process on the whole batch.

``torchrun --nproc-per-node 2 -m rmix.testing.distributed METHODS.json LEFT.pt`` trains methods, as
plain values by name, in two processes, and keeps what they leave; :func:`one_process` trains one
method in one, pairing the rows that two would pair.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from rmix.batch import Batch, Groups, Mixed, Part
from rmix.experiment.config import method_from
from rmix.methods import Method
from rmix.recipe import Facts, Forward, Mixer, Stage
from rmix.testing.runs import fit
from rmix.testing.toy import toy_bundle, toy_model
from rmix.training.processes import processes

TOLERANCE = 1e-6  # in float32
EPOCHS = 2
BATCH = 16  # 72 training rows: four batches of 16 and one of 8, each cut in two equal shares


@dataclass(frozen=True)
class InShares(Mixer):
    """Mixes each of two shares of a batch as a process of its own would, from the same draws."""

    mixer: Mixer

    @property
    def groups(self) -> Groups:
        return self.mixer.groups

    def where(self, model: nn.Module, rng: np.random.Generator) -> tuple[Forward, Forward]:
        return self.mixer.where(model, rng)

    def __call__(self, batch: Batch, rng: np.random.Generator) -> Mixed:
        state, mixed = rng.bit_generator.state, []
        for rows in torch.tensor_split(torch.arange(len(batch)), 2):
            rng.bit_generator.state = state
            mixed.append(self.mixer(_take(batch, rows), rng))
        parts = tuple(_cat(*pair) for pair in zip(*(m.parts for m in mixed), strict=True))
        return Mixed(torch.cat([m.x for m in mixed]), parts, mixed[0].clean)


def _take(batch: Batch, rows: Tensor) -> Batch:
    group = None if batch.group is None else batch.group[rows]
    return Batch(batch.x[rows], batch.y[rows], batch.index[rows], batch.weight[rows], group)


def _cat(one: Part, other: Part) -> Part:
    group = None if one.group is None or other.group is None else torch.cat([one.group, other.group])
    return Part(torch.cat([one.y, other.y]), torch.cat([one.weight, other.weight]), group)


class Shared(Method):
    """A method that pairs rows within shares."""

    def __init__(self, method: Method) -> None:
        self.method, self.name, self.groups = method, method.name, method.groups  # type: ignore[misc]

    def stages(self, facts: Facts) -> Iterator[Stage]:
        for stage in self.method.stages(facts):
            stage.recipe.mixer = InShares(stage.recipe.mixer)
            yield stage


def one_process(method: Method) -> dict[str, Tensor]:
    """What training in one process leaves."""
    return trained(Shared(method))


def trained(method: Method) -> dict[str, Tensor]:
    """Weights, memory and validation counts after a run on the toy task."""
    done = fit(method, toy_bundle(), epochs=EPOCHS, batch_size=BATCH, model=toy_model)
    weights = {f"model.{name}": value.detach().clone() for name, value in done.model.state_dict().items()}
    memory = {f"memory.{name}": value.clone() for name, value in done.recipe.state().items()}
    counts = [record["valid"]["correct"] for stage in done.history.values() for record in stage]
    return weights | memory | {"valid.correct": torch.tensor(counts)}


def compare(one: Mapping[str, Tensor], two: Mapping[str, Tensor]) -> list[str]:
    """What differs by more than rounding."""
    assert one.keys() == two.keys(), f"one process leaves {sorted(one)}, two leave {sorted(two)}"
    apart = {name: float((one[name].double() - two[name].double()).abs().max()) for name in one if one[name].numel()}
    return [f"{name} is {distance:.2g} apart" for name, distance in apart.items() if not distance <= TOLERANCE]


def main(methods: Path, left: Path) -> None:
    """Train every method in this process of several; the first one writes what they leave."""
    torch.set_num_threads(1)
    plain: dict[str, Any] = json.loads(methods.read_text())
    with processes() as rank:
        found = {name: trained(method_from(method)) for name, method in plain.items()}
        if rank == 0:
            torch.save(found, left)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
