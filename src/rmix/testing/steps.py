"""The clauses of a method's contract that look at single steps."""

from __future__ import annotations

import copy
import math
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch.overrides import TorchFunctionMode

from rmix.batch import Batch
from rmix.datasets.base import Bundle
from rmix.methods.base import Method
from rmix.recipe import Mixer, Recipe, Sampler
from rmix.streams import stream, torch_stream
from rmix.testing.clause import clause
from rmix.testing.runs import changed_fields, clone, fit
from rmix.testing.toy import each_split, toy_bundle, toy_model
from rmix.training.batches import training_batches, training_order
from rmix.training.trainer import on_device

STEPS = 6  # steps looked at, so that a mixer that sometimes mixes does both


@clause
def contract_07_integer_weights(method: Method) -> str | None:
    """A row of weight k counts as k rows, in a batch of all rows that is not mixed.

    The weights have mean one, so a reduction may divide by the rows or by the weights.
    """
    recipe = _recipe64(method)
    model = _model64(recipe)
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
def contract_09_batch_unchanged(method: Method) -> str | None:
    """A step writes into no field of its batch, a run into no value of its data."""
    bundle = toy_bundle()
    fit(method, bundle)
    assert (after := replace(bundle).checksum) == toy_bundle().checksum, f"a run changed its data (checksum {after})"
    recipe, batch = _recipe64(method), _first_batch(method, bundle)
    model = _model64(recipe)
    for step in range(STEPS):
        kept = clone(batch)
        recipe.step(model, batch, _rng(step))
        assert not (changed := changed_fields(batch, kept)), f"a step changed the batch's {' and '.join(changed)}"
    return None


@clause
def contract_13_float64(method: Method) -> str | None:
    """Inputs in float64 give a loss in float64, and no operation on the way is of lower precision."""
    recipe, batch = _recipe64(method), _first_batch(method, toy_bundle())
    model = _model64(recipe)
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
    recipe = _recipe64(method)
    model = _model64(recipe).to("meta")
    batch = _first_batch(method, toy_bundle())
    batch = on_device(batch, "meta")
    for step in range(STEPS):
        with _OneDevice():
            loss = recipe.step(model, batch, _rng(step)).loss
        assert loss.device.type == "meta", f"the loss is on {loss.device}"
    return None


class _OneDevice(TorchFunctionMode):
    """Refuses operations on tensors of several devices, but for those that carry one over."""

    def __torch_function__(
        self, function: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        name = getattr(function, "__name__", str(function))
        tensors = [value for value in args if isinstance(value, torch.Tensor) and value.dim()]
        devices = {value.device.type for value in tensors}
        assert len(devices) <= 1 or name in ("to", "copy_"), f"{name} gets tensors on {' and '.join(sorted(devices))}"
        return function(*args, **(kwargs or {}))


def _recipe64(method: Method) -> Recipe:
    """The recipe of the last stage, after a run in float64."""
    return fit(method, _float64(toy_bundle()), epochs=1, model=lambda: toy_model(dtype=torch.float64)).recipe


def _first_batch(method: Method, bundle: Bundle, size: int = 16) -> Batch:
    """A batch in float64, with the groups that the method may see."""
    order = training_order(bundle, Sampler(), size, _rng(), method.groups)
    return next(training_batches(_float64(bundle), order, size, method.groups))


def _model64(recipe: Recipe) -> torch.nn.Module:
    """The model that ``recipe`` trains, with what it trains beside it."""
    with torch_stream(0, "contract", "init"):
        return recipe.accompany(toy_model(dtype=torch.float64)).double()


def _float64(bundle: Bundle) -> Bundle:
    return each_split(bundle, lambda split: replace(split, x=split.x.double()))


def _take(batch: Batch, rows: torch.Tensor) -> Batch:
    group = None if batch.group is None else batch.group[rows]
    return Batch(batch.x[rows], batch.y[rows], batch.index[rows], batch.weight[rows], group)


def _rng(number: int = 0) -> np.random.Generator:
    return stream(number, "contract", "step")
