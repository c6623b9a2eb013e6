"""``import rmix`` is immediate: what is heavy is loaded when it is first used."""

from __future__ import annotations

import subprocess
import sys

import pytest

import rmix

HEAVY = ("torch", "matplotlib", "sklearn", "numpy", "scipy", "pandas", "tyro", "rich", "jinja2")


def loaded_after(code: str) -> set[str]:
    """Which heavy modules a fresh process has loaded after ``code``."""
    report = f"import sys; print(*[name for name in {HEAVY!r} if name in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", f"{code}\n{report}"], capture_output=True, text=True, check=True
    )
    return set(done.stdout.split())


def test_import_loads_nothing_heavy() -> None:
    assert loaded_after("import rmix; rmix.__version__; dir(rmix)") == set()


def test_a_name_loads_what_it_needs_and_no_more() -> None:
    assert loaded_after("import rmix; rmix.RMix") <= {"torch", "numpy"}
    assert loaded_after("from rmix import train; import rmix.experiment.config") <= {"torch", "numpy"}


@pytest.mark.parametrize("name", rmix.__all__)
def test_every_public_name_exists(name: str) -> None:
    assert getattr(rmix, name) is not None
    assert name in dir(rmix)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'rmix' has no attribute 'Mixup'"):
        _ = rmix.Mixup
