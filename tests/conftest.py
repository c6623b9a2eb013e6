"""What every test starts from."""

from pathlib import Path

import pytest
import torch


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Other people's trainers take seconds to import, which a quick check does not spend."""
    return True if collection_path.name == "integrations" and config.option.markexpr == "not slow" else None


@pytest.fixture(autouse=True, scope="session")
def _one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture(autouse=True)
def _own_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Nothing is kept in, or read from, the cache of whoever runs the tests."""
    monkeypatch.setenv("RMIX_CACHE", str(tmp_path / "cache"))
