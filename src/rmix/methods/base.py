"""What a method is: a few numbers, and the recipe or the stages they give."""

from __future__ import annotations

from abc import ABC
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from rmix.batch import Groups
from rmix.methods.space import Space
from rmix.recipe import Facts, Recipe, Stage


class Method(ABC):
    """Hyper-parameters of one published method; subclasses are frozen dataclasses.

    A method of one stage defines :meth:`recipe`; one of several defines :meth:`stages`, a generator:
    the code after a ``yield`` runs when that stage has been trained, so no trainer knows a method by
    name. Its docstring is its card (see ``rmix.methods.cards``).
    """

    name: ClassVar[str]
    groups: Groups = Groups.NONE  # where it may look at group labels; hidden elsewhere
    erm_limit: ClassVar[Mapping[str, Any] | None] = None  # the settings at which it is ERM
    space: ClassVar[Space] = {}  # what a search tries

    def recipe(self, facts: Facts) -> Recipe:
        """The recipe of a method of one stage."""
        raise NotImplementedError(f"{type(self).__name__} defines neither recipe nor stages")

    def stages(self, facts: Facts) -> Iterator[Stage]:
        """What to train, one stage after the other."""
        yield Stage(self.recipe(facts))
