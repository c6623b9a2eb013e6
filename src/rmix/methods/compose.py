"""Your own method in one line: this method, with these pairs, this mixer, these weights."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rmix.batch import Groups
from rmix.errors import require
from rmix.methods.base import Method
from rmix.methods.erm import ERM
from rmix.recipe import Facts, Mixer, Recipe, Sampler, Stage, Weighting
from rmix.weightings.rule import WeightRule


@dataclass(frozen=True)
class Compose(Method):
    """Any sampler, weight rule and mixer together, with the loss and the reduction of any method.

    Paper: None; the parts are those of the published methods.
    Idea: A method is a choice of parts, so a new combination needs no new code.
    Sees: What its parts see: group labels where one of them reads them.
    Cost: That of its base, and an ERM run where the weights need its notes.
    Deviations: None.
    Reference numbers: None.

    Args:
        sampler: which rows make a batch.
        weighting: how much each row counts.
        mixer: which rows are blended.
        base: the method whose parts are used where none is given, in its last stages; None = ERM.

    Example:
        >>> from rmix.mixers import CutMix, SameLabelAndGroup
        >>> from rmix.weightings import GroupSize
        >>> mine = Compose(mixer=CutMix(1.0, SameLabelAndGroup()), weighting=GroupSize(ratio=10))
        >>> mine.groups
        <Groups.TRAIN: 1>
    """

    name: ClassVar[str] = "compose"
    sampler: Sampler | None = None
    weighting: WeightRule | None = None
    mixer: Mixer | None = None
    base: Method | None = None

    def __post_init__(self) -> None:
        wanted = {"sampler": Sampler, "weighting": WeightRule, "mixer": Mixer, "base": Method}
        for slot, kind in wanted.items():
            part = getattr(self, slot)
            require(part is None or isinstance(part, kind), f"{slot} must be a {kind.__name__}, got {part!r} (compose)")

    @property
    def groups(self) -> Groups:  # type: ignore[override]
        """The union of what the parts see."""
        seen = Groups.NONE
        for part in (self.sampler, self.weighting, self.mixer, self.base):
            seen |= Groups.NONE if part is None else part.groups
        return seen

    def stages(self, facts: Facts) -> Iterator[Stage]:
        weighting = None if self.weighting is None else (yield from self.weighting.prepare(facts))
        for stage in (self.base or ERM()).stages(facts):
            if not stage.preliminary:
                self._put(stage.recipe, weighting)
            yield stage

    def _put(self, recipe: Recipe, weighting: Weighting | None) -> None:
        """Put what was given in the place of the base's part."""
        for slot, part in (("sampler", self.sampler), ("weighting", weighting), ("mixer", self.mixer)):
            if part is not None:
                setattr(recipe, slot, part)


class Composed(Method):
    """A named method that is a composition of parts."""

    def composed(self) -> Compose:
        """The parts."""
        raise NotImplementedError

    def __post_init__(self) -> None:
        self.composed()  # a bad setting is refused where it is written down, not when it is used

    def stages(self, facts: Facts) -> Iterator[Stage]:
        return self.composed().stages(facts)
