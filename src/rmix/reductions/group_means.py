"""The mean loss of every group of a batch: what all methods of groups start from."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from rmix.batch import Mixed, Part
from rmix.errors import HiddenGroupsError
from rmix.reductions.ratio import ratio


def group_means(losses: Sequence[Tensor], mixed: Mixed, n_groups: int) -> tuple[Tensor, Tensor]:
    """Weighted mean loss and mass of every group, each of shape (n_groups,).

    The rows of all parts count, with their weights; rows in no group (-1) count nowhere. A group
    that the batch lacks has mean 0 and mass 0. Integer weights are repeated rows, and the mean does
    not change when all weights of a group do.

    Example:
        >>> from rmix.batch import Batch, unmixed
        >>> weight, group = torch.tensor([1.0, 3.0, 1.0]), torch.tensor([0, 0, 2])
        >>> batch = Batch(torch.zeros(3, 1), torch.zeros(3).long(), torch.arange(3), weight, group)
        >>> means, mass = group_means([torch.tensor([1.0, 2.0, 5.0])], unmixed(batch), n_groups=3)
        >>> means.tolist(), mass.tolist()  # (1 * 1 + 3 * 2) / 4
        ([1.75, 0.0, 5.0], [4.0, 0.0, 1.0])
    """
    group = torch.cat([_known_group(part) for part in mixed.parts])
    weight = torch.cat([part.weight for part in mixed.parts])
    total = sum_by_group(weight * torch.cat(list(losses)), group, n_groups)
    mass = sum_by_group(weight, group, n_groups)
    return ratio(total, mass), mass


def sum_by_group(values: Tensor, group: Tensor, n_groups: int) -> Tensor:
    """Sum of the ``values`` (n, ...) of each group, shape (n_groups, ...); group -1 is left out.

    Every group sums over all rows, in an order that is the same on every device and for any number
    of groups; adding row by row has no fixed order on a GPU.

    Example:
        >>> sum_by_group(torch.tensor([1.0, 2.0, 4.0]), torch.tensor([1, -1, 1]), n_groups=2).tolist()
        [0.0, 5.0]
    """
    member = (torch.arange(n_groups, device=group.device)[:, None] == group).to(values.dtype)  # (n_groups, n)
    shape = (*member.shape, *[1] * (values.dim() - 1))
    return (member.view(shape) * values).sum(1)


def _known_group(part: Part) -> Tensor:
    if part.group is None:
        raise HiddenGroupsError(
            "This reduction reads group labels, which are hidden: the method must declare groups = Groups.TRAIN "
            "and the training split must have them."
        )
    return part.group
