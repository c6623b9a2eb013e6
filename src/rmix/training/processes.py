"""Several processes under ``torchrun``: started together, and only the first one writes."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager

import torch.distributed as dist


@contextmanager
def processes(device: str = "cpu") -> Iterator[int]:
    """Join the processes that ``torchrun`` started, if it did; gives the rank of this one."""
    if int(os.environ.get("WORLD_SIZE", "1")) == 1:
        yield 0
        return
    dist.init_process_group("nccl" if device.startswith("cuda") else "gloo")
    try:
        yield dist.get_rank()
        gc.collect()  # a model that was wrapped may be part of a cycle, and must not outlive the group
        dist.barrier()  # a process that leaves early can abort the others
    finally:
        dist.destroy_process_group()
