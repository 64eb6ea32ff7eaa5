# SPDX-License-Identifier: BSD-3-Clause
"""Labels that each take one of several states, with costs along the edges of a forest."""

from collections.abc import Iterable
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.exceptions import NotFittedError

from skstruct.saving import savable
from skstruct.spaces.base import check_k, decoded_or_infeasible
from skstruct.spaces.common.counting import StateConstraints, UniformStates
from skstruct.spaces.common.formats import check_distinct, unknown_label
from skstruct.spaces.common.label_graph import node_names, read_edges
from skstruct.spaces.constraints import check_feasible
from skstruct.spaces.contracts import Decoded
from skstruct.spaces.coordinates import Coordinates
from skstruct.spaces.description import Description
from skstruct.spaces.embeddings import Embeddings
from skstruct.spaces.entries import Entries, States
from skstruct.spaces.inference import Inference, OwnInference
from skstruct.spaces.pairwise.state_formats import (
    StateFormat,
    check_states,
    read_allowed,
    read_states,
)
from skstruct.spaces.solvers.distributions import Distribution
from skstruct.spaces.solvers.pairwise.forests import best_states_on_forest, is_forest, k_best_states
from skstruct.spaces.solvers.pairwise.inference import StateForestDistribution
from skstruct.spaces.solvers.pairwise.proposals import StateProposals
from skstruct.spaces.solvers.proposals import Proposals

EMBEDDINGS = ("states", "node states")


@savable
class PairwiseStates(UniformStates):
    r"""A state for every label, with costs of states and of pairs of states of neighbours.

    Labels are joined by a forest, so that decoding is exact: max-product, in O(n k²) for n
    labels of k states. Outputs are arrays or rows with a state for each label, or frames with
    a column for each label, and come back as such.

    Canonical outputs are int64 arrays (rows, n) of state numbers.

    Parameters
    ----------
    graph : "empty", pairs of label names or networkx graph
        A forest over the labels: the pairs that count.
    states : sequence of hashables, default=None
        The states, the same for all labels; the sorted distinct entries of ``Y`` when None.
    labels : sequence, default=None
        Names of the labels, in the order of the columns; learned from ``Y`` when None.
    embedding : "states" or "node states", default="states"
        :math:`\psi(z)`: an indicator :math:`1[z_i = a]` at i k + a for every label and state,
        and after these, except with "node states", an indicator
        :math:`1[z_i = a, z_j = b]` at n k + (e k + a) k + b for every edge e = (i, j).
    constraints : StateConstraints, default=None
        What :meth:`restrict` sets.

    Attributes
    ----------
    labels_, states_ : tuples
    edges_ : int array of shape (E, 2)
        Pairs i < j of positions in ``labels_``, sorted.

    Examples
    --------
    >>> space = PairwiseStates([("morning", "noon"), ("noon", "night")],
    ...                        states=["dry", "wet"], labels=["morning", "noon", "night"])
    >>> node_costs = [0.0, 0.3, 0.2, 0.0, 0.0, 0.5]  # noon alone would rather be wet
    >>> change = [0.0, 0.4, 0.4, 0.0]  # what a change of weather costs
    >>> costs = np.array([node_costs + change + change])
    >>> space.restore(space.argmin(costs).outputs)
    array([['dry', 'dry', 'dry']], dtype='<U3')
    >>> wet = space.restrict(known={"noon": "wet"})
    >>> wet.restore(wet.argmin(costs).outputs), wet.size()
    (array([['wet', 'wet', 'dry']], dtype='<U3'), 4)
    """

    _from_parameters = ("edges_", "learned_states_", "learned_labels_", "format_")

    default_loss = "hamming"
    _named_by: ClassVar = {"labels": "labels_", "states": "states_"}
    _constraints_kind = StateConstraints
    _pairs_of = ("states", "learned_states_")

    def __init__(
        self,
        graph: Any,
        states: Iterable[Any] | None = None,
        labels: Iterable[Any] | None = None,
        embedding: str = "states",
        *,
        constraints: StateConstraints | None = None,
    ) -> None:
        self.graph = graph
        self.states = states
        self.labels = labels
        self.embedding = embedding
        self.constraints = constraints

    # ------------------------------------------------------------- labels and states
    def fit(self, Y: Any) -> Self:
        """Learn what was left open: states, labels, and how outputs are written."""
        self._fit(Y)
        return self

    def fit_validate(self, Y: Any) -> np.ndarray:
        return self._fit(Y)

    def _fit(self, Y: Any) -> np.ndarray:
        self._forget()
        states = None if self.states is None else self.states_
        labels = None if self.labels is None else self.labels_
        Z, states, labels, format = read_states(Y, states, labels, used_by="PairwiseStates")
        self.learned_states_, self.learned_labels_, self.format_ = states, labels, format
        self.edges_, self.constraints_  # noqa: B018 - a graph that is wrong says so now
        return Z

    @property
    def states_(self) -> tuple[Any, ...]:
        if self.states is not None:
            return check_states(self.states, "PairwiseStates")
        if not hasattr(self, "learned_states_"):
            raise NotFittedError("PairwiseStates learns its states from Y: call fit, or give them.")
        return self.learned_states_

    @property
    def labels_(self) -> tuple[Any, ...]:
        if self.labels is not None:
            return check_distinct(self.labels, "PairwiseStates")
        if not hasattr(self, "learned_labels_"):
            raise NotFittedError("PairwiseStates learns its labels from Y: call fit, or give them.")
        return self.learned_labels_

    @cached_property
    def edges_(self) -> np.ndarray:
        labels = self.labels_
        for name in node_names(self.graph):
            if name not in set(labels):
                raise ValueError(unknown_label("graph holds", name, labels, "PairwiseStates"))
        edges = read_edges(self.graph, labels, "PairwiseStates")
        if not is_forest(len(labels), edges):
            raise ValueError(
                f"PairwiseStates: the graph is a forest; the {len(edges)} edges given between "
                f"{len(labels)} labels close a circle."
            )
        return edges

    def validate(self, Y: Any) -> np.ndarray:
        """Outputs in canonical form: state numbers, int64 of shape (n, number of labels)."""
        return read_states(Y, self.states_, self.labels_, used_by="PairwiseStates")[0]

    def restore(self, Z: np.ndarray, index: Any = None) -> Any:
        """Canonical outputs in the format that was seen in ``fit``."""
        format = getattr(self, "format_", StateFormat())
        return format.write(np.asarray(Z), self.states_, self.labels_, index)

    # ------------------------------------------------------------- embedding
    def _used_edges(self) -> np.ndarray:
        if self.embedding not in EMBEDDINGS:
            raise ValueError(
                f"PairwiseStates: embedding is 'states' or 'node states'; got {self.embedding!r}."
            )
        return self.edges_ if self.embedding == "states" else self.edges_[:0]

    def _shape(self) -> tuple[int, int, int]:
        """Numbers of labels, of states, and of edges that count."""
        return len(self.labels_), len(self.states_), len(self._used_edges())

    def embed(self, Z: np.ndarray) -> Any:
        """Indicators of states, and of pairs of states of neighbours; CSR of shape (n, d)."""
        Z, edges, (n, k, n_edges) = np.asarray(Z), self._used_edges(), self._shape()
        nodes = np.arange(n) * k + Z
        pairs = n * k + (np.arange(n_edges) * k + Z[:, edges[:, 0]]) * k + Z[:, edges[:, 1]]
        column = np.hstack([nodes, pairs])
        starts = column.shape[1] * np.arange(len(Z) + 1)
        shape = len(Z), n * k + n_edges * k * k
        return sparse.csr_array((np.ones(column.size), column.ravel(), starts), shape=shape)

    def _requirements(self) -> np.ndarray:
        edges, (n, k, n_edges) = self._used_edges(), self._shape()
        asked = np.full((n * k + n_edges * k * k, n), -1)
        asked[np.arange(n * k), np.repeat(np.arange(n), k)] = np.tile(np.arange(k), n)
        for end, state in enumerate(np.divmod(np.arange(k * k), k)):
            rows = np.arange(n * k, len(asked))
            asked[rows, np.repeat(edges[:, end], k * k)] = np.tile(state, n_edges)
        return asked

    def _constraints_sizes(self) -> tuple[Any, ...]:
        return len(self.labels_), len(self.states_)

    @property
    def constraints_(self) -> StateConstraints:
        """Which states labels may have."""
        shape = (1, len(self.labels_), len(self.states_))
        if self.constraints is None:
            return StateConstraints(np.ones(shape, bool))
        if self.constraints.allowed.shape[1:] != shape[1:]:
            known = "{} labels of {} states".format(*self.constraints.allowed.shape[1:])
            raise ValueError(f"PairwiseStates was restricted for {known}; Y has {shape[1:]}.")
        return self.constraints

    def restrict(self, *, known: Any = None, forbidden: Any = None) -> Self:
        """The same space, narrowed.

        Parameters
        ----------
        known : {label: state}, or one such mapping per row
            States that are known. A list or set of states leaves the choice among them.
        forbidden : {label: state or states}, or one such mapping per row
            States that a label cannot have.
        """
        constraints, names = self.constraints_, (self.labels_, self.states_)
        if known is not None:
            fixed = read_allowed(known, *names, "known", "PairwiseStates")
            constraints = constraints.narrow(fixed | ~fixed.any(axis=2, keepdims=True))
        if forbidden is not None:
            constraints = constraints.narrow(
                ~read_allowed(forbidden, *names, "forbidden", "PairwiseStates")
            )
        return self._limited(constraints)

    def contains(self, Z: np.ndarray) -> np.ndarray:
        """Whether each row is an output of this space, constraints included; shape (n,)."""
        Z, (n, k) = np.asarray(Z), self._shape()[:2]
        self._check_outputs(Z, n, f"state numbers of shape (n, {n})", "iu")
        inside = (Z >= 0) & (k > Z)
        row = np.arange(len(Z)) if self.constraints_.n_rows else np.zeros(len(Z), int)
        allowed = self.constraints_.allowed[row[:, None], np.arange(n), np.where(inside, Z, 0)]
        return (inside & allowed).all(axis=1)

    # ------------------------------------------------------------- decoding
    def _split(self, costs: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Costs of states, constraints included, of pairs of states, and the edges."""
        n, k, n_edges = self._shape()
        costs = self._checked_costs(costs, n * k + n_edges * k * k)
        nodes, pairs = costs[:, : n * k], costs[:, n * k :]
        unary = np.where(self.constraints_.allowed, nodes.reshape(len(costs), n, k), np.inf)
        return unary, pairs.reshape(len(costs), n_edges, k, k), self._used_edges()

    def argmin(self, costs: np.ndarray) -> Decoded:
        """For every row the states of least cost; costs of shape (n, d)."""
        outputs, values = best_states_on_forest(*self._split(costs))
        return decoded_or_infeasible(outputs, values, values, self)

    def kbest(self, costs: np.ndarray, k: int) -> Decoded:
        """The ``k`` minimum-cost outputs of every row: outputs (n, k, labels), values (n, k)."""
        k = check_k(k, "PairwiseStates")
        unary, pairs, edges = self._split(costs)
        outputs, values = k_best_states(unary, pairs, edges, k)
        check_feasible(np.isfinite(values).any(axis=1), self)
        return Decoded(outputs, values, values)

    # ------------------------------------------------------------- distributions
    def distribution(self, scores: Any) -> Distribution | None:
        """Distributions of states and pairs of states by sum-product; scores of shape (n, d)."""
        n, k, n_edges = self._shape()
        scores = self._checked_scores(scores, n * k + n_edges * k * k)
        costs, pairs, edges = self._split(-scores)
        distribution = StateForestDistribution(-costs, -pairs, edges)
        check_feasible(distribution.log_partition > -np.inf, self)
        return distribution

    def proposals(self) -> Proposals | None:
        """Chains that change one state; None where rows are restricted differently."""
        if self.constraints_.n_rows is not None:
            return None
        allowed = self._allowed()
        check_feasible(np.all(np.any(allowed, axis=1), keepdims=True), self)
        return StateProposals(allowed, self._used_edges())


Coordinates.at(PairwiseStates, "skstruct.spaces.pairwise.coordinates:CoordinatesOfStates")
Entries.at(PairwiseStates, States)
Description.at(PairwiseStates, "skstruct.spaces.pairwise.description:DescriptionOfStates")
Embeddings.at(PairwiseStates, "skstruct.spaces.pairwise.coordinates:EmbeddingsOfStates")
Inference.at(PairwiseStates, OwnInference)
