# SPDX-License-Identifier: BSD-3-Clause
"""Proposals of Markov chains among label sets: labels come in and leave, or are exchanged."""

from typing import Any

import numpy as np

from skstruct.exceptions import InfeasibleError
from skstruct.spaces.indicator_sets.distribution import paths_of
from skstruct.spaces.solvers.dags import Dag
from skstruct.spaces.solvers.proposals import ChoiceProposals, Proposals, n_columns_changed


class GroupProposals(Proposals):
    """Subsets with at most one label of each group, of smallest..largest labels.

    A group takes another of its options: none, or one of its labels. Where sizes are limited,
    every second proposal takes one group's label out and another group's in. A label without
    exclusive labels is a group by itself: it comes in or leaves.

    Parameters
    ----------
    low : bool array of shape (d,)
        Labels that are in for certain.
    groups : list of index arrays
        Disjoint groups of all labels that may come and go, each alone or with its exclusive labels.
    smallest, largest : int

    Examples
    --------
    >>> from skstruct.spaces.solvers.proposals import new_streams
    >>> proposals = GroupProposals(np.zeros(3, bool), [[0, 1], [2]], 1, 1)
    >>> states = proposals.start(np.array([[1, 0, 0]]))
    >>> scores, row, beta = np.array([[0.0, 0.0, 50.0]]), np.zeros(1, np.int64), np.ones(1)
    >>> accepted = proposals.walk(states, scores, row, beta, 100, new_streams(1, 0))
    >>> proposals.outputs(states)
    array([[0, 0, 1]], dtype=int8)
    """

    def __init__(self, low: np.ndarray, groups: Any, smallest: int, largest: int) -> None:
        self.low, self.n_groups = np.asarray(low, dtype=bool), len(groups)
        lengths = np.array([len(group) for group in groups], dtype=np.int64)
        self.begin = np.concatenate([[0], np.cumsum(lengths)])
        self.member = np.concatenate([np.empty(0, np.int64), *groups]).astype(np.int64)
        self.group = np.repeat(np.arange(self.n_groups), lengths)
        self.sizes = open_sizes(low, self.n_groups, smallest, largest)
        self.swaps = swap_share(self.sizes, self.n_groups, bool((lengths == 1).all()))
        self.sweep = max(len(self.member), 1)

    def start(self, outputs: Any) -> np.ndarray:
        z, n_groups = np.asarray(outputs), self.n_groups
        states = np.zeros((len(z), 1 + 2 * n_groups), np.int64)
        chosen = np.full((len(z), n_groups), -1)
        row, at = np.nonzero(z[:, self.member])
        chosen[row, self.group[at]] = at - self.begin[self.group[at]]
        states[:, 0] = (chosen >= 0).sum(axis=1)
        states[:, 1 : 1 + n_groups] = np.argsort(chosen < 0, axis=1, kind="stable")
        states[:, 1 + n_groups :] = chosen
        return states

    def outputs(self, states: np.ndarray) -> np.ndarray:
        outputs = np.repeat(self.low[None].astype(np.int8), len(states), axis=0)
        chosen = states[:, 1 + self.n_groups :]
        row, group = np.nonzero(chosen >= 0)
        outputs[row, self.member[self.begin[group] + chosen[row, group]]] = 1
        return outputs

    def walk(
        self,
        states: np.ndarray,
        scores: np.ndarray,
        row: np.ndarray,
        beta: np.ndarray,
        n_steps: int,
        streams: np.ndarray,
    ) -> np.ndarray:
        from skstruct.spaces.indicator_sets._numba import walk_groups

        if not self.n_groups:
            return np.zeros(len(states), np.int64)
        rules = self.begin, self.member, self.sizes, self.swaps
        return walk_groups(states, scores, row, beta, n_steps, streams, *rules)

    def proposal_probabilities(self, outputs: np.ndarray) -> np.ndarray | None:
        if len(self.member) > self.n_groups:  # exclusive labels: not told
            return None
        return _proposal_probabilities(outputs, self.member, self.swaps)


class ClosedProposals(Proposals):
    """Sets that hold the parents of their members in any acyclic graph, within constraints.

    A label comes in, if all its parents and none of its exclusive labels are in, or leaves, if none
    of its children is in. Where sizes are limited or labels are exclusive, every second proposal
    has one label leave while another comes in.

    All sets can be reached. Without a smallest size every set shrinks to the labels that are in
    for certain. Without exclusive labels, if I and J have the same size, a highest label of J that
    I lacks may come in as a lowest one of I that J lacks leaves, which brings them nearer. With
    both a smallest size and exclusive labels there is no such promise: see :func:`reaches_all`.

    Parameters
    ----------
    dag : Dag
    low, high : bool arrays of shape (d,)
        Labels that must and that may be in, closed.
    groups : sequence of index arrays
        Of each at most one label is in.
    smallest, largest : int

    Examples
    --------
    >>> known = np.zeros(2, bool), np.ones(2, bool)
    >>> proposals = ClosedProposals(Dag(2, [0], [1]), *known, (), 0, 2)
    >>> proposals.start(np.array([[1, 0]]))  # one is in: 0, before 1; then the set itself
    array([[1, 0, 1, 1, 0]])
    """

    def __init__(
        self, dag: Dag, low: np.ndarray, high: np.ndarray, groups: Any, smallest: int, largest: int
    ) -> None:
        self.low, self.open = np.asarray(low, dtype=bool), np.flatnonzero(high & ~low)
        self.sizes = open_sizes(low, len(self.open), smallest, largest)
        tied = swap_share(self.sizes, len(self.open), True)
        self.swaps = max(tied, 0.5 if len(groups) else 0.0)
        below, above = (dag.parents, dag.children), (dag.children, dag.parents)
        lists = [_listed(dag.n_nodes, *arcs) for arcs in (below, above, _rivals(groups))]
        self.arcs = tuple(array for pair in lists for array in pair)
        self.sweep = max(len(self.open), 1)

    def start(self, outputs: Any) -> np.ndarray:
        z = np.asarray(outputs)[:, self.open] != 0
        order = self.open[np.argsort(~z, axis=1, kind="stable")]
        return np.hstack([z.sum(axis=1)[:, None], order, np.asarray(outputs)]).astype(np.int64)

    def outputs(self, states: np.ndarray) -> np.ndarray:
        return states[:, 1 + len(self.open) :].astype(np.int8)

    def walk(
        self,
        states: np.ndarray,
        scores: np.ndarray,
        row: np.ndarray,
        beta: np.ndarray,
        n_steps: int,
        streams: np.ndarray,
    ) -> np.ndarray:
        from skstruct.spaces.indicator_sets._numba import walk_closed

        if not len(self.open):
            return np.zeros(len(states), np.int64)
        rules = len(self.open), self.arcs, self.sizes, self.swaps
        return walk_closed(states, scores, row, beta, n_steps, streams, *rules)

    def proposal_probabilities(self, outputs: np.ndarray) -> np.ndarray:
        return _proposal_probabilities(outputs, self.open, self.swaps)


def _proposal_probabilities(
    outputs: np.ndarray, open_labels: np.ndarray, swaps: float
) -> np.ndarray:
    """One label comes in or leaves, or one leaves while another comes in; shape (n, n)."""
    changed, m = n_columns_changed(outputs), len(open_labels)
    size = np.asarray(outputs)[:, open_labels].sum(axis=1)
    found = np.where(changed == 1, (1.0 - swaps) / (m + 1), 0.0)
    swapped = (changed == 2) & (size[:, None] == size)
    exchanges = np.maximum(size * (m - size + 1), 1)[:, None]
    found += np.where(swapped, swaps / exchanges, 0.0)
    return found


def reaches_all(low: np.ndarray, groups: Any, smallest: int) -> bool:
    """Whether :class:`ClosedProposals` are known to lead from every set to every other."""
    return not len(groups) or smallest <= int(np.sum(low))


def open_sizes(low: np.ndarray, n_open: int, smallest: int, largest: int) -> tuple[int, int]:
    """Constraints on how many are in use, apart from labels that are in for certain."""
    known = int(np.sum(low))
    return max(smallest - known, 0), min(largest - known, n_open)


def swap_share(sizes: tuple[int, int], n_open: int, single: bool) -> float:
    """How many of the proposals are swaps; ``single`` if a swap is all that keeps the size."""
    smallest, largest = sizes
    if smallest == 0 and largest == n_open:
        return 0.0
    return 1.0 if single and smallest == largest else 0.5


def _rivals(groups: Any) -> tuple[np.ndarray, np.ndarray]:
    """All ordered pairs of two labels of one group."""
    none = np.empty(0, np.int64)
    first = np.concatenate([none, *(np.repeat(group, len(group)) for group in groups)])
    second = np.concatenate([none, *(np.tile(group, len(group)) for group in groups)])
    return first[first != second].astype(np.int64), second[first != second].astype(np.int64)


def _listed(n_nodes: int, of: np.ndarray, listed: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Starts and a list: what belongs to node v is ``listed[start[v]:start[v + 1]]``."""
    order = np.argsort(of, kind="stable")
    start = np.searchsorted(of[order], np.arange(n_nodes + 1))
    return start.astype(np.int64), np.ascontiguousarray(listed[order], dtype=np.int64)


def set_proposals(space: Any) -> Proposals | None:
    """Moves among the outputs of an indicator space; None where they may not reach all."""
    constraints, dag = space.constraints_, space.dag_
    if constraints.n_rows is not None:
        return None
    if constraints.one_path:
        return _path_proposals(space)
    low, high = (mask[0] for mask in space._close_masks(constraints))
    if (low & ~high).any():
        raise InfeasibleError(f"{type(space).__name__}: no output meets the constraints.", 0)
    sizes = constraints.smallest, constraints.largest
    proposals: GroupProposals | ClosedProposals
    if not len(dag.parents) and space._sibling_groups(constraints):
        proposals = GroupProposals(low, _all_groups(constraints.groups, high & ~low), *sizes)
    elif reaches_all(low, constraints.groups, constraints.smallest):
        proposals = ClosedProposals(dag, low, high, constraints.groups, *sizes)
    else:
        return None
    if proposals.sizes[0] > proposals.sizes[1]:
        raise InfeasibleError(f"{type(space).__name__}: no output meets the constraints.", 0)
    return proposals


def _all_groups(groups: Any, open_: np.ndarray) -> list[np.ndarray]:
    """What is open of the groups, and every other open label by itself."""
    left = open_.copy()
    for group in groups:
        left[group] = False
    shared = [group[open_[group]] for group in groups]
    return [group for group in shared if len(group)] + list(np.flatnonzero(left)[:, None])


def _path_proposals(space: Any) -> ChoiceProposals:
    """Any path follows any other."""
    paths, allowed = space._allowed_paths(space.constraints_)
    if not allowed[0].any():
        raise InfeasibleError(f"{type(space).__name__}: no output meets the constraints.", 0)

    def numbers_of(outputs: np.ndarray) -> Any:
        leaves = np.asarray(outputs)[:, space.dag_.leaves]
        return leaves.argmax(axis=1)

    numbers = np.flatnonzero(allowed[0])
    return ChoiceProposals(
        numbers, lambda scores: (paths @ scores.T).T, numbers_of, paths_of(paths)
    )
