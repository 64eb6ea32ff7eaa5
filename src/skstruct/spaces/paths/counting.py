# SPDX-License-Identifier: BSD-3-Clause
"""All paths together: as ways through states where there are no cycles, as a list elsewhere."""

from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import breadth_first_order

from skstruct._arrays.memory import check_square_fits
from skstruct.spaces.common.counting import check_few
from skstruct.spaces.edge_sets.distribution import PathDistribution, PathGraph
from skstruct.spaces.paths.arcs import NAME, ArcTable, Steps


def state_graph(
    table: ArcTable, usable: np.ndarray, source: int, target: int, longest: int
) -> PathGraph | None:
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
    return PathGraph(steps.first, steps.target, steps.column, d, most)


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


class OnwardPaths:
    """Paths through a graph of states under the uniform distribution.

    Parameters
    ----------
    graph : PathGraph
        Every state is on a path.
    """

    def __init__(self, graph: PathGraph) -> None:
        self.graph = graph
        self.origin = np.repeat(np.arange(len(graph.first) - 1), np.diff(graph.first))

    @cached_property
    def leaving(self) -> list[int]:
        """Paths from each state to the end, as whole numbers."""
        first, target = self.graph.first.tolist(), self.graph.target.tolist()
        leaving = [0] * (len(first) - 2) + [1]
        for s in range(len(leaving) - 2, -1, -1):
            leaving[s] = sum(leaving[w] for w in target[first[s] : first[s + 1]])
        return leaving

    @property
    def count(self) -> int:
        """How many paths there are."""
        return self.leaving[0]

    @cached_property
    def _shares(self) -> np.ndarray:
        """Probability of each step of a path that has come to its origin."""
        pairs = zip(self.graph.target.tolist(), self.origin.tolist())
        return np.array([self.leaving[w] / self.leaving[s] for w, s in pairs], np.float64)

    @cached_property
    def _steps(self) -> np.ndarray:
        """Probability of each step, from ratios of whole numbers."""
        first, target = self.graph.first.tolist(), self.graph.target.tolist()
        reaching = [1] + [0] * (len(self.leaving) - 1)
        ways = []
        for s, number in enumerate(reaching):
            for w in target[first[s] : first[s + 1]]:
                reaching[w] += number
                ways.append(number * self.leaving[w] / self.count)
        return np.array(ways, np.float64)

    def probabilities(self) -> np.ndarray:
        """Probability of every arc to be on a path; shape (d,)."""
        d = self.graph.n_columns
        summed = np.bincount(self.graph.column, self._steps, minlength=d)
        return np.asarray(summed[:d], np.float64)

    def pair_probabilities(self) -> np.ndarray:
        r"""Probability of every two arcs to be on a path; shape (d, d).

        A path takes step a, comes from its head to the tail of b, and takes b: the product of
        three probabilities, as it is a Markov chain.
        """
        graph, n_states = self.graph, len(self.leaving)
        check_square_fits(max(n_states, graph.n_columns), "The second moment", "Use fewer arcs.")
        coming = np.eye(n_states)  # [s, w]: probability to come to w from s
        for s in range(n_states - 2, -1, -1):
            steps = slice(graph.first[s], graph.first[s + 1])
            coming[s] += self._shares[steps] @ coming[graph.target[steps]]
        d, kept = graph.n_columns, np.flatnonzero(graph.column < graph.n_columns)
        shape = (len(kept), d)
        of = sparse.csr_array(
            (np.ones(len(kept)), (np.arange(len(kept)), graph.column[kept])), shape
        )
        before = of * self._steps[kept, None], of * self._shares[kept, None]
        after = before[0].T @ coming[graph.target[kept]]  # (d, n_states)
        both: np.ndarray = np.asarray((before[1].T @ after[:, self.origin[kept]].T).T)
        both = both + both.T
        np.fill_diagonal(both, self.probabilities())
        return both

    def sample(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """``n`` uniform paths; int8 (n, d)."""
        same = PathDistribution(self.graph, np.zeros((1, self.graph.n_columns)))
        return same.sample(n, rng)[0]

    def listed(self, limit: int) -> np.ndarray:
        """All paths; int8 (count, d)."""
        from skstruct.spaces.paths._numba_enumeration import list_onward

        check_few(self.count, limit, NAME, "paths")
        outputs = np.zeros((self.count, self.graph.n_columns), np.int8)
        list_onward(self.graph.first, self.graph.target, self.graph.column, outputs)
        return outputs


class ListedPaths:
    """Paths under the uniform distribution, by a list of them: int8 (count, d)."""

    def __init__(self, outputs: np.ndarray) -> None:
        self.outputs = outputs

    @property
    def count(self) -> int:
        """How many paths there are."""
        return len(self.outputs)

    def probabilities(self) -> Any:
        """Probability of every arc to be on a path; shape (d,)."""
        return self.outputs.mean(axis=0)

    def pair_probabilities(self) -> np.ndarray:
        """Probability of every two arcs to be on a path; shape (d, d)."""
        rows = self.outputs.astype(np.float64)
        return rows.T @ rows / len(rows)

    def sample(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """``n`` uniform paths; int8 (n, d)."""
        return self.outputs[rng.integers(len(self.outputs), size=n)]

    def listed(self, limit: int) -> np.ndarray:
        """All paths."""
        check_few(self.count, limit, NAME, "paths")
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
