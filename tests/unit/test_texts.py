"""Texts as inputs of a split."""

import pytest
import torch
from toys import bundle_of, split_of

from rmix.datasets.texts import Texts
from rmix.errors import DataError


def test_texts_are_inputs_of_a_bundle_known_by_their_checksum():
    def checksum(strings):
        return bundle_of(train=split_of([0, 1, 0, 1], [0, 0, 1, 1], Texts(strings))).checksum

    base = checksum(["a", "b", "c", "d"])
    assert base == checksum(["a", "b", "c", "d"])
    assert len({base, checksum(["b", "a", "c", "d"]), checksum(["ab", "", "c", "d"])}) == 3


def test_texts_that_utf8_does_not_know_have_a_checksum():
    assert Texts(["\ud800"]).checksum != Texts(["\ud801"]).checksum


def test_texts_say_what_turns_them_into_numbers():
    with pytest.raises(
        DataError, match=r"2 texts must be turned into numbers .* --model distilbert, or --features mini"
    ):
        Texts(["a", "b"])[torch.arange(1)]
