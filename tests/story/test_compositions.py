"""Parts of one method work in another; the page about it runs."""

from __future__ import annotations

import re

import pytest
import torch
from pages import ROOT, code_of, said_by

from rmix.batch import Batch, Groups
from rmix.methods import ERM, JTT, LISA, Compose, Focal, GroupDRO, InGroupMixup, LfF, Method, RMix
from rmix.mixers import CutMix, Mixup, SameLabelAndGroup, Sometimes
from rmix.recipe import Outcome
from rmix.samplers import Balanced
from rmix.testing.runs import fit
from rmix.testing.toy import toy_model
from rmix.weightings import Uncertainty

PAGE = ROOT / "docs" / "compositions.md"
WEIGHTS = Uncertainty("mean_one", eta=10.0)
COMPOSITIONS = {
    "weights of rmix in lisa": Compose(base=LISA(), weighting=WEIGHTS),
    "cutmix in igmix": Compose(mixer=CutMix(1.0, SameLabelAndGroup())),
    "mixup under group dro": Compose(base=GroupDRO(), mixer=Mixup(0.5)),
    "weights of rmix in focal": Compose(base=Focal(), weighting=WEIGHTS),
    "weights of rmix with balanced sampling": Compose(sampler=Balanced(), weighting=WEIGHTS),
    "mixup in jtt": Compose(base=JTT(), mixer=Mixup(0.5)),
}


@pytest.mark.parametrize("name", COMPOSITIONS)
def test_it_learns(name: str) -> None:
    """On a task where guessing and the shortcut are right for half of the balanced rows."""
    last = fit(COMPOSITIONS[name], epochs=20, model=toy_model).history["main"][-1]["valid"]
    assert last["rows_correct"] / last["rows"] >= 0.7


def steps(method: Method) -> list[tuple[Batch, Outcome]]:
    """The steps of the main stage of a short run."""
    seen: list[tuple[Batch, Outcome]] = []
    trace = fit(method, look=lambda batch, outcome: seen.append((batch, outcome)))
    per_stage = len(seen) // len(trace.weights)
    return seen[-per_stage:]


def test_pairs_are_those_of_lisa_and_weights_those_of_rmix() -> None:
    """Every target weighs what its row weighs in RMix, times its share of lambda; shares add up to one."""
    both, lisa = steps(COMPOSITIONS["weights of rmix in lisa"]), steps(LISA())
    for (_, mine), (_, plain) in zip(both, lisa, strict=True):
        assert torch.equal(mine.mixed.x, plain.mixed.x)  # same rows, same partners, same lambda
        for ours, theirs in zip(mine.mixed.parts, plain.mixed.parts, strict=True):
            assert torch.equal(ours.y, theirs.y)
        own = mine.batch.weight * plain.mixed.parts[0].weight
        assert torch.equal(mine.mixed.parts[0].weight, own)
    weights = torch.cat([outcome.batch.weight for _, outcome in both])
    assert weights.min() < weights.max()


def test_cutmix_stays_within_groups() -> None:
    shown = steps(COMPOSITIONS["cutmix in igmix"])
    for _, outcome in shown:
        own, other = outcome.mixed.parts
        assert torch.equal(own.y, other.y)
        assert torch.equal(own.group, other.group)
    assert not all(torch.equal(outcome.mixed.x, batch.x) for batch, outcome in shown)


def test_group_dro_counts_both_targets_of_a_blend() -> None:
    """Weights of groups sum to one, and move; a batch of one pair of groups has two parts."""
    trace = fit(COMPOSITIONS["mixup under group dro"])
    weight = trace.recipe.reduction.weight
    assert weight.sum().item() == pytest.approx(1, abs=1e-6)
    assert weight.unique().numel() > 1
    assert all(len(outcome.mixed.parts) == 2 for _, outcome in steps(COMPOSITIONS["mixup under group dro"]))


def same_main(one: Method, other: Method) -> bool:
    return fit(one).main == fit(other).main


def test_a_base_alone_is_the_base() -> None:
    assert same_main(Compose(base=RMix()), RMix())
    assert same_main(Compose(base=JTT()), JTT())
    assert same_main(Compose(), ERM())


def test_compositions_of_compositions() -> None:
    inner = Compose(mixer=Sometimes(CutMix(0.2, SameLabelAndGroup()), 1.0))
    assert same_main(Compose(base=inner), InGroupMixup(mix="cutmix"))
    assert not same_main(Compose(base=inner, sampler=Balanced()), inner)


def test_a_composition_sees_what_its_base_sees() -> None:
    assert Compose(base=GroupDRO()).groups == Groups.TRAIN
    assert Compose(base=Focal(), weighting=WEIGHTS).groups == Groups.NONE


def test_what_would_be_ignored_is_refused() -> None:
    with pytest.raises(ValueError, match=r"lff compares losses of rows as they are, so it takes no mixer; got Mixup\("):
        fit(Compose(base=LfF(), mixer=Mixup()))


@pytest.mark.slow
def test_the_python_of_the_page_runs() -> None:
    code = code_of(PAGE)
    worst = re.findall(r"worst group (\d\.\d\d)$", said_by(code), flags=re.MULTILINE)
    assert len(worst) == code.count("print(") + 2  # one line of the loop prints three times
