"""The one loop: what is evaluated when, which epoch is kept, who sees groups, what callbacks hear."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import pytest
import torch
from torch import Tensor, nn
from toys import SMALL_MOONS, TWO_STAGES, make_batch, rng, same, small

from rmix.batch import Groups
from rmix.datasets import Bundle, InMemory, Split
from rmix.errors import HiddenGroupsError
from rmix.experiment.run import run_config
from rmix.methods import ERM, METHODS, Method, PlainMixup, RMix
from rmix.models import MLP
from rmix.recipe import Facts, Outcome, Recipe, Stage
from rmix.training.batches import training_batches, training_order
from rmix.training.callbacks import Callback, Moment
from rmix.training.evaluate import predict
from rmix.training.selection import SELECTIONS
from rmix.training.settings import Training
from rmix.training.trainer import Trainer
from rmix.weightings import Trajectory


class Spied:
    """Inputs that note when they are read."""

    def __init__(self, x: Tensor, reads: list[str], name: str) -> None:
        self.x, self.reads, self.name, self.checksum = x, reads, name, name

    def __len__(self) -> int:
        return len(self.x)

    def __getitem__(self, rows: Tensor) -> Tensor:
        self.reads.append(self.name)
        return self.x[rows]


def test_the_test_split_is_read_once_after_selection() -> None:
    reads: list[str] = []

    class Mark(Callback):
        def on_epoch(self, moment: Moment, record: dict[str, Any]) -> None:
            reads.append(f"{moment.stage} {record['epoch']}")

        def on_end(self, trainer: Any) -> None:
            reads.append("end")

    bundle = SMALL_MOONS.load()
    spied = replace(
        bundle,
        valid=replace(bundle.valid, x=Spied(bundle.valid.x, reads, "valid")),
        test=replace(bundle.test, x=Spied(bundle.test.x, reads, "test")),
    )
    run_config(small(TWO_STAGES, dataset=InMemory.of(spied)), callbacks=[Mark()])
    epochs = [f"{stage} {e}" for stage, count in (("notes", 2), ("main", 3)) for e in range(count)]
    assert reads == [read for epoch in epochs for read in ("valid", epoch)] + ["end", "test"]


def test_the_selected_model_is_the_one_of_the_selected_epoch() -> None:
    """With selection 'last' after k epochs there is only one candidate, so it must be the same model."""
    config = small(training=Training(epochs=6, batch_size=16, lr=0.3))
    best = run_config(config)
    epoch = best.result.selected["epoch"]
    assert epoch < 5, "the toy must not select its last epoch, or this test shows nothing"
    cut = run_config(replace(config, training=replace(config.training, epochs=epoch + 1), selection="last"))
    weights, expected = best.model.state_dict(), cut.model.state_dict()
    assert all(torch.equal(weights[key], expected[key]) for key in expected)
    assert best.result.test == cut.result.test


def test_the_history_has_one_line_an_epoch_and_the_tables_of_validation() -> None:
    result = run_config(small(TWO_STAGES)).result
    assert {stage: [line["epoch"] for line in lines] for stage, lines in result.history.items()} == {
        "notes": [0, 1],
        "main": [0, 1, 2],
    }
    worst = [min(c / t for c, t in zip(line["valid"]["correct"], line["valid"]["total"], strict=True))
             for line in result.history["main"]]  # fmt: skip
    assert result.selected == {"rule": "worst_group", "epoch": worst.index(max(worst)), "value": max(worst)}


def test_the_loss_of_an_epoch_is_the_mean_over_its_steps() -> None:
    losses: list[float] = []

    class Collect(Callback):
        def on_step(self, moment: Moment, outcome: Outcome) -> None:
            losses.append(outcome.loss.item())

    result = run_config(small(), callbacks=[Collect()]).result
    per_epoch = [sum(losses[i : i + 5]) / 5 for i in (0, 5, 10)]
    assert [line["loss"] for line in result.history["main"]] == pytest.approx(per_epoch, rel=1e-6)


def drawn(method: Method) -> tuple[list[list[int]], list[list[float]]]:
    """The rows of each epoch in order, and the own share (lambda) of the first row of each batch."""
    rows: list[list[int]] = [[], [], []]
    shares: list[list[float]] = [[], [], []]

    class Collect(Callback):
        def on_step(self, moment: Moment, outcome: Outcome) -> None:
            rows[moment.epoch] += outcome.batch.index.tolist()
            shares[moment.epoch].append(outcome.mixed.parts[0].weight[0].item())

    run_config(small(method), callbacks=[Collect()])
    return rows, shares


def test_every_epoch_draws_anew_and_mixing_moves_no_row() -> None:
    rows, shares = drawn(PlainMixup(alpha=1.0))
    assert all(sorted(epoch) == list(range(70)) for epoch in rows)
    assert len({tuple(epoch) for epoch in rows}) == 3
    assert len({share for epoch in shares for share in epoch}) == 15
    assert drawn(ERM()) == (rows, [[1.0] * 5] * 3)


def test_every_step_has_the_rate_of_the_schedule() -> None:
    """Two epochs of five steps, from 0.1 on down to zero."""
    rates: list[float] = []

    class Watched(Recipe):
        def update(self, model: Any, optimizer: torch.optim.Optimizer, *rest: Any) -> Outcome:
            rates.append(optimizer.param_groups[0]["lr"])
            return super().update(model, optimizer, *rest)

    @dataclass(frozen=True)
    class Scheduled(Method):
        name: ClassVar[str] = "scheduled"

        def recipe(self, facts: Facts) -> Recipe:
            return Watched()

    run_config(small(Scheduled(), training=Training(epochs=2, batch_size=16, lr=0.1, schedule="linear")))
    assert rates == pytest.approx([0.1, 0.09, 0.08, 0.07, 0.06, 0.05, 0.04, 0.03, 0.02, 0.01])


def test_looking_on_changes_nothing() -> None:
    class Noisy(Callback):
        def on_step(self, moment: Moment, outcome: Outcome) -> None:
            torch.rand(3)

    with torch.random.fork_rng():
        assert same(run_config(small(PlainMixup()), callbacks=[Noisy()]), run_config(small(PlainMixup())))


def test_groups_are_shown_only_where_declared() -> None:
    bundle = SMALL_MOONS.load()
    order = training_order(bundle, Recipe().sampler, 16, rng(), Groups.NONE)
    hidden = list(training_batches(bundle, order, 16, Groups.NONE))
    shown = list(training_batches(bundle, order, 16, Groups.TRAIN))
    assert [len(batch) for batch in hidden] == [16, 16, 16, 16, 6]
    assert all(batch.group is None for batch in hidden)
    assert all(torch.equal(batch.group, bundle.train.group[batch.index]) for batch in shown)
    assert all(torch.equal(a.index, b.index) for a, b in zip(hidden, shown, strict=True))
    assert bundle.facts(Groups.NONE).group_counts is None
    assert bundle.facts(Groups.TRAIN).group_counts == (30, 30, 5, 5)


def test_a_method_that_hides_its_use_of_groups_is_caught() -> None:
    @dataclass(frozen=True)
    class Sneaky(Method):
        name: ClassVar[str] = "sneaky"

        def recipe(self, facts: Facts) -> Recipe:
            facts.known_groups()
            return Recipe()

    with pytest.raises(HiddenGroupsError, match="Group sizes are hidden"):
        run_config(small(Sneaky()))


def test_a_batch_of_hidden_groups_says_so() -> None:
    with pytest.raises(HiddenGroupsError, match=r"must declare groups = Groups\.TRAIN"):
        _ = make_batch([0, 1]).known_group


def test_batches_carry_rows_and_weights_of_the_split() -> None:
    split = Split(torch.arange(10.0).view(5, 2), torch.tensor([0, 1, 0, 1, 1]), weight=torch.arange(5.0))
    bundle = Bundle("rows", split, split, split, ("a", "b"))
    first, second = training_batches(bundle, torch.arange(5), 3, Groups.NONE)
    assert (first.index.tolist(), second.index.tolist()) == ([0, 1, 2], [3, 4])
    assert second.x.tolist() == [[6.0, 7.0], [8.0, 9.0]]
    assert (second.y.tolist(), second.weight.tolist()) == ([1, 1], [3.0, 4.0])


def test_gathering_in_chunks_changes_no_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    bundle = SMALL_MOONS.load()
    order = torch.arange(len(bundle.train))
    whole = [batch.x for batch in training_batches(bundle, order, 16, Groups.NONE)]
    monkeypatch.setattr("rmix.training.batches.GATHERED", 40)  # 20 rows of 2 values: one batch a chunk
    chunked = [batch.x for batch in training_batches(bundle, order, 16, Groups.NONE)]
    assert [len(x) for x in chunked] == [16, 16, 16, 16, 6]
    assert all(torch.equal(a, b) for a, b in zip(whole, chunked, strict=True))


def zeros() -> nn.Module:
    """A linear model that starts at zero."""
    model = nn.Linear(2, 2)
    for parameter in model.parameters():
        nn.init.zeros_(parameter)
    return model


def test_clipping_bounds_the_step() -> None:
    """One step from zero with learning rate 0.5: as long as half of the norm the gradient is clipped to."""
    for clip in (1e-3, 2e-3):
        training = Training(1, batch_size=70, lr=0.5, momentum=0.0, weight_decay=0.0, clip_norm=clip)
        model = Trainer(training, selection=SELECTIONS["last"]).fit(zeros, ERM(), SMALL_MOONS.load()).model
        moved = torch.cat([parameter.detach().flatten() for parameter in model.parameters()])
        assert moved.norm().item() == pytest.approx(0.5 * clip, rel=1e-3)


@dataclass(frozen=True)
class TakesNotes(Method):
    """ERM that takes notes in its main stage, and leaves them here."""

    name: ClassVar[str] = "takes_notes"
    observe: str = "clean"
    notes: ClassVar[list[Trajectory]] = []

    def stages(self, facts: Facts) -> Any:
        self.notes.append(Trajectory(facts.n))
        yield Stage(Recipe(weighting=self.notes[-1]), observe=self.observe)


def test_clean_notes_are_what_the_model_says_after_the_epoch() -> None:
    """In evaluation mode: dropout would make the notes differ from the predictions."""
    run = run_config(small(TakesNotes(), selection="last", model=MLP(width=8, depth=1, dropout=0.8)))
    train = SMALL_MOONS.load().train
    hit = predict(run.model, train).argmax(1) == train.y
    assert TakesNotes.notes[-1].correct(2, 1)[:, 0].tolist() == hit.tolist()


def test_notes_of_training_are_the_predictions_of_the_training_passes() -> None:
    hits = [0, 0, 0]

    class Count(Callback):
        def on_step(self, moment: Moment, outcome: Outcome) -> None:
            (part,) = outcome.mixed.parts
            hits[moment.epoch] += int((outcome.logits.argmax(1) == part.y).sum())

    run_config(small(TakesNotes("training")), callbacks=[Count()])
    assert TakesNotes.notes[-1].correct(0, 3).sum(0).tolist() == hits


def test_callbacks_hear_the_five_moments_in_order() -> None:
    heard: list[str] = []

    class All(Callback):
        def on_start(self, trainer: Any) -> None:
            heard.append("start")

        def on_stage(self, moment: Moment, reused: bool) -> None:
            heard.append(f"stage {moment.stage} of {moment.epochs}")

        def on_step(self, moment: Moment, outcome: Outcome) -> None:
            heard.append(f"step {moment.step}")

        def on_epoch(self, moment: Moment, record: dict[str, Any]) -> None:
            heard.append(f"epoch {moment.epoch}")

        def on_end(self, trainer: Any) -> None:
            heard.append("end")

    run_config(small(training=Training(epochs=2, batch_size=40)), callbacks=[All()])
    assert heard == ["start", "stage main of 2", "step 0", "step 1", "epoch 1", "step 2", "step 3", "epoch 2", "end"]


@pytest.mark.parametrize("name", sorted(METHODS))
def test_every_method_runs_and_says_which_groups_it_used(name: str) -> None:
    result = run_config(small(METHODS[name]())).result
    assert result.groups_used == {"fit": METHODS[name]().groups != Groups.NONE, "select": True}
    assert result.test.total == (10, 10, 10, 10)


def test_the_bundle_may_lack_groups_where_nothing_reads_them() -> None:
    bundle = SMALL_MOONS.load()
    blind = replace(
        bundle,
        **{name: replace(split, group=None) for name, split in bundle.splits.items()},
        group_names=(),
    )
    result = run_config(small(RMix(), dataset=InMemory.of(blind), selection="average")).result
    assert (result.train_counts, result.test.total, result.test.rows) == (None, (), 40)
    assert result.described == {}
