# SPDX-License-Identifier: BSD-3-Clause
"""Decoders for tensors of costs on any device of torch, with the answers of those on the host.

All take costs of shape (n, d) in float64, rounded by :func:`snap`, and return outputs and
values as tensors. On that grid sums are exact, so that neither their order nor the device
matters.
"""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import torch

from skstruct._arrays.checks import TIE_BITS
from skstruct.spaces.solvers.dags import Dag


def snap(costs: Any, scale: Any) -> Any:
    """Round every row to multiples of 2**-30 of its scale, in place; see ``_arrays.ties``."""
    exponent = torch.frexp(scale)[1].to(torch.int64) - TIE_BITS
    half = exponent // 2  # a power of two may be too small for its exponent: two are not
    quantum = (_power_of_two(half) * _power_of_two(exponent - half))[:, None]
    quantum = torch.where(quantum > 0, quantum, 1.0)
    return costs.div_(quantum).round_().mul_(quantum)


def _power_of_two(exponent: Any) -> Any:
    """2.0 ** exponent by its bits: exact on every device, for numbers that are normal."""
    return ((exponent + 1023) << 52).view(torch.float64)


def min_cost(costs: Any, allowed: Any = None) -> tuple[Any, Any]:
    """Number and cost of the minimum-cost entry of every row, the first among equals.

    ``allowed`` (d,) marks entries that may be taken.
    """
    if allowed is not None:
        costs = torch.where(allowed, costs, torch.inf)
    best = costs.argmin(dim=1)
    return best, costs.gather(1, best[:, None])[:, 0]


def threshold(costs: Any, low: Any = None, high: Any = None) -> tuple[Any, Any]:
    """Every label of negative cost, those marked in ``low`` (d,), none but those in ``high``."""
    taken = costs < 0
    if low is not None:
        taken = (taken & high) | low
    return taken.to(torch.int8), torch.where(taken, costs, 0.0).sum(1)


def sorted_ranks(costs: Any, top: int | None = None) -> tuple[Any, Any]:
    """Ranks that minimize their product with the costs, and this; shape (n, d) and (n,).

    Expensive items come first, and equal ones in their own order; items beyond ``top`` are tied.
    """
    # Minus zero is zero: not every sort of a device knows.
    order = torch.argsort(0.0 - costs, dim=1, stable=True)
    d = costs.shape[1]
    positions = torch.arange(1.0, d + 1, dtype=costs.dtype, device=costs.device)
    if top is not None:
        positions = torch.where(positions > top, (top + 1 + d) / 2, positions)
    ranks = torch.empty_like(costs).scatter_(1, order, positions.expand_as(costs))
    return ranks, (costs * ranks).sum(1)


class Forest:
    """A forest whose closed sets are decoded level by level, all rows at once.

    Parameters
    ----------
    dag : Dag
        In which no node has two parents.
    device : torch.device

    Examples
    --------
    >>> forest = Forest(Dag(3, [0, 0], [1, 2]), "cpu")
    >>> forest.closed_sets(torch.tensor([[0.5, -0.7, 0.2]], dtype=torch.float64))[0]
    tensor([[1, 1, 0]], dtype=torch.int8)
    """

    def __init__(self, dag: Dag, device: Any) -> None:
        parent = dag.parent_of[dag.order]
        above = np.where(parent >= 0, dag.position[parent], 0)
        ends = np.searchsorted(dag.depth[dag.order], np.arange(dag.depth.max(initial=0) + 2))
        self.levels = [slice(a, b) for a, b in pairwise(ends.tolist())]
        self.order, self.position, self.above = (
            torch.tensor(numbers, device=device) for numbers in (dag.order, dag.position, above)
        )

    def closed_sets(self, costs: Any) -> tuple[Any, Any]:
        """Minimum-cost ancestor-closed set of every row, int8 (n, d), and its cost (n,).

        below(v) = cost(v) + sum over children of min(0, below(child)); a node is taken when its
        parent is and below(v) < 0.
        """
        below = costs.T[self.order]  # (d, n): nodes of a level lie together
        for level in reversed(self.levels[1:]):
            below.index_add_(0, self.above[level], below[level].clamp(max=0.0))
        values = below[self.levels[0]].clamp(max=0.0).sum(0)
        taken = below < 0
        for level in self.levels[1:]:
            taken[level] &= taken[self.above[level]]
        return taken[self.position].T.to(torch.int8).contiguous(), values


# What ``Solving.tensor_argmin`` answers with: functions of costs (n, d) on the device to outputs on
# the host and values on the device. None where no output is possible: the host says what is wrong.


def listed_argmin(
    listed: np.ndarray, allowed: np.ndarray | None, backend: Any
) -> Callable[..., Any] | None:
    """The best of the ``listed`` outputs (d, ...), all or those ``allowed`` (d,)."""
    if allowed is not None and not allowed.any():
        return None
    mask = None if allowed is None or allowed.all() else torch.tensor(allowed).to(backend.device)

    def argmin(costs: Any) -> tuple[np.ndarray, Any]:
        best, values = min_cost(costs, mask)
        return listed[backend.to_host(best)], values

    return argmin


def sets_argmin(
    solve: Callable[..., Any], constraints: Any, low: np.ndarray, high: np.ndarray, backend: Any
) -> Callable[..., Any] | None:
    """``solve(costs, low, high)`` with labels that must and may be in, (1, d) each, if any."""
    within: tuple[Any, ...] = (None, None)
    if constraints.is_masked:
        if (low & ~high).any():
            return None
        within = tuple(torch.tensor(mask[0]).to(backend.device) for mask in (low, high))

    def argmin(costs: Any) -> tuple[np.ndarray, Any]:
        outputs, values = solve(costs, *within)
        return backend.to_host(outputs), values

    return argmin


def forest_argmin(
    dag: Dag, constraints: Any, low: np.ndarray, high: np.ndarray, backend: Any
) -> Callable[..., Any] | None:
    """Closed sets of a forest, between ``low`` and ``high`` (1, d), which are closed as well."""
    forest = Forest(dag, backend.device)

    def solve(costs: Any, low: Any, high: Any) -> tuple[Any, Any]:
        if low is None:
            return forest.closed_sets(costs)
        # What is in for certain is free of charge; what is out brings nothing but its cost.
        edited = torch.where(low, 0.0, torch.where(high, costs, 1.0))
        outputs = forest.closed_sets(edited)[0] | low
        return outputs, (costs * outputs).sum(1)

    return sets_argmin(solve, constraints, low, high, backend)


def ranks_argmin(d: int, top: int | None, backend: Any) -> Callable[..., Any]:
    """Rankings of d items by their ranks; further columns of costs belong to none."""

    def argmin(costs: Any) -> tuple[np.ndarray, Any]:
        outputs, values = sorted_ranks(costs[:, :d], top)
        return backend.to_host(outputs), values

    return argmin
