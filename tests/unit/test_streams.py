"""Named randomness."""

from __future__ import annotations

import random

import numpy as np
import pytest
import torch

from rmix.streams import stream, torch_stream


def globals_now() -> tuple[object, ...]:
    """The state of every global generator."""
    kind, keys, *rest = np.random.get_state()  # noqa: NPY002
    return random.getstate(), kind, keys.tolist(), rest, torch.get_rng_state().tolist()


def test_a_name_always_gives_the_same_draws() -> None:
    assert stream(3, "mix", "main", 7).random(5).tolist() == stream(3, "mix", "main", 7).random(5).tolist()


def test_pinned_values() -> None:
    """Pinned from our own run: a change here changes every published number."""
    assert stream(0, "order", "main", 3).integers(1000, size=4).tolist() == [281, 127, 575, 227]
    assert stream(1, "init", "notes").integers(1000, size=4).tolist() == [839, 129, 445, 712]
    with torch_stream(0, "init", "main"):
        assert torch.randint(1000, (4,)).tolist() == [299, 832, 2, 913]


@pytest.mark.parametrize("other", [
    (1, "order", "main", 3), (0, "mix", "main", 3), (0, "order", "notes", 3), (0, "order", "main", 4),
    (0, "order", "main"), (0, "order", "main", "3"),
])  # fmt: skip
def test_every_word_of_the_name_counts(other: tuple[int | str, ...]) -> None:
    ours, theirs = stream(0, "order", "main", 3), stream(*other)
    assert not set(ours.integers(2**60, size=50).tolist()) & set(theirs.integers(2**60, size=50).tolist())


def test_streams_are_not_correlated() -> None:
    """Eighty epochs of draws side by side: a correlation of two columns is within 4.5 / sqrt(n)."""
    n = 2000
    draws = np.stack([stream(0, "mix", "main", epoch).standard_normal(n) for epoch in range(80)])
    correlation = np.corrcoef(draws) - np.eye(80)
    assert abs(correlation).max() < 4.5 / np.sqrt(n)


def test_seeds_of_numpy_are_seeds() -> None:
    assert stream(int(np.int64(5)), "a").random() == stream(np.int64(5), "a").random()


def test_no_global_generator_moves() -> None:
    before = globals_now()
    stream(0, "mix").random(100)
    with torch_stream(0, "init", "main"):
        torch.rand(100)
        torch.nn.Linear(4, 4)
    assert globals_now() == before


def test_what_is_drawn_inside_does_not_depend_on_outside() -> None:
    def draw() -> list[float]:
        with torch_stream(4, "model", "main", 2):
            return torch.rand(3).tolist()

    first = draw()
    with torch.random.fork_rng():
        torch.rand(7)
        assert draw() == first


def test_the_outside_is_put_back_after_an_error() -> None:
    def fails() -> None:
        with torch_stream(0, "init"):
            raise ZeroDivisionError(torch.rand(1))

    before = globals_now()
    with pytest.raises(ZeroDivisionError):
        fails()
    assert globals_now() == before
