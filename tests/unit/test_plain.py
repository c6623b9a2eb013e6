"""Dataclasses as plain values and back, strictly."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rmix.errors import InvalidValueError, UnknownNameError
from rmix.experiment.config import PARTS, config_from, method_from
from rmix.experiment.plain import from_plain, named_from_plain, to_plain
from rmix.methods import METHODS, Compose, Method, RMix, RMixAware
from rmix.mixers import (
    CutMix,
    Either,
    Manifold,
    Mixup,
    OtherGroup,
    PairsUnmixed,
    SameLabelAndGroup,
    Sometimes,
)
from rmix.models import MODELS
from rmix.recipe import Mixer, Sampler
from rmix.samplers import Balanced, HeldOut, PerGroup, Rest, Upsampled
from rmix.training.settings import Training
from rmix.weightings import (
    EffectiveNumber,
    Fixed,
    FromEnsemble,
    FromTrajectory,
    GroupSize,
    InverseFrequency,
    Uncertainty,
)


@dataclass(frozen=True)
class Thing:
    """One field of each kind."""

    name: ClassVar[str] = "thing"
    count: int = 1
    share: float = 0.5
    flag: bool = False
    word: str = "a"
    choice: Literal["x", "y"] = "x"
    maybe: float | None = None
    sizes: tuple[int, ...] = (1, 2)


GOOD = {"count": 3, "share": 0.25, "flag": True, "word": "b", "choice": "y", "maybe": 2.0, "sizes": [4]}


def test_by_hand() -> None:
    thing = from_plain(Thing, GOOD)
    assert thing == Thing(3, 0.25, True, "b", "y", 2.0, (4,))
    assert to_plain(thing) == {"name": "thing", **GOOD}


def test_whole_numbers_are_numbers() -> None:
    thing = from_plain(Thing, {"share": 1, "maybe": 2})
    assert (thing.share, thing.maybe) == (1.0, 2.0)
    assert isinstance(thing.share, float)
    assert isinstance(thing.maybe, float)
    assert isinstance(from_plain(Thing, {"count": 2}).count, int)


@pytest.mark.parametrize(("setting", "message"), [
    ({"count": 1.5}, "thing.count must be int, got 1.5."),
    ({"count": "1"}, "thing.count must be int, got '1'."),
    ({"count": True}, "thing.count must be int, got True."),
    ({"share": "0.5"}, "thing.share must be float, got '0.5'."),
    ({"share": False}, "thing.share must be float, got False."),
    ({"flag": 1}, "thing.flag must be bool, got 1."),
    ({"word": None}, "thing.word must be str, got None."),
    ({"choice": "z"}, "thing.choice must be 'x' or 'y', got 'z'."),
    ({"maybe": "none"}, "thing.maybe must be float or none, got 'none'."),
    ({"sizes": 3}, "thing.sizes must be tuple, got 3."),
])  # fmt: skip
def test_a_wrong_type_is_named_with_the_value(setting: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidValueError) as error:
        from_plain(Thing, setting, where="thing")
    assert str(error.value) == message


def test_the_items_of_a_list_are_checked_too() -> None:
    for sizes in ([1.5, 2], ["4"], [True]):
        with pytest.raises(InvalidValueError, match=r"thing\.sizes\[0\] must be int, got"):
            from_plain(Thing, {"sizes": sizes}, where="thing")


def test_an_unknown_key_gets_a_suggestion_and_the_known_ones() -> None:
    with pytest.raises(InvalidValueError) as error:
        from_plain(Thing, {"shape": 1.0})
    assert str(error.value) == (
        "No setting named 'shape' in Thing. Did you mean 'share'? "
        "Known: count, share, flag, word, choice, maybe, sizes."
    )


def test_an_unknown_name_gets_a_suggestion() -> None:
    with pytest.raises(UnknownNameError, match=r"^No thing named 'thin'\. Did you mean 'thing'\? Known: thing\.$"):
        named_from_plain("thing", "thin", {"thing": Thing})


def test_a_name_is_needed() -> None:
    with pytest.raises(InvalidValueError, match=r"A thing needs a name, got {'count': 2}\."):
        named_from_plain("thing", {"count": 2}, {"thing": Thing})


def test_what_is_not_plain_is_refused() -> None:
    for value in (object(), {1, 2}, lambda: 0, b"x"):
        with pytest.raises(InvalidValueError, match=r"cannot be written down as plain values"):
            to_plain(value)


COMPOSED = [
    Compose(),
    Compose(Balanced(), GroupSize(ratio=3.0), Sometimes(CutMix(1.0, SameLabelAndGroup(), True), 0.25)),
    Compose(weighting=Uncertainty("mean_one", 3.0, 0.5, FromTrajectory(2, 3, "clean")), mixer=PairsUnmixed()),
    Compose(weighting=Uncertainty(source=FromEnsemble(3)), mixer=Manifold(Mixup(2.0), "random")),
    Compose(weighting=Fixed(table=(1.0, 2.5, 0.0))),
    Compose(weighting=InverseFrequency(power=0.5)),
    Compose(Sampler(), EffectiveNumber(beta=0.9), Mixer()),
    Compose(Upsampled((1, 0, 3))),
    Compose(HeldOut(0.3, 1, True, Balanced())),
    Compose(Rest(0.3)),
    Compose(PerGroup(2), mixer=Mixup(1.0, Either(prob=0.25))),
    Compose(mixer=Mixup(1.0, OtherGroup())),
    *(Compose(base=cls()) for cls in (*METHODS.values(), Compose)),  # "mixup" is a method and a mixer
]


@pytest.mark.parametrize("method", [cls() for cls in METHODS.values()] + COMPOSED, ids=repr)
def test_every_method_makes_the_round_trip_through_json(method: Method) -> None:
    assert method_from(json.loads(json.dumps(to_plain(method)))) == method


@pytest.mark.parametrize("part", PARTS.values(), ids=PARTS.keys())
def test_every_part_is_tried_in_a_composition(part: type[Any]) -> None:
    """So that the round trips above leave none out: any_pair is the pairing of the default mixers."""
    text = json.dumps([to_plain(method) for method in COMPOSED])
    assert f'"name": "{part.name}"' in text


@pytest.mark.parametrize(("plain", "message"), [
    ({"mixer": {"name": "group_size"}}, r"compose\.mixer must be Mixer or none, got GroupSize"),
    ({"weighting": {"name": "mixup"}}, r"compose\.weighting must be WeightRule or none, got Mixup"),
    ({"sampler": {"name": "any_pair"}}, r"compose\.sampler must be Sampler or none"),
    ({"mixer": {"name": "mixup", "pairing": {"name": "balanced"}}}, r"mixup\.pairing must be Pairing, got Balanced"),
])  # fmt: skip
def test_a_part_in_the_wrong_slot_is_refused(plain: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidValueError, match=message):
        method_from({"name": "compose", **plain})


def test_a_mapping_where_a_number_belongs_is_refused() -> None:
    with pytest.raises(InvalidValueError, match=r"rmix\.eta must be float, got {'low': 1}"):
        method_from({"name": "rmix", "eta": {"low": 1}})


def test_a_part_may_be_given_by_name() -> None:
    assert method_from({"name": "compose", "mixer": {"name": "mixup"}}).mixer == Mixup()


FLOATS = st.floats(0.01, 100)
quick = settings(max_examples=60, deadline=None, derandomize=True)


@quick
@given(eta=st.floats(0, 1e6), alpha=FLOATS, prob=st.floats(0, 1), window=st.none() | st.integers(1, 99),
       mix=st.sampled_from(["mixup", "cutmix", "manifold", "manifold_random", "none"]), per_sample=st.booleans(),
       lr=st.floats(1e-9, 10), epochs=st.integers(1, 1000), clip=st.none() | FLOATS, seed=st.integers(0, 2**40),
       sizes=st.tuples(*[st.integers(1, 10**6)] * 4))  # fmt: skip
def test_any_configuration_makes_the_round_trip_through_json(
    eta: float, alpha: float, prob: float, window: int | None, mix: str, per_sample: bool, lr: float, epochs: int,
    clip: float | None, seed: int, sizes: tuple[int, ...],
) -> None:  # fmt: skip
    config = config_from({
        "dataset": {"name": "moons", "sizes": list(sizes)},
        "method": RMix(eta=eta, alpha=alpha, mix_prob=prob, window=window, mix=mix, per_sample=per_sample),
        "model": "mlp", "training": Training(epochs=epochs, lr=lr, clip_norm=clip), "seed": seed,
    })  # fmt: skip
    again = config_from(json.loads(json.dumps(config.to_plain())))
    assert again == config
    assert again.to_plain() == config.to_plain()


@pytest.mark.parametrize("cls", [*METHODS.values(), *MODELS.values(), *PARTS.values()])
def test_everything_that_is_written_down_is_frozen_and_has_typed_fields(cls: type[Any]) -> None:
    assert cls.__dataclass_params__.frozen
    assert all(field.type for field in fields(cls))


def test_methods_are_equal_by_their_settings() -> None:
    assert RMixAware(ratio=3.0) == RMixAware(ratio=3.0) != RMixAware(ratio=4.0)
