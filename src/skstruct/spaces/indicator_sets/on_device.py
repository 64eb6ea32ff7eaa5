# SPDX-License-Identifier: BSD-3-Clause
"""Sets of labels whose costs depend on the size of the set, decoded on a device of torch."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch


def min_cost_per_size(
    cube: Any, empty: Any, forced: Any, free: Any, smallest: int, largest: int
) -> tuple[Any, Any]:
    """As ``decoding.min_cost_per_size``, with labels that are forced or free in all rows.

    Sorted once for every size, the least costs of that size add up.

    Parameters
    ----------
    cube : tensor of shape (n, d, d)
        ``cube[i, j, k - 1]``: label j in a set of k labels.
    empty : tensor of shape (n,)
    forced, free : int64 tensors
        Numbers of labels that are in, and of those that may be.
    smallest, largest : int

    Returns
    -------
    outputs : int8 tensor of shape (n, d)
    values : tensor of shape (n,), infinite where no set is allowed
    """
    n, d, _ = cube.shape
    m, most = len(forced), min(largest, len(forced) + len(free))
    totals = cube.new_full((n, d + 1), torch.inf)
    if smallest <= 0 and not m:
        totals[:, 0] = empty
    sizes = torch.arange(max(smallest, m, 1), most + 1, device=cube.device)
    if len(sizes):
        by_size = cube[:, :, sizes - 1].transpose(1, 2)  # (n, sizes, d)
        sums = by_size[:, :, free].sort(dim=2)[0].cumsum(2)
        sums = torch.cat([torch.zeros_like(sums[:, :, :1]), sums], 2) if len(free) else None
        own = by_size[:, :, forced].sum(2)
        if sums is not None:
            own = own + sums.gather(2, (sizes - m).expand(n, -1)[:, :, None])[:, :, 0]
        totals[:, sizes] = own
    size = totals.argmin(1)
    values = totals.gather(1, size[:, None])[:, 0]
    return _first_labels(cube, size, forced, free), values


def _first_labels(cube: Any, size: Any, forced: Any, free: Any) -> Any:
    """The set of each row, of its own size: forced labels, and the least of the free ones."""
    n, d, _ = cube.shape
    column = (size - 1).clamp(min=0)
    costs = cube.gather(2, column[:, None, None].expand(n, d, 1))[:, :, 0]
    order = torch.argsort(0.0 + costs[:, free], dim=1, stable=True)
    taken = torch.arange(len(free), device=cube.device) < (size - len(forced))[:, None]
    outputs = torch.zeros((n, d), dtype=torch.int8, device=cube.device)
    outputs[:, forced] = 1
    outputs.scatter_(1, free[order], taken.to(torch.int8))
    return outputs


def sized_argmin(d: int, constraints: Any, backend: Any) -> Callable[..., Any] | None:
    """Label sets by costs of labels and sizes; see ``Solving.tensor_argmin``."""
    low, high = (np.broadcast_to(mask[0], d) for mask in (constraints.low, constraints.high))
    smallest, largest = int(constraints.smallest), int(min(constraints.largest, d))
    if (low & ~high).any() or max(smallest, low.sum()) > min(largest, high.sum()):
        return None  # the host says what is wrong
    forced, free = (
        torch.tensor(np.flatnonzero(mask)).to(backend.device) for mask in (low, high & ~low)
    )

    def argmin(costs: Any) -> tuple[np.ndarray, Any]:
        cube = costs[:, :-1].reshape(len(costs), d, d)
        outputs, values = min_cost_per_size(cube, costs[:, -1], forced, free, smallest, largest)
        return backend.to_host(outputs), values

    return argmin
