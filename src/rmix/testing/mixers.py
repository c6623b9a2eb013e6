"""The contracts of mixers and of pairings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from rmix.batch import Batch, Groups, Mixed
from rmix.mixers import Pairing
from rmix.recipe import Mixer
from rmix.streams import stream
from rmix.testing.clause import clause, run_all, table
from rmix.testing.generators import global_generators
from rmix.testing.plain import goes_round
from rmix.testing.runs import changed_fields, clone, same_bits
from rmix.testing.toy import toy_batch, toy_model

DRAWS = 12  # random draws looked at
DTYPES = (torch.float16, torch.bfloat16, torch.float32, torch.float64)


def _rng(number: int = 0) -> np.random.Generator:
    return stream(number, "contract", "mix")


def _batch(mixer: Mixer | Pairing, n: int = 12, dtype: torch.dtype = torch.float32) -> Batch:
    """A batch that shows groups where the mixer declares them."""
    return toy_batch(n, dtype, groups=Groups.TRAIN in mixer.groups)


def _mixed(mixer: Mixer, batch: Batch) -> Iterator[Mixed]:
    return (mixer(batch, _rng(number)) for number in range(DRAWS))


@clause
def contract_01_plain_values(mixer: Mixer) -> str | None:
    """JSON goes round, and the repr evaluates back."""
    goes_round(mixer)
    return None


@clause
def contract_02_same_draws(mixer: Mixer) -> str | None:
    """The same generator gives the same bits, and no global generator is read or moved."""
    batch, found = _batch(mixer), []
    for seed in (1, 2):
        with global_generators(seed):
            found.append(list(_mixed(mixer, batch)))
    for first, second in zip(*found, strict=True):
        assert same_bits(first.x, second.x), "two draws from equal generators give different inputs"
        for a, b in zip(first.parts, second.parts, strict=True):
            assert same_bits(a.y, b.y), f"two draws from equal generators give targets {a.y} and {b.y}"
            assert same_bits(a.weight, b.weight), f"two draws from equal generators give weights {a.weight}, {b.weight}"
    return None


@clause
def contract_03_batch_unchanged(mixer: Mixer) -> str | None:
    """No field of the batch is written into."""
    batch = _batch(mixer)
    for number in range(DRAWS):
        kept = clone(batch)
        mixer(batch, _rng(number))
        assert not (changed := changed_fields(batch, kept)), f"it changed the batch's {' and '.join(changed)}"
    return None


@clause
def contract_04_weight_preserved(mixer: Mixer) -> str | None:
    """Each class keeps the weight it has in the batch: a target carries the weight of the row it comes from.

    Per row of the mixed inputs, of which there may be more than of the batch's. This holds where every
    row is a partner once, with one lambda for all of them.
    """
    batch = _batch(mixer)
    before = _by_class(batch.y, batch.weight) / len(batch)
    for mixed in _mixed(mixer, batch):
        after = sum(_by_class(part.y, part.weight) for part in mixed.parts) / len(mixed.x)
        assert np.allclose(before, after, rtol=1e-5), f"classes weigh {before} a row in the batch and {after} mixed"
    return None


def _by_class(y: Tensor, weight: Tensor) -> np.ndarray:
    return np.bincount(y.numpy(), weight.double().numpy(), minlength=3)


@clause
def contract_05_input_matches_targets(mixer: Mixer) -> str | None:
    """An input shows what its targets say: their shares sum to one, and are their shares of the pixels."""
    whole = _batch(mixer)
    batch = replace(whole, weight=torch.ones(len(whole)))
    for mixed in _mixed(mixer, batch):
        shares = sum(part.weight for part in mixed.parts)
        stated = sum(part.weight * part.y for part in mixed.parts)
        shown = mixed.x.mean(dim=(1, 2, 3))  # an image of class 2 is 2 everywhere
        assert torch.allclose(torch.as_tensor(shares), torch.ones(len(mixed.x))), f"the shares of a row sum to {shares}"
        assert torch.allclose(torch.as_tensor(stated), shown, atol=1e-5), f"inputs show {shown}, targets say {stated}"
    return None


@clause
def contract_06_groups(mixer: Mixer) -> str | None:
    """Parts show groups where the batch does, those of the rows that the targets come from."""
    for batch in (toy_batch(groups=True), _batch(mixer)):
        for mixed in _mixed(mixer, batch):
            for part in mixed.parts:
                assert (part.group is None) == (batch.group is None), f"batch shows {batch.group}, part {part.group}"
                assert part.group is None or torch.equal(part.group, 2 - part.y), (
                    f"targets {part.y} come with groups {part.group} of other rows"
                )
    return None


@clause
def contract_07_sizes_and_types(mixer: Mixer) -> str | None:
    """It works on one row, and keeps every floating-point type."""
    for n in (1, 2, 5):
        for dtype in DTYPES:
            for mixed in _mixed(mixer, _batch(mixer, n, dtype)):
                found = {mixed.x.dtype, *(part.weight.dtype for part in mixed.parts)}
                assert found == {dtype}, f"{n} rows of {dtype} give {found}"
                assert mixed.x.isfinite().all(), f"{n} rows give inputs {mixed.x}"
                sizes = {len(mixed.x), *(len(part.y) for part in mixed.parts), *(len(p.weight) for p in mixed.parts)}
                assert len(sizes) == 1, f"inputs, targets and weights have {sizes} rows"
    return None


@clause
def contract_08_cut_of_the_model(mixer: Mixer) -> str | None:
    """The two halves of a model that it mixes between are the model."""
    model, x = toy_model(), torch.rand(3, 1, 8, 8)
    for number in range(DRAWS):
        before, after = mixer.where(model, _rng(number))
        assert torch.equal(after(before(x)), model(x)), "the two halves of the model give other logits than the model"
    return None


MIXER_CONTRACTS = table(
    contract_01_plain_values,
    contract_02_same_draws,
    contract_03_batch_unchanged,
    contract_04_weight_preserved,
    contract_05_input_matches_targets,
    contract_06_groups,
    contract_07_sizes_and_types,
    contract_08_cut_of_the_model,
)


def check_mixer(mixer: Mixer, exceptions: Mapping[str, str] | None = None) -> dict[str, str]:
    """Check the whole contract of a mixer; ``exceptions`` gives clause -> reason.

    Example:
        >>> from rmix.mixers import Mixup
        >>> check_mixer(Mixup())["04_weight_preserved"]
        'holds'
    """
    return run_all(mixer, MIXER_CONTRACTS, exceptions or {})


def check_pairing(pairing: Pairing, cell: Callable[[Batch], Tensor]) -> None:
    """A pairing gives every row a partner of its ``cell``, each row once, and each pair at times.

    Args:
        pairing: to check.
        cell: gives each row (n,) the number of the set within which it is paired.

    Example:
        >>> from rmix.mixers import AnyPair
        >>> check_pairing(AnyPair(), cell=lambda batch: torch.zeros(len(batch)))
    """
    goes_round(pairing)
    batch = _batch(pairing)
    cells, seen = cell(batch), np.zeros((len(batch), len(batch)), dtype=bool)
    for number in range(20 * DRAWS):
        with global_generators(number):
            partner = pairing(batch, _rng(number))
        assert sorted(partner.tolist()) == list(range(len(batch))), f"{pairing!r} is no permutation: {partner}"
        assert torch.equal(cells[partner], cells), f"{pairing!r} pairs across cells {cells}: {partner}"
        assert torch.equal(partner, pairing(clone(batch), _rng(number))), f"{pairing!r} draws differently each time"
        seen[np.arange(len(batch)), partner.numpy()] = True
    possible = (cells[:, None] == cells).numpy()
    assert (seen == possible).all(), f"{pairing!r} never pairs rows {np.argwhere(possible & ~seen)[0]}"
    assert pairing(_batch(pairing, 1), _rng()).tolist() == [0], f"{pairing!r} does not pair a lone row with itself"
