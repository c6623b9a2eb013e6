"""The contract of a method; each clause raises ``AssertionError`` where it is broken.

A clause that says nothing about a method (the group-blind one, about a method that declares groups)
returns why; otherwise it returns None. Clause 12, that two processes on half a batch make the step
of one process on the whole, needs processes and stands in ``rmix.testing.distributed``.
"""

from __future__ import annotations

import copy
import os
import pickle
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, cast

import torch

from rmix.batch import Batch, Groups
from rmix.datasets.base import Bundle, Split
from rmix.methods import ERM
from rmix.methods.base import Method
from rmix.methods.cards import SECTIONS, card, meanings
from rmix.methods.space import Choice
from rmix.recipe import Outcome, Remembers
from rmix.streams import stream
from rmix.testing.clause import clause, run_all, table
from rmix.testing.generators import global_generators
from rmix.testing.plain import goes_round
from rmix.testing.resume import contract_10_kept_stages, contract_10_resume
from rmix.testing.runs import Trace, fit, same_weights
from rmix.testing.steps import (
    contract_07_integer_weights,
    contract_09_batch_unchanged,
    contract_13_device,
    contract_13_float64,
)
from rmix.testing.toy import each_split, toy_bundle, toy_model
from rmix.training.evaluate import evaluate

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
    same_weights(first, fit(method), "two runs of one seed")
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
    same_weights(first, second, "two runs that differ in the seed of the global generators")
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
        same_weights(plain, changed, f"runs with training groups as they are and {change}")
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
    same_weights(fit(limit), fit(ERM()), f"its main stage at {dict(method.erm_limit)} and ERM", stages=["main"])
    return None


@clause
def contract_07_unit_weights(method: Method) -> str | None:
    """Rows that all weigh one are rows without weights."""
    bundle = toy_bundle()
    ones = replace(bundle.train, weight=torch.ones(len(bundle.train)))
    same_weights(
        fit(method, bundle), fit(method, replace(bundle, train=ones)), "runs without weights and with unit weights"
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
    same_weights(with_gap, without, "runs with an absent group 2 and with groups numbered without it")
    total = with_gap.history["main"][-1]["valid"]["total"]
    assert tuple(total) == (10, 10, 0, 10), f"the validation table counts {total} rows, not (10, 10, 0, 10)"
    return None


def _renumbered(bundle: Bundle) -> Bundle:
    """The bundle without its absent group 2."""
    new = torch.tensor([0, 1, -1, 2])

    def change(split: Split) -> Split:
        return replace(split, group=None if split.group is None else new[split.group])

    return each_split(bundle, change, group_names=bundle.group_names[:3])


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
def contract_14_pickles(method: Method) -> str | None:
    """It pickles."""
    again = pickle.loads(pickle.dumps(method))
    assert again == method, f"unpickled it is {again!r}"
    return None


@clause
def contract_14_independent_copies(method: Method) -> str | None:
    """Runs of one object, one amid the other, and of its copy share nothing."""
    alone, meanwhile = fit(method), list[Trace]()

    def start_another(batch: Batch, outcome: Outcome) -> None:
        if not meanwhile:
            meanwhile.append(fit(copy.deepcopy(method), seed=1))
            meanwhile.append(fit(method, seed=2))

    same_weights(alone, fit(method, look=start_another), "a run alone and one with others of the same object amid it")
    after = fit(method, seed=2)
    same_weights(after, meanwhile[1], "a run alone and one amid another of the same object")
    shared = [part for part in _learning(alone) if any(part is other for other in _learning(after))]
    assert not shared, f"two runs share a part that learns: {shared[0]!r}"
    return None


def _learning(trace: Trace) -> list[Remembers]:
    """The parts of a run that learn while they are used."""
    parts = [part for recipe in trace.recipes for part in (recipe, *vars(recipe).values())]
    return [part for part in parts if isinstance(part, Remembers) and part.memory]


@clause
def contract_15_card(method: Method) -> str | None:
    """Its docstring is a card that explains every setting, and what it says it sees is what the method declares."""
    text = card(type(method))
    assert text["summary"], "its docstring has no first line"
    missing = [name for name in SECTIONS if not text.get(name)]
    assert not missing, f"its card has no {' and no '.join(missing)}"
    unsaid = [f.name for f in fields(cast(Any, method)) if f.name not in meanings(type(method))]
    assert not unsaid, f"its card does not say below Args: what {unsaid[0]!r} is"
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
    contract_10_kept_stages,
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


def _with(method: Method, settings: Mapping[str, Any]) -> Method:
    changed: Method = replace(cast(Any, method), **settings)
    return changed
