"""Several processes, one batch: what each computed on its share is joined before it is reduced.

Every process holds the whole model and a share of each batch. Predictions are joined, so that each
process computes the same loss of the whole batch; its backward pass reaches its own rows only, and
the gradients of all processes add up to the gradient of that loss. With one process all of this is
nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor


def world() -> tuple[int, int]:
    """Rank of this process, and how many there are."""
    if dist.is_available() and dist.is_initialized():
        return dist.get_rank(), dist.get_world_size()
    return 0, 1


def together() -> None:
    """Wait until every process is here."""
    if world()[1] > 1:
        dist.barrier()


def rank_name() -> tuple[int, ...]:
    """What this process adds to the name of a stream that must differ between processes: the first adds nothing."""
    rank, _ = world()
    return (rank,) if rank else ()


def share_of(rows: Tensor) -> Tensor:
    """This process's share of the rows of a batch.

    Example:
        >>> share_of(torch.arange(3)).tolist()  # one process
        [0, 1, 2]
    """
    rank, processes = world()
    return rows if processes == 1 else torch.tensor_split(rows, processes)[rank]


def join(share: Tensor) -> Tensor:
    """The rows of all processes, in order of rank; differentiable (twice, too) in this process's rows."""
    return share if world()[1] == 1 else _Join.apply(share)  # type: ignore[no-untyped-call]


class _Join(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, share: Tensor) -> Tensor:
        rank, processes = world()
        sizes = torch.zeros(processes, dtype=torch.int64, device=share.device)
        sizes[rank] = len(share)
        dist.all_reduce(sizes)
        counts = sizes.tolist()
        padded = share.new_zeros(max(counts), *share.shape[1:])
        padded[: len(share)] = share
        gathered = [torch.empty_like(padded) for _ in counts]
        dist.all_gather(gathered, padded)
        ctx.start = sum(counts[:rank])
        ctx.stop = ctx.start + len(share)
        return torch.cat([rows[:n] for rows, n in zip(gathered, counts, strict=True)])

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        return grad[ctx.start : ctx.stop]


def add_up(tensors: Iterable[Tensor]) -> None:
    """Sum tensors over all processes, in place: gradients, counts."""
    if world()[1] > 1:
        for tensor in tensors:
            dist.all_reduce(tensor)


def penalty_once(penalty: Tensor) -> Tensor:
    """A penalty of the parameters, whose gradient counts once though every process computes it.

    Gradients are summed over processes, which is right for losses of rows, of which each process has
    its own, and would count what depends on no row once a process.
    """
    return penalty.detach() + (penalty - penalty.detach()) / world()[1]
