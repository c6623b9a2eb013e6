"""What the methods that train the last layer alone have in common."""

from __future__ import annotations

from collections.abc import Iterator

from torch import nn

from rmix.errors import InvalidValueError
from rmix.recipe import Recipe, Stage, Weighting
from rmix.samplers import Rest


def features_stage(rest: Rest, notes: Weighting | None = None) -> Iterator[Stage]:
    """ERM on the rows of ``rest``, whose features are kept; ``notes`` looks at clean predictions."""
    identity = f"erm on {rest!r}"
    if notes is None:
        yield Stage(Recipe(rest), "features", preliminary=True, identity=identity)
    else:
        identity += f", {type(notes).__name__}"
        yield Stage(Recipe(rest, notes), "features", preliminary=True, observe="clean", identity=identity)


def linear_head(model: nn.Module) -> nn.Linear:
    """The head of ``model``, or an error where it is not one linear layer."""
    head = getattr(model, "head", None)
    if not isinstance(head, nn.Linear):
        raise InvalidValueError(
            f"Training the last layer needs a model whose `head` is one torch.nn.Linear, "
            f"got {type(head).__name__} in {type(model).__name__}."
        )
    return head
