# SPDX-License-Identifier: BSD-3-Clause
"""All paths together: as ways through states where there are no cycles, as a list elsewhere."""

from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import breadth_first_order

from skstruct.spaces.paths.arcs import NAME, ArcTable, Steps
from skstruct.spaces.solvers.state_graphs import StateGraph


def state_graph(
    table: ArcTable, usable: np.ndarray, source: int, target: int, longest: int
) -> StateGraph | None:
    """Ways from source to target along usable arcs (d,), all of which come to an end.

    States are nodes, or nodes together with the number of arcs so far where paths might be
    longer than they may be. None where there is no way.
    """
    tails, heads, columns = table.ends
    kept = usable[columns]
    u, v, column = table.position[tails[kept]], table.position[heads[kept]], columns[kept]
    first, last = int(table.position[source]), int(table.position[target])
    n_nodes, d = len(table.nodes), len(table.edges)
    u, v, column = _between(u, v, column, first, last, n_nodes)
    if first != last and not len(u):
        return None
    most = _longest(u, v, n_nodes)
    if most > longest:
        level = np.arange(longest)[:, None] * n_nodes
        final = (longest + 1) * n_nodes
        ends = np.arange(longest + 1) * n_nodes + last
        u = np.concatenate([(level + u).ravel(), ends])
        v = np.concatenate([(level + n_nodes + v).ravel(), np.full(len(ends), final)])
        column = np.concatenate([np.tile(column, longest), np.full(len(ends), d)])
        u, v, column = _between(u, v, column, first, final, final + 1)
        if not len(u):
            return None
        most, last = longest, final
    states = np.unique(np.concatenate([u, v, [first, last]]))
    u, v = np.searchsorted(states, u), np.searchsorted(states, v)
    steps = Steps.of(len(states), u, v, column)
    return StateGraph(steps.first, steps.target, steps.column, d, most)


def _between(
    u: np.ndarray, v: np.ndarray, column: np.ndarray, first: int, last: int, n: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Arcs on ways from the first node to the last."""
    links = sparse.csr_array((np.ones(len(u), np.int8), (u, v)), shape=(n, n))
    ahead, behind = np.zeros(n, bool), np.zeros(n, bool)
    ahead[breadth_first_order(links, first, return_predecessors=False)] = True
    behind[breadth_first_order(links.T.tocsr(), last, return_predecessors=False)] = True
    kept = ahead[u] & behind[v]
    return u[kept], v[kept], column[kept]


def _longest(u: np.ndarray, v: np.ndarray, n: int) -> int:
    """Arcs of the longest way, where all lead from smaller numbers to larger ones."""
    length = [0] * n
    order = np.argsort(u, kind="stable")
    for a, b in zip(u[order].tolist(), v[order].tolist()):
        length[b] = max(length[b], length[a] + 1)
    return max(length, default=0)


class ListedPaths:
    """Paths under the uniform distribution, by a list of them: int8 (count, d)."""

    def __init__(self, outputs: np.ndarray) -> None:
        self.outputs = outputs

    @property
    def total(self) -> int:
        """How many paths there are."""
        return len(self.outputs)

    def mean(self) -> Any:
        """Probability of every arc to be on a path; shape (d,)."""
        return self.outputs.mean(axis=0)

    def second_moment(self) -> np.ndarray:
        """Probability of every two arcs to be on a path; shape (d, d)."""
        rows = self.outputs.astype(np.float64)
        return rows.T @ rows / len(rows)

    def sample(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """``n`` uniform paths; int8 (n, d)."""
        return self.outputs[rng.integers(len(self.outputs), size=n)]

    def listed(self) -> np.ndarray:
        """All paths."""
        return self.outputs


def list_simple_paths(
    table: ArcTable, usable: np.ndarray, source: int, target: int, limit: int
) -> np.ndarray:
    """All simple paths along usable arcs (d,); int8 (count, d). They are counted first."""
    from skstruct.exceptions import UndecidableError
    from skstruct.spaces.paths._numba_enumeration import list_simple

    steps, back = table.steps, table.back
    outputs = np.zeros((0, len(table.edges)), np.int8)
    problem = steps.first, steps.target, steps.column, back, usable, source, target, limit
    count = list_simple(*problem, outputs)
    if count > limit:
        raise UndecidableError(f"{NAME}: there are more paths than the limit of {limit:,}.")
    outputs = np.zeros((count, len(table.edges)), np.int8)
    list_simple(*problem, outputs)
    return outputs
