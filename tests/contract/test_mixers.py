"""Every mixer and every pairing keeps its contract."""

import pytest
import torch

import rmix.mixers
from rmix.mixers import (
    AnyPair,
    CutMix,
    Either,
    Manifold,
    Mixup,
    OtherGroup,
    Pairing,
    PairsUnmixed,
    SameAttributeOtherLabel,
    SameLabelAndGroup,
    SameLabelOtherGroup,
    Sometimes,
)
from rmix.recipe import Mixer
from rmix.testing import MIXER_CONTRACTS, check_mixer, check_pairing, check_selective

MIXERS = {
    "none": Mixer(),
    "mixup": Mixup(),
    "mixup in groups": Mixup(0.5, SameLabelAndGroup()),
    "mixup per sample": Mixup(per_sample=True),
    "cutmix": CutMix(1.0),
    "cutmix per sample": CutMix(1.0, per_sample=True),
    "pairs unmixed": PairsUnmixed(),
    "sometimes": Sometimes(Mixup(), 0.5),
    "manifold": Manifold(Mixup()),
    "manifold at random": Manifold(Mixup(), layer="random"),
}
PER_SAMPLE = "each pair draws its own lambda, so a row's share as itself and as a partner need not sum to one"
UNMIXED = "it shows both members of a pair unmixed, and lambda in their weights alone"
EXCEPTIONS = {
    ("mixup per sample", "04_weight_preserved"): PER_SAMPLE,
    ("cutmix per sample", "04_weight_preserved"): PER_SAMPLE,
    ("pairs unmixed", "05_input_matches_targets"): UNMIXED,
}
CELLS = {
    AnyPair: lambda batch: torch.zeros(len(batch)),
    SameLabelAndGroup: lambda batch: 3 * batch.y + batch.group,
}


def differ(values):
    return values[:, None] != values


def known(batch):
    return (batch.group >= 0)[:, None] & (batch.group >= 0)


ATTRIBUTES = (0, 0, 1, 1, 2, 0)  # of the groups of the toy cells, by their place within their class
QUALIFIED = {
    OtherGroup(): lambda batch: known(batch) & differ(batch.group),
    SameLabelOtherGroup(): lambda batch: known(batch) & differ(batch.group) & ~differ(batch.y),
    SameAttributeOtherLabel(): lambda batch: (
        known(batch) & differ(batch.y) & ~differ(torch.tensor(ATTRIBUTES)[batch.group])
    ),
    SameAttributeOtherLabel((0, 1, 1, 0, 2, 1)): lambda batch: (
        known(batch) & differ(batch.y) & ~differ(torch.tensor((0, 1, 1, 0, 2, 1))[batch.group])
    ),
    Either(OtherGroup(), AnyPair(), 1.0): lambda batch: known(batch) & differ(batch.group),
    Either(AnyPair(), SameLabelOtherGroup(), 0.0): lambda batch: known(batch) & differ(batch.group) & ~differ(batch.y),
}


@pytest.mark.parametrize("name", MIXERS)
@pytest.mark.parametrize("clause", MIXER_CONTRACTS)
def test_mixer(clause, name):
    reason = EXCEPTIONS.get((name, clause))
    if reason is None:
        MIXER_CONTRACTS[clause](MIXERS[name])
        return
    with pytest.raises(AssertionError):  # an exception that is no longer needed must go
        MIXER_CONTRACTS[clause](MIXERS[name])


@pytest.mark.parametrize("pairing", CELLS)
def test_pairing(pairing):
    check_pairing(pairing(), CELLS[pairing])


@pytest.mark.parametrize("pairing", QUALIFIED, ids=repr)
def test_selective_pairing(pairing):
    check_selective(pairing, QUALIFIED[pairing])


def _exported(base):
    classes = (value for value in vars(rmix.mixers).values() if isinstance(value, type))
    return {cls for cls in classes if issubclass(cls, base) and cls is not base}


def test_every_mixer_and_pairing_is_checked():
    assert _exported(Mixer) == {type(mixer) for mixer in MIXERS.values()} - {Mixer}
    assert _exported(Pairing) == set(CELLS) | {type(pairing) for pairing in QUALIFIED}


def test_a_broken_mixer_is_named_with_its_clause():
    class Blur(Mixer):
        name = "blur"

        def __call__(self, batch, rng):
            batch.x.mul_(0.5)
            return super().__call__(batch, rng)

    with pytest.raises(AssertionError, match=r"contract_03_batch_unchanged is broken by .*Blur.* the batch's x"):
        MIXER_CONTRACTS["03_batch_unchanged"](Blur())
    with pytest.raises(AssertionError, match="Exceptions name no clause"):
        check_mixer(Mixup(), {"99": "no such clause"})
