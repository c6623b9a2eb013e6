"""A network that was made in Python."""

from __future__ import annotations

import copy
import hashlib
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn
from torch.nn.parameter import is_lazy

from rmix.errors import InvalidValueError, require
from rmix.models.base import ModelSpec
from rmix.models.split import split


@dataclass(frozen=True)
class OwnModule(ModelSpec):
    """Any ``torch.nn.Module`` that gives logits; in results it is known by its class and its checksum.

    It starts with the weights it has, in every stage and with every seed, and is not changed: a copy is
    trained. Where it has no ``features`` and ``head``, the copy is split before its last linear layer.

    Args:
        name: of its class.
        checksum: of its layers and weights.
        module: the network.
    """

    name: str  # type: ignore[misc]  # of its class, where every other model has its own
    checksum: str
    module: nn.Module = field(repr=False, compare=False, metadata={"plain": False})

    @classmethod
    def of(cls, module: nn.Module) -> OwnModule:
        """What builds copies of ``module``."""
        lazy = [name for name, p in module.named_parameters() if is_lazy(p)]
        require(not lazy, f"{type(module).__name__} has no size yet at {lazy[:1]}; run it on an input once.")
        digest = hashlib.sha256(repr(module).encode())
        for name, value in module.state_dict().items():
            digest.update(repr((name, tuple(value.shape), value.dtype)).encode())
            digest.update(value.detach().cpu().contiguous().view(-1).view(torch.uint8).numpy().tobytes())
        return cls(type(module).__name__, digest.hexdigest()[:16], module)

    def build(self, shape: tuple[int, ...], n_classes: int) -> nn.Module:
        model = copy.deepcopy(self.module)
        x = self._inputs(model.eval(), shape)
        found = split(model, x)
        with torch.no_grad():
            made = found(x).shape[1]
        if made != n_classes:
            raise InvalidValueError(f"{self.name} gives {made} logits, where there are {n_classes} classes.")
        return found

    def _inputs(self, model: nn.Module, shape: tuple[int, ...]) -> Tensor:
        """Two inputs that the network takes: numbers, or row numbers of an embedding."""
        like = next((p for p in model.parameters() if p.is_floating_point()), torch.empty(0))
        numbers = torch.linspace(-1, 1, 2 * torch.Size(shape).numel(), dtype=like.dtype, device=like.device)
        first: Exception | None = None
        for x in (numbers.view(2, *shape), torch.zeros(2, *shape, dtype=torch.int64, device=like.device)):
            try:
                with torch.no_grad():
                    model(x)
                return x
            except Exception as error:  # a foreign network fails in many ways
                first = first or error
        reason = (str(first) or type(first).__name__).splitlines()[0]
        raise InvalidValueError(f"{self.name} does not take inputs of shape {shape}: {reason[:120]}") from first
