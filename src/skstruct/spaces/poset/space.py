# SPDX-License-Identifier: BSD-3-Clause
"""One element of a partially ordered set."""

from abc import abstractmethod
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.exceptions import NotFittedError

from skstruct._arrays.checks import check_costs
from skstruct._arrays.imports import is_pandas
from skstruct._arrays.memory import check_square_fits
from skstruct.exceptions import InfeasibleError
from skstruct.saving import savable
from skstruct.spaces.base import CountedSpace, EmbeddingView, check_k, decoded_or_infeasible
from skstruct.spaces.common.counting import StateConstraints
from skstruct.spaces.common.formats import (
    SingleNameFormat,
    numbers_of,
    read_label_sets,
    read_single_names,
    sorted_names,
)
from skstruct.spaces.common.label_graph import LabelGraph
from skstruct.spaces.constraints import check_feasible, label_mask
from skstruct.spaces.contracts import Decoded
from skstruct.spaces.coordinates import Coordinates
from skstruct.spaces.description import Description
from skstruct.spaces.embeddings import Embeddings
from skstruct.spaces.inference import Inference, OwnDistribution, OwnInference
from skstruct.spaces.marginals import Marginals
from skstruct.spaces.solvers.dags import Dag
from skstruct.spaces.solvers.distributions import ChoiceDistribution, Distribution
from skstruct.spaces.solvers.k_best import k_min_cost, min_cost
from skstruct.spaces.solvers.proposals import ChoiceProposals, Proposals


class UniformElements(CountedSpace):
    """Elements, each a row that marks itself and all above it: how many, moments, samples."""

    _above: tuple[Dag, np.ndarray]  # made when first asked for
    _constraints_kind = StateConstraints
    _pairs_of = ("levels", "labels", "learned_", "_given_graph")

    def _constraints_sizes(self) -> tuple[Any, ...]:
        return (self.dag_.n_nodes,)

    def _not_saved(self) -> tuple[str]:
        return ("_above",)

    @property
    @abstractmethod
    def dag_(self) -> Dag:
        """Arcs from each element to those just below it."""

    @property
    @abstractmethod
    def constraints_(self) -> StateConstraints:
        """Which elements may be predicted: ``allowed``, bool (1 or n, d)."""

    @property
    def above_(self) -> np.ndarray:
        """Row z marks z and all above it: psi of every element; int8 (d, d)."""
        dag = self.dag_
        if "_above" not in self.__dict__ or self._above[0] is not dag:
            check_square_fits(dag.n_nodes, "The order", "Prune what never occurs.")
            self._above = dag, dag.ancestors.toarray().astype(np.int8)
        return self._above[1]

    def psi(self, numbers: np.ndarray) -> np.ndarray:
        """The rows of elements by number, int8 of shape (..., d)."""
        return self.above_[numbers]

    def embed(self, Z: np.ndarray) -> np.ndarray:
        return np.asarray(Z, dtype=np.float64)

    def numbers(self, Z: np.ndarray) -> np.ndarray:
        """The element of each row psi: the one marked that has most above it; shape (n,)."""
        return (np.asarray(Z) * self.above_.sum(axis=1, dtype=np.int64)).argmax(axis=1)

    def _are_elements(self, Z: np.ndarray) -> Any:
        """Which rows are psi of some element; shape (n,)."""
        return (self.psi(self.numbers(Z)) == Z).all(axis=1)

    def contains(self, Z: np.ndarray) -> np.ndarray:
        """Whether each row is an output of this space, constraints included; shape (n,)."""
        Z, d = np.asarray(Z), self.dag_.n_nodes
        self._check_outputs(Z, d, f"(n, {d}) of 0 and 1")
        allowed = np.broadcast_to(self.constraints_.allowed, (len(Z), d))
        return self._are_elements(Z) & allowed[np.arange(len(Z)), self.numbers(Z)]

    def _allowed(self) -> np.ndarray:
        """Numbers of the elements that may be predicted."""
        return np.flatnonzero(self._one_row().allowed[0])

    def _some(self) -> np.ndarray:
        allowed = self._allowed()
        if not len(allowed):
            raise InfeasibleError(f"{type(self).__name__}: no output meets the constraints.")
        return allowed

    def size(self) -> int:
        """Exact number of outputs."""
        return len(self._allowed())

    def enumerate(self, limit: int | None = None) -> np.ndarray:
        """All outputs in canonical form; shape (size, d)."""
        return self.psi(self._allowed())

    def sample(self, n: int, rng: np.random.Generator | int | None) -> np.ndarray:
        """``n`` outputs drawn uniformly and independently; shape (n, d)."""
        return self.psi(np.random.default_rng(rng).choice(self._some(), size=n))

    # ------------------------------------------------------------- distributions and chains
    @abstractmethod
    def _element_costs(self, costs: np.ndarray) -> np.ndarray:
        """What each element costs; (n, d)."""

    def _marginals(self, probabilities: np.ndarray) -> Any:
        """Mean of psi, given the probabilities of the elements; (n, d)."""
        return probabilities @ self.dag_.ancestors

    def distribution(self, scores: Any) -> Distribution | None:
        """Distributions of the elements: a softmax of what each one scores."""
        scores = self._checked_scores(scores, self.dag_.n_nodes)
        return self._distribution_of(self._element_costs(scores), self._marginals)

    def _distribution_of(
        self, values: np.ndarray, marginals_of: Callable[..., Any]
    ) -> ChoiceDistribution:
        """The distribution of elements with these values, (n, d)."""
        self._check_rows(len(values))
        distribution = ChoiceDistribution(
            np.where(self.constraints_.allowed, values, -np.inf), marginals_of, self.psi
        )
        check_feasible(np.isfinite(distribution.log_partition), self)
        return distribution

    def proposals(self) -> Proposals | None:
        """Any element that is allowed follows any other; None where rows differ."""
        if self.constraints_.n_rows is not None:
            return None
        return ChoiceProposals(self._some(), self._element_costs, self.numbers, self.psi)

    def mean_embedding(self) -> np.ndarray:
        """The share n_i / #z of elements that are i or below it; shape (d,)."""
        allowed = self._some()
        return self.above_[allowed].sum(axis=0, dtype=np.int64) / len(allowed)

    def second_moment(self) -> np.ndarray:
        """The share of elements that are at or below both i and j; shape (d, d)."""
        allowed = self._some()
        marked = sparse.csr_array(self.above_[allowed].astype(np.float64))
        return (marked.T @ marked).toarray() / len(allowed)


@savable
class OtherEmbedding(EmbeddingView):
    """Elements under the embedding of another view, each with a cost of its own."""

    def __init__(self, view: Any) -> None:
        super().__init__(view.space)
        self.view, self.embedding = view, view.embedding

    def _over(self, space: Any) -> Any:
        return type(self)(type(self.view)(space))

    def embed(self, Z: np.ndarray) -> Any:
        return self.view.embed(Z)

    def _element_costs(self, costs: np.ndarray) -> Any:
        psi = self.embed(self.space.above_)
        return check_costs(costs, psi.shape[1], used_by=type(self.space).__name__) @ psi.T

    def distribution(self, scores: Any) -> Distribution | None:
        psi = self.embed(self.space.above_)
        scores = self._checked_scores(scores, psi.shape[1])
        return self.space._distribution_of(
            scores @ psi.T, lambda probabilities: probabilities @ psi
        )

    def argmin(self, costs: np.ndarray) -> Decoded:
        return self.space.argmin(None, element_costs=self._element_costs(costs))

    def kbest(self, costs: np.ndarray, k: int) -> Decoded:
        return self.space.kbest(None, k, element_costs=self._element_costs(costs))


@savable
class Poset(UniformElements):
    r"""One element of a finite partially ordered set, embedded by all that is above it.

    :math:`\psi_i(z) = 1[i \text{ is } z \text{ or above } z]`: elements that have much above
    them in common are near to each other. A class hierarchy in which exactly one path is
    taken, to any depth, is the case of a tree. All elements are compared: always exact.

    Canonical outputs are the rows psi themselves, 0/1 of shape (n, d). The user writes the
    name of one element per row, or all that is on its way up: sets of names, or an indicator
    array; predictions come back the same way.

    Parameters
    ----------
    relation : (above, below) pairs, below -> above mapping, networkx.DiGraph or path strings
        As the edges of :class:`Hierarchy`; what follows from it by transitivity need not be
        said. Without it no element is above another.
    labels : sequence, default=None
        Elements in the order of the columns; may add some that are above and below nothing.
        In order of appearance when None; without a relation, the sorted names of ``Y``.
    leaves_only : bool, default=False
        Whether only elements with nothing below them are predicted. All may be learned from.
    constraints : StateConstraints, default=None
        What :meth:`restrict` sets.

    References
    ----------
    The counts are those of S. Vembu, "Learning to predict combinatorial structures" (2010),
    section 4.3, with the order made reflexive: an element counts itself, or siblings would
    have one and the same embedding.

    Examples
    --------
    >>> space = Poset([("animal", "cat"), ("animal", "dog"), ("dog", "poodle")])
    >>> space = space.fit(["cat", "poodle"])
    >>> space.validate(["cat", "dog"])
    array([[1, 1, 0, 0],
           [1, 0, 1, 0]], dtype=int8)
    >>> space.restore(space.argmin(np.array([[-1.0, 0.2, -0.1, 0.3]])).outputs)
    array(['dog'], dtype='<U6')
    >>> space.size(), space.mean_embedding()
    (4, array([1.  , 0.25, 0.5 , 0.25]))
    """

    _from_parameters = ("_given_graph",)

    embedding = "indicators"
    default_loss = "hamming"
    _constraints_rest_on: ClassVar[tuple[str, ...]] = ("relation", "labels", "leaves_only")
    element = "element"  # what one is called in messages

    def __init__(
        self,
        relation: Any = None,
        labels: Iterable[Any] | None = None,
        *,
        leaves_only: bool = False,
        constraints: StateConstraints | None = None,
    ) -> None:
        self.relation = relation
        self.labels = labels
        self.leaves_only = leaves_only
        self.constraints = constraints

    # ------------------------------------------------------------- the order
    @cached_property
    def _given_graph(self) -> LabelGraph | None:
        if self.relation is None and self.labels is None:
            return None
        return LabelGraph.of_order(self.relation, self.labels)

    @property
    def _graph(self) -> LabelGraph:
        graph = self._given_graph or self.__dict__.get("learned_")
        if graph is None:
            name = type(self).__name__
            raise NotFittedError(f"{name} learns its {self.element}s from Y: call fit.")
        return graph

    @property
    def labels_(self) -> tuple[Any, ...]:
        """Names of the elements, one per column."""
        return self._graph.names

    @property
    def dag_(self) -> Dag:
        """Arcs from each element to those just below it."""
        return self._graph.dag

    @property
    def leaf_mask_(self) -> np.ndarray:
        """Elements that may be predicted when nothing is restricted; bool (d,)."""
        return self.dag_.n_children == 0 if self.leaves_only else np.ones(len(self.labels_), bool)

    def _keep_names(self) -> None:
        if self._given_graph is None:
            self.labels, self._given_graph = self.labels_, self._graph

    # ------------------------------------------------------------- the user's format
    def fit(self, Y: Any) -> Self:
        """Learn the elements where none were given, and the form of ``Y``."""
        self.__dict__.pop("_given_graph", None)
        if self._given_graph is None:
            self.learned_ = self._learned(Y)
        if self.constraints is not None and self.constraints.allowed.shape[1] != len(self.labels_):
            raise ValueError(
                f"{type(self).__name__} was restricted for {self.constraints.allowed.shape[1]} "
                f"{self.element}s; there are {len(self.labels_)}."
            )
        self.format_ = self._read(Y)[1]
        return self

    def _learned(self, Y: Any) -> LabelGraph:
        """Elements of ``Y`` of which none is above another."""
        if self._has_paths(Y, set()):
            return LabelGraph(read_label_sets(Y, None, used_by="Poset")[1], [])
        return LabelGraph(sorted_names(set(self._names(Y)[0])), [])

    def _names(self, Y: Any) -> tuple[list[Any], SingleNameFormat]:
        return read_single_names(Y, used_by=type(self).__name__, what=self.element)

    def _has_paths(self, Y: Any, labels: set[Any]) -> bool:
        """Whether rows hold all that is on the way up, rather than one name."""
        if isinstance(Y, np.ndarray) and Y.dtype != object:
            return Y.ndim == 2 and Y.shape[1] > 1
        if sparse.issparse(Y) or is_pandas(Y, "DataFrame"):
            return True
        rows = list(Y)
        collections = (set, frozenset, list, np.ndarray, tuple)
        if not rows or not all(isinstance(row, collections) for row in rows):
            return False
        return not all(isinstance(row, (tuple, frozenset)) and row in labels for row in rows)

    def _read(self, Y: Any) -> tuple[np.ndarray, Any]:
        """Rows psi and the form that they came in."""
        labels, name = self.labels_, type(self).__name__
        if not self._has_paths(Y, set(labels)):
            names, format = self._names(Y)
            return self.psi(numbers_of(names, labels, name)), format
        Z, _, of_sets = read_label_sets(Y, labels, used_by=name)
        self._graph.check_columns(of_sets.kind, name)
        bad = np.flatnonzero(~self._are_elements(Z))
        if len(bad):
            inside = sorted(repr(labels[j]) for j in np.flatnonzero(Z[bad[0]]))
            raise ValueError(
                f"{name}: Y[{bad[0]}] holds {', '.join(inside) or 'nothing'}, which is not one "
                f"{self.element} with all that is above it ({len(bad)} such rows)."
            )
        return Z, of_sets

    def validate(self, Y: Any) -> np.ndarray:
        """Outputs in canonical form: an int8 array of shape (n, d), the rows psi."""
        return self._read(Y)[0]

    def restore(self, Z: np.ndarray, index: Any = None) -> Any:
        """Canonical outputs in the format that was seen in ``fit``."""
        format = self.__dict__.get("format_", SingleNameFormat())
        if isinstance(format, SingleNameFormat):
            return format.write(self.numbers(Z), self.labels_, index)
        return format.write(np.asarray(Z), self.labels_, index)

    # ------------------------------------------------------------- constraints
    @property
    def constraints_(self) -> StateConstraints:
        """Which elements may be predicted."""
        open_ = StateConstraints(self.leaf_mask_[None])
        return open_ if self.constraints is None else open_.narrow(self.constraints.allowed)

    def restrict(self, *, include: Any = None, exclude: Any = None) -> Self:
        """The same space, narrowed.

        Parameters
        ----------
        include, exclude : names of elements, the same for all rows or a collection per row
            What the answer must be or be below, all of these; what it must neither be nor be
            below. Also 0/1 arrays of shape (n, d).
        """
        name = type(self).__name__
        low = label_mask(include, self.labels_, "include", name).astype(np.float64)
        out = label_mask(exclude, self.labels_, "exclude", name).astype(np.float64)
        above = self.above_.T
        missed = low.sum(axis=1, keepdims=True) > low @ above
        constraints = self.constraints_.narrow(~missed).narrow(out @ above == 0)
        return self._limited(constraints)

    # ------------------------------------------------------------- decoding
    def _allowed_costs(self, costs: Any, element_costs: np.ndarray | None = None) -> np.ndarray:
        """What each element costs, infinite where it is not allowed; shape (n, d)."""
        if element_costs is None:
            element_costs = self._element_costs(self._checked_costs(costs, len(self.labels_)))
        self._check_rows(len(element_costs))
        return np.where(self.constraints_.allowed, element_costs, np.inf)

    def _element_costs(self, costs: np.ndarray) -> Any:
        return (self.dag_.ancestors @ costs.T).T

    def argmin(
        self, costs: np.ndarray | None, *, element_costs: np.ndarray | None = None
    ) -> Decoded:
        """For every row the element of least cost; costs of shape (n, d).

        ``element_costs``, (n, d), may take the place of costs of coordinates.
        """
        best, values = min_cost(self._allowed_costs(costs, element_costs))
        return decoded_or_infeasible(self.psi(best), values, values, self)

    def kbest(
        self, costs: np.ndarray | None, k: int, *, element_costs: np.ndarray | None = None
    ) -> Decoded:
        """The ``k`` minimum-cost elements of every row: outputs (n, k, d), values (n, k)."""
        k = check_k(k, type(self).__name__)
        order, values = k_min_cost(self._allowed_costs(costs, element_costs), k)
        check_feasible(np.isfinite(values).any(axis=1), self)
        return Decoded(self.psi(order), values, values)


Coordinates.at(OtherEmbedding, "skstruct.spaces.poset.coordinates:CoordinatesOfView")
Description.at(UniformElements, "skstruct.spaces.poset.description:DescriptionOfElements")
Marginals.at(UniformElements, "skstruct.spaces.poset.marginals:MarginalsOfElements")
Embeddings.at(Poset, "skstruct.spaces.poset.coordinates:EmbeddingsOfElements")
Inference.at(OtherEmbedding, OwnDistribution)
Inference.at(UniformElements, OwnInference)
