# SPDX-License-Identifier: BSD-3-Clause
"""Coupling from the past for 0/1 vectors whose heat bath respects their order."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from joblib import effective_n_jobs

WORK = 10**8  # changes of single sites between two looks at the keyboard
PAIRS_PER_THREAD = 16  # pairs of chains that are not worth a thread


@dataclass(frozen=True, eq=False)
class OrderedDistributions:
    r"""Distributions on closed sets in which labels attract each other.

    .. math:: p(x) \propto \exp(\sum_j a_j x_j + \sum_{ij} w_{ij} x_i x_j), \quad w \ge 0

    A site of x that is drawn anew, given all others, is in with the log odds
    :math:`a_j + \sum_i w_{ij} x_i`; it is out where something above it is out, in where
    something below it is in. All of this grows with x: chains that use the same random numbers
    keep their order.

    Attributes
    ----------
    node : array a of shape (r, d)
    pair : array w of shape (r, E), at least zero
    edges : int array of shape (E, 2)
    low, high : bool arrays of shape (r, d)
        The least and the largest x, both closed.
    above, below : int arrays of shape (n_arcs,)
        :math:`x_{below} \le x_{above}`.
    order : int array of shape (d,)
        The order in which sites are visited, such as from above to below.
    """

    node: np.ndarray
    pair: np.ndarray
    edges: np.ndarray
    low: np.ndarray
    high: np.ndarray
    above: np.ndarray
    below: np.ndarray
    order: np.ndarray

    @cached_property
    def arrays(self) -> tuple[np.ndarray, ...]:
        """Everything as the compiled loop takes it."""
        d, each = self.node.shape[1], np.arange(len(self.edges))
        ends = np.concatenate([self.edges, self.edges[:, ::-1]]).astype(np.int64)
        soft, near, edge = _lists(d, ends[:, 0], ends[:, 1], np.concatenate([each, each]))
        up, above, _ = _lists(d, self.below, self.above)
        down, below, _ = _lists(d, self.above, self.below)
        given = (np.ascontiguousarray(a) for a in (self.node, self.pair, self.low, self.high))
        order = np.ascontiguousarray(self.order, dtype=np.int64)
        return (*given, soft, near, edge, up, above, down, below, order)


def _lists(
    d: int, owner: np.ndarray, item: np.ndarray, number: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Items of every owner: where each list starts, the items, and their numbers."""
    by_owner = np.argsort(owner, kind="stable")
    start = np.searchsorted(np.asarray(owner)[by_owner], np.arange(d + 1))
    number = np.zeros(len(by_owner), np.int64) if number is None else number[by_owner]
    items = np.asarray(item, dtype=np.int64)[by_owner]
    return start.astype(np.int64), items, number.astype(np.int64)


def coupled(
    distributions: OrderedDistributions,
    row: np.ndarray,
    seeds: np.ndarray,
    max_doublings: int,
    n_jobs: int | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """One exact draw for every entry of ``row``.

    The top and the bottom are followed from 1, 2, 4, ... sweeps in the past, with the same
    random numbers at the same time, until both have met now [1]_.

    Parameters
    ----------
    distributions : OrderedDistributions
    row : int array of shape (m,)
        The distribution of each draw.
    seeds : uint64 array of shape (m, 4)
        Of each draw, see :func:`~skstruct.spaces.solvers.proposals.new_streams`.
    max_doublings : int

    Returns
    -------
    states : int8 array of shape (m, d)
        Right where ``sweeps`` is not zero.
    sweeps : int64 array of shape (m,)
        How far in the past chains began that have met; 0 where they have not.

    References
    ----------
    .. [1] J. Propp and D. Wilson, "Exact sampling with coupled Markov chains and applications
       to statistical mechanics", Random Structures & Algorithms 9, 1996.
    """
    states = np.empty((len(row), distributions.node.shape[1]), np.int8)
    sweeps = np.zeros(len(row), np.int64)
    left = np.arange(len(row))
    for level in range(max_doublings + 1):
        most = max(1, WORK // max(states.shape[1] << level, 1))
        for start in range(0, len(left), most):
            part = left[start : start + most]
            states[part], met = _at_level(distributions, row[part], seeds[part], level, n_jobs)
            sweeps[part[met]] = 1 << level
        left = left[sweeps[left] == 0]
        if not len(left):
            break
    return states, sweeps


def _at_level(
    distributions: OrderedDistributions,
    row: np.ndarray,
    seeds: np.ndarray,
    level: int,
    n_jobs: int | None,
) -> tuple[np.ndarray, np.ndarray]:
    from skstruct.spaces.solvers._numba_markov_chains import couple

    states = np.empty((len(row), distributions.node.shape[1]), np.int8)

    def run(part: slice) -> Any:
        given: Any = seeds[part], row[part], *distributions.arrays, level, states[part]
        return couple(*given)

    jobs = min(effective_n_jobs(n_jobs), max(1, len(row) // PAIRS_PER_THREAD))
    if jobs == 1:
        return states, run(slice(None))
    cuts = np.linspace(0, len(row), jobs + 1).astype(int)
    with ThreadPoolExecutor(jobs) as pool:
        met = list(pool.map(run, [slice(a, b) for a, b in pairwise(cuts)]))
    return states, np.concatenate(met)
