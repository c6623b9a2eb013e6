"""One process at a time: a lock that ends with its holder, however suddenly that dies."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from rmix.errors import BusyError
from rmix.joined import together, world

log = logging.getLogger(__name__)


@contextmanager
def locked(path: Path, what: str, *, wait: bool = True) -> Iterator[None]:
    """Hold the lock file ``path``, which stays where it is; processes joined in one run hold it together.

    Args:
        path: the lock file.
        what: is locked, in the words of a message: "Run x".
        wait: for another holder to end; otherwise :class:`BusyError`.
    """
    lock = FileLock(path)
    if world()[0] == 0:
        try:
            lock.acquire(blocking=False)
        except Timeout:
            if not wait:
                raise BusyError(f"{what} is being worked on by another process.") from None
            log.info("%s is being worked on by another process; waiting for it.", what)
            lock.acquire()
    together()
    try:
        yield
    finally:
        lock.release()
