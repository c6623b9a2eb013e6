"""A frozen network that turns inputs into features, on which heads are then trained."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

BATCH = 16  # inputs embedded at once by a thread: larger ones spend half their time on fresh memory


@dataclass(frozen=True)
class Encoder:
    """What embeds inputs; subclasses are frozen dataclasses of settings, each with a ``checksum`` of its weights.

    The checksum is part of the settings, so that the name of a run and of what is kept on disk says
    which weights were used; a run that is repeated with other weights is refused.
    """

    name: ClassVar[str]

    @property
    def identity(self) -> str:
        """All that determines its features: its settings, the checksum of its weights, and not where these are."""
        settings = {f.name: getattr(self, f.name) for f in fields(self) if f.metadata.get("plain", True)}
        return repr((self.name, settings))

    def view(self, x: Any) -> Any:
        """The inputs of a split as the network takes them, with ``checksum``, or a sentence why they cannot be."""
        raise NotImplementedError

    def network(self) -> nn.Module:
        """The network, in evaluation mode: (n, ...) of the view to features (n, d)."""
        raise NotImplementedError

    def batches(self, view: Any, rows: Tensor) -> Sequence[Tensor]:
        """The rows in the batches in which they are embedded, in any order."""
        return torch.split(rows, BATCH)
