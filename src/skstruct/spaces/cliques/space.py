# SPDX-License-Identifier: BSD-3-Clause
"""Sets of nodes, known by the edges inside them."""

from collections.abc import Iterable
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.exceptions import NotFittedError

from skstruct._arrays.imports import is_networkx
from skstruct.saving import savable
from skstruct.spaces.base import check_k, decoded_or_infeasible
from skstruct.spaces.constraints import Constraints
from skstruct.spaces.contracts import EXACT, Decoded, Guarantee
from skstruct.spaces.edge_sets.table import check_numbered_nodes, edge_numbers, read_nodes
from skstruct.spaces.inference import Inference, OwnInference, listed_distribution
from skstruct.spaces.marginals import Marginals
from skstruct.spaces.pairwise.labels import LabelsAndEdges
from skstruct.spaces.solvers.distributions import Distribution
from skstruct.spaces.solvers.pairwise.solve import is_exact, minimize, minimize_fixed
from skstruct.spaces.solvers.proposals import Proposals
from skstruct.spaces.uniform import Uniform


class NodeProposals(Proposals):
    """Pick a node and whether it is in; with it come or go its pairs with all nodes inside.

    Parameters
    ----------
    nodes : int array
        Those that may come and go.
    edges : int array of shape (d, 2)
        All pairs of nodes, one per score.
    n_nodes : int
    """

    def __init__(self, nodes: np.ndarray, edges: np.ndarray, n_nodes: int) -> None:
        self.nodes = np.asarray(nodes, dtype=np.int64)
        self.column = edge_numbers(n_nodes, edges)
        self.sweep = max(2 * len(self.nodes), 1)

    def start(self, outputs: Any) -> np.ndarray:
        return np.array(outputs, dtype=np.int8, order="C")

    def outputs(self, states: np.ndarray) -> np.ndarray:
        return states.copy()

    def walk(
        self,
        states: np.ndarray,
        scores: np.ndarray,
        row: np.ndarray,
        beta: np.ndarray,
        n_steps: int,
        streams: np.ndarray,
    ) -> np.ndarray:
        from skstruct.spaces.cliques._numba import walk_cliques

        accepted = np.zeros(len(states), np.int64)
        problem = self.nodes, self.column, scores, row, beta
        walk_cliques(states, *problem, n_steps, streams, accepted)
        return accepted


@savable
class Cliques(LabelsAndEdges):
    r"""Cliques of a complete graph: sets of nodes, with all edges between them.

    .. math:: \psi(y) = (y_u y_v)_{u < v}

    Sets of fewer than two nodes have no edge, and the same embedding; they count as different
    outputs, :math:`2^N` in all. Under the uniform distribution an edge is in with probability 1/4,
    and with :math:`B_+` the incidence matrix of nodes and edges the covariance is
    :math:`(I + B_+' B_+) / 16`.

    The minimum-cost clique is hard to find. Up to 14 nodes it is found, and where no edge costs
    more than zero; else roof duality gives a lower bound and often proves the answer, and
    ``exact=True`` asks for the best at any cost. Costs of nodes, such as those of the Hamming
    loss, cannot be written as costs of edges: ``Embeddings.of(space).view("indicators")`` is the
    same set of outputs for them, and :class:`~skstruct.spaces.PairwiseLabels` has costs of both.

    Parameters
    ----------
    nodes : sequence of names, int or networkx graph, default=None
        The nodes, or how many; learned from ``Y`` when None.
    exact : bool, default=False
        Whether what roof duality leaves open is solved by branch and bound.
    constraints : Constraints, default=None
        What :meth:`restrict` sets: nodes that are known to be in or out.

    Attributes
    ----------
    labels_ : tuple
        Names of the nodes, one per column of the outputs.
    edges_ : int array of shape (d, 2)
        Pairs u < v of their positions, one per coordinate of the embedding.

    Examples
    --------
    >>> space = Cliques().fit([{"ann", "bob"}, {"bob", "cy"}])
    >>> space.labels_, space.edges_.tolist()
    (('ann', 'bob', 'cy'), [[0, 1], [0, 2], [1, 2]])
    >>> costs = np.array([[-2.0, 1.0, 0.5]])
    >>> sorted(space.restore(space.argmin(costs).outputs)[0])
    ['ann', 'bob']
    >>> space.restrict(include=["cy"]).argmin(costs).values
    array([-0.5])
    >>> space.size(), Uniform.of(space).mean_embedding()
    (8, array([0.25, 0.25, 0.25]))
    """

    embedding = "inner edges"
    graph = "full"
    _named_by: ClassVar = {"nodes": "nodes_"}
    _pairs_of = ("nodes", "learned_nodes_")

    def __init__(
        self,
        nodes: int | Iterable[Any] | None = None,
        *,
        exact: bool = False,
        constraints: Constraints | None = None,
    ) -> None:
        self.nodes = nodes
        self.exact = exact
        self.constraints = constraints

    # ------------------------------------------------------------- nodes and embedding
    @property
    def labels(self) -> tuple[Any, ...] | None:
        """The names given: what makes a base class learn them is None."""
        return None if self.nodes is None else self._given_labels

    @cached_property
    def _given_labels(self) -> tuple[Any, ...]:
        return read_nodes(self.nodes, "Cliques")

    @property
    def labels_(self) -> tuple[Any, ...]:
        """Names of the nodes, one per column."""
        if self.nodes is None and not hasattr(self, "learned_labels_"):
            raise NotFittedError("Cliques learns its nodes from Y: call fit, or give nodes.")
        return super().labels_

    @property
    def nodes_(self) -> tuple[Any, ...]:
        """Names of the nodes."""
        return self.labels_

    def _read(
        self, Y: Any, labels: tuple[Any, ...] | None
    ) -> tuple[np.ndarray, tuple[Any, ...], Any]:
        Y = list(Y) if hasattr(Y, "__next__") else Y  # it is looked at more than once
        rows = [Y] if is_networkx(Y) else () if sparse.issparse(Y) else Y
        for i, row in enumerate(rows if isinstance(rows, Iterable) else ()):
            if is_networkx(row):
                raise ValueError(
                    f"Cliques: Y[{i}] is a graph, whose edges would not be read; give the set of "
                    "the nodes that are joined with each other."
                )
        Z, names, format = super()._read(Y, labels)
        if format.kind in ("array", "sparse"):
            check_numbered_nodes(self.nodes, names, "Cliques")
        return Z, names, format

    def embed(self, Z: np.ndarray) -> np.ndarray:
        """Products of pairs of nodes; shape (n, d)."""
        Z = np.asarray(Z, dtype=np.float64)
        u, v = self.edges_.T
        return Z[:, u] * Z[:, v]

    # ------------------------------------------------------------- decoding
    @property
    def guarantee(self) -> Guarantee:
        if self.exact or is_exact(len(self.labels_), self.edges_):
            return EXACT
        return Guarantee("bound only")

    def argmin(self, costs: np.ndarray) -> Decoded:
        """For every row the nodes of least cost of the edges inside; costs of shape (n, d)."""
        outputs, values, bounds = self._decode(self._checked(costs), self.constraints_)
        return decoded_or_infeasible(outputs, values, bounds, self)

    def kbest(self, costs: np.ndarray, k: int) -> Decoded:
        """The ``k`` minimum-cost sets of every row: outputs (n, k, nodes), values (n, k)."""
        k = check_k(k, "Cliques")
        if self.guarantee != EXACT:
            raise ValueError(
                f"Cliques: the k best need exact decoding, which {len(self.labels_)} nodes have "
                "not; give exact=True."
            )
        costs = self._checked(costs)
        return self._k_best(
            lambda rows, constraints: self._decode(costs[rows], constraints), len(costs), k
        )

    def _checked(self, costs: np.ndarray) -> np.ndarray:
        return np.ascontiguousarray(self._checked_costs(costs, len(self.edges_)))

    def _decode(
        self, costs: np.ndarray, constraints: Any
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        nothing = np.zeros((len(costs), len(self.labels_)))
        problem = nothing, costs, self.edges_
        if not constraints.is_masked:
            outputs, values, bounds = minimize(*problem, exact=self.exact)
        else:
            masks = constraints.low, constraints.high
            outputs, values, bounds = minimize_fixed(*problem, *masks, exact=self.exact)
        # A single node costs what no node does: it is left out unless it must be in.
        single = outputs.sum(axis=1, keepdims=True) == 1
        return np.where(single, constraints.low, outputs).astype(outputs.dtype), values, bounds

    # ------------------------------------------------------------- distributions and chains
    def distribution(self, scores: Any) -> Distribution | None:
        """Distributions of sets of up to 18 nodes by all of them; scores of shape (n, d)."""
        from skstruct.spaces.edge_sets.distribution import (
            MOST_NODES,
            PairSetDistribution,
            allowed_sets,
        )

        scores = self._checked_scores(scores, len(self.edges_))
        if len(self.labels_) > MOST_NODES or self.constraints_.n_rows is not None:
            return listed_distribution(self, scores)
        return PairSetDistribution(scores, self.edges_, allowed_sets(*self._masks()))

    def proposals(self) -> Proposals | None:
        """A node comes in, or goes out."""
        if self.constraints_.n_rows is not None:
            return None
        low, high = self._masks()
        return NodeProposals(np.flatnonzero(high & ~low), self.edges_, len(self.labels_))

    def _masks(self) -> tuple[np.ndarray, np.ndarray]:
        """Nodes that are in, and those that may be."""
        Uniform.of(self).check_not_empty()
        constraints = self._one_row()
        return constraints.low[0], constraints.high[0]


Marginals.at(Cliques, "skstruct.spaces.cliques.marginals:MarginalsOfCliques")
Uniform.at(Cliques, "skstruct.spaces.cliques.uniform:UniformOfCliques")
Inference.at(Cliques, OwnInference)
