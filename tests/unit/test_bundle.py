"""Splits, bundles, and what a method may know of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from toys import SMALL_MOONS, bundle_of, split_of

from rmix.batch import Groups
from rmix.datasets import FourMoons
from rmix.datasets.base import ShownGroups
from rmix.errors import DataError, InvalidValueError


def test_membership_of_a_vector_is_one_hot() -> None:
    member = split_of([0, 1, 0], group=[2, -1, 0]).member(3)
    assert member.tolist() == [[False, False, True], [False, False, False], [True, False, False]]


def test_membership_of_a_matrix_is_the_matrix() -> None:
    matrix = [[True, True], [False, False]]
    assert split_of([0, 1], group=matrix).member(2).tolist() == matrix
    assert split_of([0, 1]).member(2) is None


def test_facts_by_hand() -> None:
    bundle = bundle_of(train=split_of([0, 1, 1, 1], group=[0, 0, 0, -1]), valid=split_of([0, 1]), test=split_of([0, 1]))
    facts = bundle.facts(Groups.TRAIN, notes_epochs=7)
    assert (facts.n, facts.n_classes, facts.class_counts, facts.notes_epochs) == (4, 2, (1, 3), 7)
    assert (facts.group_counts, facts.group_rows) == ((3, 0), (3, 0))


@pytest.mark.parametrize("groups", [Groups.NONE, Groups.VALID])
def test_groups_are_hidden_unless_declared(groups: Groups) -> None:
    bundle = bundle_of()
    facts, rows = bundle.facts(groups), bundle.rows(groups)
    assert (facts.group_counts, facts.group_rows, rows.group) == (None, None, None)
    assert len(rows) == 4


def test_groups_shown_in_training_may_be_others_than_those_counted() -> None:
    shown = ShownGroups(torch.tensor([2, 0, -1, 2]), ("p", "q", "r"))
    bundle = bundle_of(shown=shown)
    facts = bundle.facts(Groups.TRAIN)
    assert facts.group_counts == facts.group_rows == (1, 0, 2)
    assert bundle.rows(Groups.TRAIN).group.tolist() == [2, 0, -1, 2]
    assert bundle.train_counts == (2, 2)
    hidden = bundle.facts(Groups.VALID)
    assert (hidden.group_counts, hidden.group_rows, bundle.rows(Groups.NONE).group) == (None, None, None)


def test_shown_groups_are_checked() -> None:
    with pytest.raises(DataError, match="Split 'train' has 4 labels but 3 rows of shown groups"):
        bundle_of(shown=ShownGroups(torch.tensor([0, 0, 0]), ("p",)))
    with pytest.raises(DataError, match=r"shown group ids must be 0 … 0 \(n_groups=1\); got 1 at row 3"):
        bundle_of(shown=ShownGroups(torch.tensor([0, 0, 0, 1]), ("p",)))


def test_shapes_and_counts() -> None:
    bundle = SMALL_MOONS.load()
    assert (bundle.shape, bundle.n_classes, bundle.n_groups) == ((2,), 2, 4)
    assert bundle.train_counts == (30, 30, 5, 5)
    assert bundle_of(train=split_of([0, 1])).train_counts is None


def test_the_checksum_sees_every_value_of_every_split() -> None:
    bundle = bundle_of()
    good = bundle.train
    x = good.x.clone()
    x[3, 1] = 1e-30
    others = [
        replace(bundle, **{split: replace(good, **change)})
        for split in ("train", "valid", "test")
        for change in (
            {"x": x},
            {"y": good.y.flip(0)},
            {"group": torch.tensor([0, 1, 0, 1])},
            {"weight": torch.tensor([1.0, 1.0, 1.0, 2.0])},
        )
    ]
    others += [
        replace(bundle, shown=ShownGroups(torch.tensor(group), names))
        for group, names in (([0, 0, 1, 1], ("a", "b")), ([0, 0, 1, 0], ("a", "b")), ([0, 0, 1, 1], ("a", "c")))
    ]
    others.append(bundle.with_inputs(lambda name, inputs: inputs.double()))
    others += [replace(bundle, group_names=("a", "c")), replace(bundle, class_names=("no", "yess"))]
    checksums = {other.checksum for other in [bundle, *others]}
    assert len(checksums) == 1 + 12 + 3 + 1 + 2
    assert bundle_of().checksum == bundle.checksum


def test_the_layout_of_x_in_memory_does_not_matter() -> None:
    bundle = bundle_of()
    strided = torch.zeros(2, 4).T
    assert not strided.is_contiguous()
    assert replace(bundle, train=replace(bundle.train, x=strided)).checksum == bundle.checksum


def test_moons_are_drawn_from_their_own_seed() -> None:
    one, again, other = (FourMoons(seed=seed).load() for seed in (0, 0, 1))
    assert one.checksum == again.checksum != other.checksum


def test_moons_lie_where_their_card_says() -> None:
    """Without noise a moon is half a unit circle: groups 0 and 2 open down, 1 and 3 up."""
    train = FourMoons(sizes=(50, 50, 50, 50), noise=0.0).load().train
    for group, (x, y, side) in enumerate([(-1.5, 0.1, 1), (1.5, -0.1, -1), (1.5, 0.1, 1), (-1.5, -0.1, -1)]):
        points = train.x[train.group == group].numpy() - np.array([x, y])
        np.testing.assert_allclose(np.linalg.norm(points, axis=1), 1, atol=1e-6)
        assert (side * points[:, 1] >= -1e-6).all()
        assert (train.y[train.group == group] == group % 2).all()


def test_sizes_of_moons_are_checked() -> None:
    with pytest.raises(InvalidValueError, match=r"sizes must be 4 numbers >= 1, got \(5, 5, 0, 5\)"):
        FourMoons(sizes=(5, 5, 0, 5))
    with pytest.raises(InvalidValueError, match="noise must be >= 0 and finite, got -1"):
        FourMoons(noise=-1)
