"""The contract of a model."""

from __future__ import annotations

from typing import cast

import torch
from torch import nn

from rmix.mixers.manifold import cut_model
from rmix.models import ModelSpec
from rmix.streams import torch_stream
from rmix.testing.generators import global_generators
from rmix.testing.plain import goes_round
from rmix.testing.runs import digest


def check_model(
    spec: ModelSpec, shape: tuple[int, ...], n_classes: int = 3, *, inputs: torch.Tensor | None = None
) -> None:
    """A model is features and a head, may be cut where it says, and all of it learns.

    Args:
        spec: what is built.
        shape: of one input.
        n_classes: number of classes.
        inputs: five inputs; None = random floating-point numbers.

    Example:
        >>> from rmix.models import MLP
        >>> check_model(MLP(), (2,))
    """
    goes_round(spec)
    model, x = _built(spec, shape, n_classes), _inputs(5, shape) if inputs is None else inputs
    logits = model(x)
    assert logits.shape == (5, n_classes), f"{spec!r} gives logits of shape {tuple(logits.shape)} for 5 rows"
    assert torch.allclose(model(x[:1]), logits[:1], atol=1e-6), f"{spec!r} gives one row other logits than in a batch"
    wide = x.double() if x.is_floating_point() else x
    assert model.double()(wide).dtype == torch.float64, f"{spec!r} does not stay in float64"
    _check_initial_weights(spec, shape, n_classes)
    _check_cuts(spec, _built(spec, shape, n_classes), x)
    _check_gradients(spec, _built(spec, shape, n_classes).train(), x)


def _built(spec: ModelSpec, shape: tuple[int, ...], n_classes: int, seed: int = 0) -> nn.Module:
    with torch_stream(seed, "contract", "init"):
        return spec.build(shape, n_classes).eval()


def _inputs(n: int, shape: tuple[int, ...]) -> torch.Tensor:
    with torch_stream(0, "contract", "inputs"):
        return torch.randn(n, *shape)


def _check_initial_weights(spec: ModelSpec, shape: tuple[int, ...], n_classes: int) -> None:
    found = []
    for seed in (1, 2):
        with global_generators(seed):
            found.append(digest(_built(spec, shape, n_classes)))
    assert found[0] == found[1], f"{spec!r} draws initial weights from elsewhere than torch's generator"
    assert found[0] != digest(_built(spec, shape, n_classes, seed=1)), f"{spec!r} has fixed initial weights"


def _check_cuts(spec: ModelSpec, model: nn.Module, x: torch.Tensor) -> None:
    for part in ("features", "head"):
        assert isinstance(getattr(model, part, None), nn.Module), f"{spec!r} has no module {part!r}"
    whole = model(x)
    points = getattr(model, "mix_points", ())
    assert list(points) == sorted(set(points)), f"mix_points of {spec!r} must rise, got {points}"
    depths = len(list(cast(nn.Module, model.features).children()))
    assert all(0 <= point <= depths for point in points), f"mix_points {points} of {spec!r} lie outside"
    for depth in (None, *points):
        before, after = cut_model(model, depth)
        assert torch.equal(after(before(x)), whole), f"{spec!r} cut at {depth} gives other logits than uncut"


def _check_gradients(spec: ModelSpec, model: nn.Module, x: torch.Tensor) -> None:
    model(x).square().sum().backward()
    names = [name for name, p in model.named_parameters() if p.requires_grad and (p.grad is None or not p.grad.any())]
    assert not names, f"no gradient reaches {names[0]} of {spec!r}"
