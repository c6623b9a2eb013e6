"""Models that start from published weights, under the names that their authors gave the parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor, nn

from rmix.errors import DataError
from rmix.models.base import ModelSpec, Network

COUNTER = "num_batches_tracked"  # old files lack it, and nothing reads it


@dataclass(frozen=True)
class Published(ModelSpec):
    """A model of which files are published; subclasses translate the names."""

    fresh: ClassVar[tuple[str, ...]] = ("head.",)  # stays as it is where a file lacks it, or has other classes

    def network(self, n_classes: int) -> Network:
        """The layers, with initial weights."""
        raise NotImplementedError

    def published_name(self, name: str) -> str:
        """The name in a published file of what the model calls ``name``."""
        raise NotImplementedError

    def our_name(self, name: str) -> str:
        """What the model calls ``name`` of a published file."""
        raise NotImplementedError

    def restored(self, shape: tuple[int, ...], n_classes: int, state: Mapping[str, Tensor]) -> nn.Module:
        model = self.network(n_classes)  # trained weights need no published ones
        model.load_state_dict(state)
        return model

    def published_state(self, model: nn.Module) -> dict[str, Tensor]:
        """The state dict of ``model`` under the names of published files, for other libraries."""
        return {self.published_name(name): value for name, value in model.state_dict().items()}

    def load_published(self, model: Network, published: Mapping[str, Tensor], source: str) -> None:
        """Put a published state dict into ``model``; ``source`` is where it is from, for messages."""
        found = {self.our_name(name): value for name, value in published.items()}
        wanted = model.state_dict()
        other = [name for name, value in found.items() if name in wanted and value.shape != wanted[name].shape]
        replaced = tuple(prefix for prefix in self.fresh if any(name.startswith(prefix) for name in other))
        found = {name: value for name, value in found.items() if not (replaced and name.startswith(replaced))}
        other = [name for name in other if name in found]
        missing = [
            name for name in wanted if name not in found and not (name.startswith(self.fresh) or COUNTER in name)
        ]
        foreign = [name for name in found if name not in wanted]
        for names, what in ((missing, "it lacks"), (foreign, "it also has"), (other, "another shape has")):
            if names:
                first = self.published_name(names[0])
                raise DataError(f"{source} is not of {self.name}: {what} {first!r} (and {len(names) - 1} more).")
        model.load_state_dict(wanted | found)
