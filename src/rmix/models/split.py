"""Any network as features and a head: it is cut before its last linear layer."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from rmix.errors import InvalidValueError
from rmix.models.base import Network

REMEDY = "give it modules `features` and `head`, where model(x) is head(features(x)); torch.nn.Identity() may be one"


def split(model: nn.Module, x: Tensor) -> nn.Module:
    """``model`` itself where it has ``features`` and ``head``, else cut before the linear layer that runs last.

    That the parts give what the whole gave is tried on ``x``, two inputs.

    Args:
        model: gives logits (2, n_classes) for ``x``; it is taken apart, and in evaluation mode afterwards.
        x: inputs.

    Example:
        >>> net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
        >>> split(net, torch.ones(2, 4)).head
        Linear(in_features=8, out_features=2, bias=True)
    """
    name = type(model).__name__
    model.eval()
    with torch.no_grad():
        ran, logits = _linear_layers(model, x)
        if not isinstance(logits, Tensor) or logits.ndim != 2 or len(logits) != len(x):
            shape = tuple(logits.shape) if isinstance(logits, Tensor) else type(logits).__name__
            raise InvalidValueError(f"{name} must give logits (rows, classes), got {shape} for {len(x)} rows.")
        if _is_whole(model, x, logits):
            return model
        if not ran:
            raise InvalidValueError(f"{name} cannot be split into features and a head: no linear layer runs; {REMEDY}.")
        network = _cut(model, ran[-1])
        if not _is_whole(network, x, logits):
            raise InvalidValueError(
                f"{name} cannot be split into features and a head: its output is not that of its last linear layer, "
                f"{ran[-1]!r}; {REMEDY}."
            )
    return network


def _linear_layers(model: nn.Module, x: Tensor) -> tuple[list[str], object]:
    """Names of the linear layers in the order in which they ran, and what the model gave."""
    ran: list[str] = []
    handles = [
        layer.register_forward_hook(lambda *_, name=name: ran.append(name))
        for name, layer in model.named_modules()
        if isinstance(layer, nn.Linear)
    ]
    try:
        return ran, model(x)
    finally:
        for handle in handles:
            handle.remove()


def _cut(model: nn.Module, name: str) -> Network:
    head = model.get_submodule(name)
    if not name:
        return Network(nn.Identity(), head, ())
    model.set_submodule(name, nn.Identity())
    return Network(model, head, ())


def _is_whole(model: nn.Module, x: Tensor, logits: Tensor) -> bool:
    """Whether the head gives ``logits`` for the features."""
    features, head = getattr(model, "features", None), getattr(model, "head", None)
    if not isinstance(features, nn.Module) or not isinstance(head, nn.Module):
        return False
    try:
        found = head(features(x))
        return bool(torch.allclose(found, logits, equal_nan=True))
    except Exception:  # layers that run between the two, or twice, fail in many ways without them
        return False
