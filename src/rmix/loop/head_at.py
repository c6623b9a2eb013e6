"""Any model seen as features and a head, so that hidden features can be mixed in it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn

from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.hooks import RemovableHandle

from rmix.errors import InvalidValueError


class HeadAt(nn.Module):
    """A model whose head is its module ``head``, and whose features are all that comes before.

    A view for an :class:`Objective`; train, save and evaluate the model itself.

    Args:
        model: gives logits, or an object with ``logits``, for a tensor or for a dictionary of arguments.
        head: dotted name of the module whose input is mixed, and whose output are the logits.

    Example:
        >>> import torch
        >>> layers = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
        >>> HeadAt(layers, "2").features(torch.zeros(3, 4)).shape
        torch.Size([3, 8])
    """

    def __init__(self, model: nn.Module, head: str) -> None:
        super().__init__()
        self.model = model
        inner = unwrapped(model)
        modules = dict(inner.named_modules())
        if not head or head not in modules:
            children = ", ".join(name for name, _ in inner.named_children())
            raise InvalidValueError(f"{type(inner).__name__} has no module {head!r} for a head; it has {children}.")
        # in a tuple: to torch, the head is the model's own and not this view's too
        self._parts: tuple[nn.Module, nn.Module] = _Before(model, modules[head]), modules[head]

    @property
    def features(self) -> nn.Module:
        """What runs before the head."""
        return self._parts[0]

    @property
    def head(self) -> nn.Module:
        """What runs after the features."""
        return self._parts[1]

    def forward(self, x: Any) -> Tensor:
        """Logits (b, n_classes)."""
        return logits_of(shown(self.model, x))


class _Before(nn.Module):
    """Runs a model up to its head, and gives what the head would be shown."""

    def __init__(self, model: nn.Module, head: nn.Module) -> None:
        super().__init__()
        self._of = model, head

    def forward(self, x: Any) -> Tensor:
        model, head = self._of
        if isinstance(model, DistributedDataParallel):
            raise InvalidValueError(
                "Hidden features cannot be mixed in DistributedDataParallel, which must see the whole forward pass; "
                "use the model itself and objective.update(model, optimizer, x, y, index), which sums the gradients."
            )
        handle = head.register_forward_pre_hook(_stop)
        try:
            shown(unwrapped(model), x)
        except _ReachedError as reached:
            return reached.hidden
        finally:
            handle.remove()
        raise InvalidValueError(f"{type(model).__name__} gave its output without calling the module named as its head.")


class _ReachedError(Exception):
    """The head is about to run."""

    def __init__(self, hidden: Tensor) -> None:
        super().__init__("the head was called outside of a forward pass of rmix")
        self.hidden = hidden


def _stop(_: nn.Module, given: tuple[Tensor, ...]) -> NoReturn:
    raise _ReachedError(given[0])


def unwrapped(model: nn.Module) -> nn.Module:
    """The model inside DistributedDataParallel and torch.compile."""
    inner = model.module if isinstance(model, DistributedDataParallel) else model
    original: nn.Module = getattr(inner, "_orig_mod", inner)
    return original


def shown(model: nn.Module, x: Any) -> Any:
    """What the model gives for a tensor, or for a dictionary of arguments."""
    return model(**x) if isinstance(x, Mapping) else model(x)


def checks_logits(model: nn.Module, n_classes: int) -> RemovableHandle | None:
    """Have every output of ``model`` checked until the handle is removed; a compiled model is left alone."""

    def check(_: nn.Module, __: Any, output: Any) -> None:
        if not isinstance(output, Tensor):
            raise InvalidValueError(
                f"A model must give logits, got {type(output).__name__}; rmix.HeadAt(model, 'name of its last module') "
                "takes the logits of an output that has them."
            )
        if output.dim() != 2 or output.shape[1] < n_classes:
            raise InvalidValueError(
                f"A model must give one logit a class, (b, {n_classes}), got {tuple(output.shape)}; "
                f"its last layer needs {n_classes} outputs."
            )

    return None if hasattr(model, "_orig_mod") else model.register_forward_hook(check)


def logits_of(output: Any) -> Tensor:
    """The logits of an output that is, or has, logits."""
    logits = getattr(output, "logits", output)
    if not isinstance(logits, Tensor):
        raise InvalidValueError(f"A model must give logits, or an object with `logits`; got {type(output).__name__}.")
    return logits
