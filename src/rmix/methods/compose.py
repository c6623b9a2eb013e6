"""Your own method in one line: these pairs, this mixer, these weights."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import ClassVar

from rmix.batch import Groups
from rmix.methods.base import Method
from rmix.recipe import Facts, Mixer, Recipe, Sampler, Stage
from rmix.weightings.rule import WeightRule


@dataclass(frozen=True)
class Compose(Method):
    """Any sampler, weight rule and mixer together; the named methods of mixing are such compositions.

    Paper: None; the parts are those of the published methods.
    Idea: A method is a choice of parts, so a new combination needs no new code.
    Sees: What its parts see: group labels where one of them reads them.
    Cost: One forward and one backward pass a step, and an ERM run where the weights need its notes.
    Deviations: None.
    Reference numbers: None.

    Example:
        >>> from rmix.mixers import CutMix, SameLabelAndGroup
        >>> from rmix.weightings import GroupSize
        >>> mine = Compose(mixer=CutMix(1.0, SameLabelAndGroup()), weighting=GroupSize(ratio=10))
        >>> mine.groups
        <Groups.TRAIN: 1>
    """

    name: ClassVar[str] = "compose"
    sampler: Sampler = field(default_factory=Sampler)
    weighting: WeightRule | None = None
    mixer: Mixer = field(default_factory=Mixer)

    @property
    def groups(self) -> Groups:  # type: ignore[override]
        """The union of what the parts see."""
        weighting = Groups.NONE if self.weighting is None else self.weighting.groups
        return self.sampler.groups | weighting | self.mixer.groups

    def stages(self, facts: Facts) -> Iterator[Stage]:
        recipe = Recipe(sampler=self.sampler, mixer=self.mixer)
        if self.weighting is not None:
            recipe.weighting = yield from self.weighting.prepare(facts)
        yield Stage(recipe)


class Composed(Method):
    """A named method that is a composition of parts."""

    def composed(self) -> Compose:
        """The parts."""
        raise NotImplementedError

    def __post_init__(self) -> None:
        self.composed()  # a bad setting is refused where it is written down, not when it is used

    def stages(self, facts: Facts) -> Iterator[Stage]:
        return self.composed().stages(facts)
