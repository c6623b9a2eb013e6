"""The methods of rmix in a training loop of your own, which stays yours."""

from rmix.loop.head_at import HeadAt
from rmix.loop.notes import Notes
from rmix.loop.objective import Objective, RowOrder
from rmix.loop.rows import WithIndex

__all__ = ["HeadAt", "Notes", "Objective", "RowOrder", "WithIndex"]
