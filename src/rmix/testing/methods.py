"""The contract of a method; each clause raises ``AssertionError`` where it is broken.

A clause that says nothing about a method (the group-blind one, about a method that declares groups)
returns why; otherwise it returns None. Clause 12, that two processes on half a batch make the step
of one process on the whole, is not among them yet.
"""

from __future__ import annotations

import copy
import json
import math
import os
import pickle
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from torch.overrides import TorchFunctionMode

from rmix.batch import Batch, Groups
from rmix.datasets.base import Bundle, Split
from rmix.methods import ERM
from rmix.methods.base import Method
from rmix.methods.cards import SECTIONS, card
from rmix.methods.space import Choice
from rmix.recipe import Mixer, Outcome, Recipe, Sampler
from rmix.streams import stream
from rmix.testing.clause import clause, run_all, table
from rmix.testing.plain import goes_round
from rmix.testing.runs import Earliest, Trace, changed_fields, clone, fit, global_generators
from rmix.testing.toy import toy_bundle, toy_model
from rmix.training.batches import training_batches
from rmix.training.callbacks import Callback, Moment
from rmix.training.checkpoint import Shelf
from rmix.training.evaluate import evaluate
from rmix.training.trainer import on_device

STEPS = 6  # steps looked at, so that a mixer that sometimes mixes does both
EPOCHS = 4  # of a run that is interrupted in its third
LEARNED = 0.7  # balanced accuracy on the toy task, where guessing and the shortcut give 0.5


@clause
def contract_01_plain_values(method: Method) -> str | None:
    """JSON goes round, the repr evaluates back, and the ends of the search space can be set."""
    goes_round(method)
    known = {f.name for f in fields(cast(Any, method))}
    for key, values in method.space.items():
        assert key in known, f"its search space names {key!r}, which is no setting; settings: {sorted(known)}"
        for value in values.options if isinstance(values, Choice) else (values.low, values.high):
            _with(method, {key: value})
    return None


@clause
def contract_02_same_seed(method: Method) -> str | None:
    """The same seed gives the same bits, another seed gives others."""
    first = fit(method)
    _same(first, fit(method), "two runs of one seed")
    assert first.main != fit(method, seed=1).main, "seeds 0 and 1 give the same weights"
    return None


@clause
def contract_02_fresh_process(method: Method) -> str | None:
    """The same seed gives the same bits in a fresh process, whose hashes differ."""
    (there,) = digests_in_fresh_process([method])
    here = fit(method).selected
    assert there == here, f"weights {here} here and {there} in a fresh process"
    return None


def digests_in_fresh_process(methods: Sequence[Method]) -> list[str]:
    """Digests of the weights that :func:`fit` gives each method in another process."""
    program = (
        "import pickle, sys; from rmix.testing.runs import fit; "
        "print(*(fit(method).selected for method in pickle.load(sys.stdin.buffer)))"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "PYTHONHASHSEED": "12345"}
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, input=pickle.dumps(list(methods)), env=environment, capture_output=True, check=False)
    assert done.returncode == 0, f"the fresh process failed: {done.stderr.decode()[-500:]}"
    return done.stdout.decode().split()


@clause
def contract_03_global_generators(method: Method) -> str | None:
    """The global generators of torch, NumPy and Python are neither read nor moved."""
    with global_generators(1):
        first = fit(method)
    with global_generators(2):
        second = fit(method)
    _same(first, second, "two runs that differ in the seed of the global generators")
    return None


@clause
def contract_04_group_blind(method: Method) -> str | None:
    """Unless declared, permuting or removing the group labels of training changes no bit."""
    if Groups.TRAIN in method.groups:
        return "it declares that it reads group labels in training"
    bundle = toy_bundle()
    group = bundle.train.group
    assert group is not None
    order = torch.from_numpy(stream(0, "permuted groups").permutation(len(group)))
    plain = fit(method, bundle)
    for change, other in (("permuted", group[order]), ("removed", None)):
        changed = fit(method, replace(bundle, train=replace(bundle.train, group=other)))
        _same(plain, changed, f"runs with training groups as they are and {change}")
    return None


@clause
def contract_05_permission(method: Method) -> str | None:
    """Group labels and group counts are shown where declared, and hidden elsewhere."""
    shown = []
    trace = fit(method, look=lambda batch, outcome: shown.append(batch.group is not None), epochs=1)
    assert trace.facts is not None
    counts = (trace.facts.group_counts, trace.facts.group_rows)
    declared = Groups.TRAIN in method.groups
    assert set(shown) == {declared}, f"declares {method.groups}, but batches show groups: {shown[0]}"
    assert all((value is not None) == declared for value in counts), f"declares {method.groups}, but knows {counts}"
    return None


@clause
def contract_06_erm_limit(method: Method) -> str | None:
    """At ``erm_limit`` the main stage goes through the very weights that ERM goes through."""
    if method.erm_limit is None:
        return "it declares no settings at which it is ERM"
    limit = _with(method, method.erm_limit)
    _same(fit(limit), fit(ERM()), f"its main stage at {dict(method.erm_limit)} and ERM", stages=["main"])
    return None


@clause
def contract_07_unit_weights(method: Method) -> str | None:
    """Rows that all weigh one are rows without weights."""
    bundle = toy_bundle()
    ones = replace(bundle.train, weight=torch.ones(len(bundle.train)))
    _same(fit(method, bundle), fit(method, replace(bundle, train=ones)), "runs without weights and with unit weights")
    return None


@clause
def contract_07_integer_weights(method: Method) -> str | None:
    """A row of weight k counts as k rows, in a batch of all rows that is not mixed.

    The weights have mean one, so a reduction may divide by the rows or by the weights.
    """
    recipe, model = _recipe64(method), _model64()
    recipe.mixer = Mixer()
    batch = _first_batch(method, toy_bundle(), size=1000)
    times = torch.arange(len(batch)) % 3
    assert times.sum() == len(batch), "the toy batch is no multiple of three rows"
    rows = torch.arange(len(batch)).repeat_interleave(times)
    weighted = copy.deepcopy(recipe).step(model, replace(batch, weight=times.to(batch.weight)), _rng()).loss
    repeated = copy.deepcopy(recipe).step(model, _take(batch, rows), _rng()).loss
    assert math.isclose(weighted.item(), repeated.item(), rel_tol=1e-9), (
        f"the loss is {weighted.item()} with weights 0, 1, 2 and {repeated.item()} with rows repeated as often"
    )
    return None


@clause
def contract_08_small_batches(method: Method) -> str | None:
    """Batches of one row (and so of one class and one group), a ragged last batch, and a split of three rows."""
    whole = toy_bundle()
    three = toy_bundle((2, 0, 0, 1))
    for bundle, size in ((whole, 1), (whole, len(whole.train) - 1), (three, 2)):
        trace = fit(method, bundle, batch_size=size, lr=0.001)
        bad = [name for name, value in trace.model.named_parameters() if not value.isfinite().all()]
        assert not bad, f"{bad[0]} is not finite after batches of {size} of {len(bundle.train)} rows"
    return None


@clause
def contract_08_absent_group(method: Method) -> str | None:
    """A group without a row changes nothing: not the weights, not the numbers of the others."""
    sizes = (30, 6, 0, 32)
    gap, dense = toy_bundle(sizes), _renumbered(toy_bundle(sizes))
    with_gap, without = fit(method, gap), fit(method, dense)
    _same(with_gap, without, "runs with an absent group 2 and with groups numbered without it")
    total = with_gap.history["main"][-1]["valid"]["total"]
    assert total == (10, 10, 0, 10), f"the validation table counts {total} rows, not (10, 10, 0, 10)"
    return None


def _renumbered(bundle: Bundle) -> Bundle:
    """The bundle without its absent group 2."""
    new = torch.tensor([0, 1, -1, 2])

    def change(split: Split) -> Split:
        return replace(split, group=None if split.group is None else new[split.group])

    return _each_split(bundle, change, group_names=bundle.group_names[:3])


@clause
def contract_09_batch_unchanged(method: Method) -> str | None:
    """A step writes into no field of its batch, a run into no value of its data."""
    bundle = toy_bundle()
    fit(method, bundle)
    assert (after := replace(bundle).checksum) == toy_bundle().checksum, f"a run changed its data (checksum {after})"
    recipe, model, batch = _recipe64(method), _model64(), _first_batch(method, bundle)
    for step in range(STEPS):
        kept = clone(batch)
        recipe.step(model, batch, _rng(step))
        assert not (changed := changed_fields(batch, kept)), f"a step changed the batch's {' and '.join(changed)}"
    return None


@clause
def contract_10_resume(method: Method) -> str | None:
    """A run stopped in its third epoch, in any stage, goes on to the same bits."""
    whole = fit(method, epochs=EPOCHS, selection=Earliest())
    for stage in whole.weights:
        with tempfile.TemporaryDirectory() as folder:
            resumed = _interrupted(method, stage, Path(folder))
        ran = resumed.weights[stage]
        assert ran == whole.weights[stage][-len(ran) :], f"after an interruption in stage {stage!r} the weights differ"
        assert len(ran) == EPOCHS - 2, f"stage {stage!r} went on with {len(ran)} epochs, not {EPOCHS - 2}"
        for what in ("history", "described", "selected"):
            new, old = (json.dumps(getattr(trace, what)) for trace in (resumed, whole))
            assert new == old, f"after an interruption in stage {stage!r} {what} is {new}, not {old}"
        _same(whole, resumed, f"runs with and without an interruption in stage {stage!r}", stages=_later(whole, stage))
    return None


class _StoppedError(Exception):
    """The interruption."""


class _Stop(Callback):
    def __init__(self, stage: str) -> None:
        self.stage = stage

    def on_epoch(self, moment: Moment, record: Mapping[str, Any]) -> None:
        if moment.stage == self.stage and record["epoch"] == 2:
            raise _StoppedError


def _interrupted(method: Method, stage: str, folder: Path) -> Trace:
    """Stop in the third epoch of ``stage``, then go on in new objects from what was kept in ``folder``."""

    def run(*callbacks: Callback) -> Trace:
        shelf = Shelf(folder, "run", folder / "stages")
        return fit(method, epochs=EPOCHS, selection=Earliest(), shelf=shelf, callbacks=callbacks)

    try:
        run(_Stop(stage))
    except _StoppedError:
        return run()
    raise AssertionError(f"stage {stage!r} has no third epoch")


def _later(trace: Trace, stage: str) -> list[str]:
    names = list(trace.weights)
    return names[names.index(stage) + 1 :]


@clause
def contract_11_overfits(method: Method) -> str | None:
    """It gets every row of one small batch right."""
    bundle = toy_bundle((4, 3, 2, 5))
    trace = fit(method, bundle, epochs=60, batch_size=14, lr=0.05, model=toy_model)
    table_ = evaluate(trace.model, bundle.train, bundle.n_groups)
    assert table_.rows_correct == table_.rows, f"{table_.rows_correct} of {table_.rows} rows are right after 60 steps"
    return None


@clause
def contract_11_learns(method: Method) -> str | None:
    """It learns the toy task."""
    trace = fit(method, epochs=20, model=toy_model)
    last = trace.history["main"][-1]["valid"]
    right = last["rows_correct"] / last["rows"]
    assert right >= LEARNED, f"accuracy {right:.2f} on balanced groups after 20 epochs, {LEARNED} is asked"
    return None


@clause
def contract_13_float64(method: Method) -> str | None:
    """Inputs in float64 give a loss in float64, and no operation on the way is of lower precision."""
    recipe, model, batch = _recipe64(method), _model64(), _first_batch(method, toy_bundle())
    for step in range(STEPS):
        with _Precision():
            loss = recipe.step(model, batch, _rng(step)).loss
        assert loss.dtype == torch.float64, f"the loss is {loss.dtype}"
    return None


class _Precision(TorchFunctionMode):
    """Refuses results of less precision than float64."""

    def __torch_function__(
        self, function: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        result = function(*args, **(kwargs or {}))
        if isinstance(result, torch.Tensor) and result.is_floating_point() and result.dtype != torch.float64:
            raise AssertionError(f"{getattr(function, '__name__', function)} gives {result.dtype} amid float64")
        return result


@clause
def contract_13_device(method: Method) -> str | None:
    """A step stays on the device of its batch; torch's "meta" device, which holds no values, stands for it."""
    recipe, model = _recipe64(method), _model64().to("meta")
    batch = _first_batch(method, toy_bundle())
    batch = on_device(batch, "meta")
    for step in range(STEPS):
        loss = recipe.step(model, batch, _rng(step)).loss
        assert loss.device.type == "meta", f"the loss is on {loss.device}"
    return None


@clause
def contract_14_pickles(method: Method) -> str | None:
    """It pickles."""
    again = pickle.loads(pickle.dumps(method))
    assert again == method, f"unpickled it is {again!r}"
    return None


@clause
def contract_14_independent_copies(method: Method) -> str | None:
    """Runs of one object, one amid the other, and of its copy share nothing."""
    alone = fit(method)
    meanwhile: list[Trace] = []

    def start_another(batch: Batch, outcome: Outcome) -> None:
        if not meanwhile:
            meanwhile.append(fit(copy.deepcopy(method), seed=1))
            meanwhile.append(fit(method, seed=2))

    _same(alone, fit(method, look=start_another), "a run alone and one with others of the same object amid it")
    _same(fit(method, seed=2), meanwhile[1], "a run alone and one amid another of the same object")
    return None


@clause
def contract_15_card(method: Method) -> str | None:
    """Its docstring is a card, and what the card says it sees is what it declares."""
    text = card(type(method))
    assert text["summary"], "its docstring has no first line"
    missing = [name for name in SECTIONS if not text.get(name)]
    assert not missing, f"its card has no {' and no '.join(missing)}"
    declared, sees = type(method).groups, text["Sees"]
    if not isinstance(declared, Groups):  # it depends on the settings
        assert "parts see" in sees, f"what it sees depends on its parts, but its card says {sees!r}"
        return None
    says_none, says_train = sees.startswith("No group labels"), sees.startswith("Group labels in training")
    agree = (Groups.TRAIN in declared) == says_train and (declared == Groups.NONE) == says_none
    assert agree, f"declares {declared}, but its card says it sees {sees!r}"
    assert Groups.VALID not in declared or "validation" in sees, f"reads validation groups, but its card says {sees!r}"
    return None


METHOD_CONTRACTS = table(
    contract_01_plain_values,
    contract_02_same_seed,
    contract_03_global_generators,
    contract_04_group_blind,
    contract_05_permission,
    contract_06_erm_limit,
    contract_07_unit_weights,
    contract_07_integer_weights,
    contract_08_small_batches,
    contract_08_absent_group,
    contract_09_batch_unchanged,
    contract_10_resume,
    contract_11_overfits,
    contract_11_learns,
    contract_13_float64,
    contract_13_device,
    contract_14_pickles,
    contract_14_independent_copies,
    contract_15_card,
)


def check_method(method: Method | type[Method], exceptions: Mapping[str, str] | None = None) -> dict[str, str]:
    """Check the whole contract on a method, or on the defaults of a class.

    Args:
        method: the method; a class is constructed without arguments.
        exceptions: clause -> reason, for the clauses that are not to hold.

    Returns:
        Clause -> "holds", why it does not apply, or the reason of the exception.

    Example:
        >>> from rmix.methods import PlainMixup
        >>> check_method(PlainMixup)["06_erm_limit"]
        'holds'
    """
    subject = method() if isinstance(method, type) else method
    return run_all(subject, METHOD_CONTRACTS | table(contract_02_fresh_process), exceptions or {})


def _same(a: Trace, b: Trace, what: str, stages: Sequence[str] | None = None) -> None:
    """Every stage went through the same weights."""
    names = list(a.weights) if stages is None else stages
    for stage, epoch, left, right in _pairs(a, b, names):
        assert left == right, f"{what} differ after epoch {epoch} of stage {stage!r} (weights {left} and {right})"


def _pairs(a: Trace, b: Trace, stages: Sequence[str]) -> Iterator[tuple[str, int, str, str]]:
    for stage in stages:
        assert stage in b.weights, f"stages are {list(a.weights)} and {list(b.weights)}"
        for epoch, (left, right) in enumerate(zip(a.weights[stage], b.weights[stage], strict=True)):
            yield stage, epoch, left, right


def _with(method: Method, settings: Mapping[str, Any]) -> Method:
    changed: Method = replace(cast(Any, method), **settings)
    return changed


def _rng(number: int = 0) -> np.random.Generator:
    return stream(number, "contract", "step")


def _model64() -> torch.nn.Module:
    with torch.random.fork_rng():
        torch.random.manual_seed(0)
        return toy_model(dtype=torch.float64)


def _float64(bundle: Bundle) -> Bundle:
    return _each_split(bundle, lambda split: replace(split, x=split.x.double()))


def _each_split(bundle: Bundle, change: Callable[[Split], Split], **names: Any) -> Bundle:
    train, valid, test = (change(split) for split in bundle.splits.values())
    return replace(bundle, train=train, valid=valid, test=test, **names)


def _first_batch(method: Method, bundle: Bundle, size: int = 16) -> Batch:
    """A batch in float64, with the groups that the method may see."""
    return next(training_batches(_float64(bundle), Sampler(), size, _rng(), method.groups))


def _recipe64(method: Method) -> Recipe:
    """The recipe of the last stage, after a run in float64."""
    return fit(method, _float64(toy_bundle()), epochs=1, model=_model64).recipe


def _take(batch: Batch, rows: torch.Tensor) -> Batch:
    group = None if batch.group is None else batch.group[rows]
    return Batch(batch.x[rows], batch.y[rows], batch.index[rows], batch.weight[rows], group)
