# SPDX-License-Identifier: BSD-3-Clause
"""Label sets that hold the parents of their members."""

from collections.abc import Callable, Iterable
from typing import Any, Self

import numpy as np

from skstruct.saving import savable
from skstruct.spaces.common.counting import LIMIT
from skstruct.spaces.common.formats import LabelSetFormat
from skstruct.spaces.common.label_graph import LabelGraph
from skstruct.spaces.constraints import Constraints
from skstruct.spaces.description import Description
from skstruct.spaces.embeddings import Embeddings
from skstruct.spaces.indicator_sets.decoding import limit_constraints
from skstruct.spaces.known import Known
from skstruct.spaces.label_sets.space import IndicatorSpace
from skstruct.spaces.marginals import Marginals
from skstruct.spaces.sklearn_target import SklearnTarget
from skstruct.spaces.solvers.binary_programs import BinaryProgram
from skstruct.spaces.solvers.dags import (
    Dag,
    dag_closed_sets,
    forest_closed_sets,
    forest_exclusive_sets,
    forest_sized_sets,
)
from skstruct.spaces.solvers.k_best import min_cost
from skstruct.spaces.solving import Solving
from skstruct.spaces.targets import Targets

# What cross_val_predict(method="predict_proba") does: it numbers the values of each column.
_LOST = (
    " (No row has {!r} at all. From scikit-learn's cross_val_predict with probabilities, a label "
    "that every row has arrives as one that no row has: leave it out of outputs and edges.)"
)


class ForestShares:
    """Closed sets of a forest: given that its parent is in, a label is a coin by itself.

    ways(v) = 1 + product over children of ways(child), the empty set included; given its
    parent, a label is in with probability (ways - 1) / ways.

    Parameters
    ----------
    dag : Dag
        A forest.
    low, high : bool arrays of shape (d,)
        Labels that are in for certain, with all above them; labels that may be in: others are
        out, with all below them.
    """

    def __init__(self, dag: Dag, low: np.ndarray, high: np.ndarray) -> None:
        self.dag, self.share = dag, np.empty(dag.n_nodes)
        parent, product = dag.parent_of, [1] * dag.n_nodes
        for v in dag.order[::-1]:
            inside = product[v] if high[v] else 0
            ways = inside + (not low[v])
            self.share[v] = inside / ways
            if parent[v] >= 0:
                product[parent[v]] *= ways

    def mean(self) -> np.ndarray:
        """Probability of each label; shape (d,)."""
        parent, mean = self.dag.parent_of, self.share.copy()
        for v in self.dag.order:
            if parent[v] >= 0:
                mean[v] *= mean[parent[v]]
        return mean

    def second_moment(self) -> np.ndarray:
        """Probability of each pair of labels; shape (d, d).

        Given that its parent is in, a label is independent of all that is not below it: two
        labels are in together with probability p_j p_k / p_lca.
        """
        dag, p, below = self.dag, self.mean(), self.dag.ancestors.tocsc()
        moment = np.outer(p, p)
        for v in dag.order:
            if dag.parent_of[v] >= 0:
                moment[v] = moment[dag.parent_of[v]] * self.share[v]
            under = below.indices[below.indptr[v] : below.indptr[v + 1]]
            moment[v, under] = p[under]  # whoever is below v has v in
        return moment

    def sample(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """Uniform samples: a coin for every label whose parent is in; int8 of shape (n, d)."""
        outputs = (rng.random((n, self.dag.n_nodes)) < self.share).astype(np.int8)
        for v in self.dag.order:
            if self.dag.parent_of[v] >= 0:
                outputs[:, v] &= outputs[:, self.dag.parent_of[v]]
        return outputs


@savable
class Hierarchy(IndicatorSpace):
    r"""Label sets closed in a hierarchy: whoever is in, has all parents in.

    The embedding is the indicator, :math:`\psi(z) = z \in \{0, 1\}^d` with
    :math:`z_j \le z_k` for every parent k of j. A linear cost is minimized exactly: by
    dynamic programming in O(d) on trees and forests, by one min-cut on other acyclic
    graphs [1]_.

    Parameters
    ----------
    edges : (parent, child) pairs, child -> parent mapping, networkx.DiGraph or path strings
        In a mapping, a parent may be None (a root) or a list of several parents. Path
        strings such as ``"1/2/3"`` name every prefix as a label. Read once into an
        immutable :class:`LabelGraph`, so that copies cost nothing.
    labels : sequence, default=None
        Labels in the order of the columns; may add labels without any arc. In order of
        appearance when None; numbers from 0 to d - 1 are the columns themselves, and an array
        beside other numbers needs labels.
    close : bool, default=False
        Whether to add the missing ancestors to outputs given by the user. When False, a
        label without its parents is an error.
    open_below : bool, default=False
        Whether a set that ends at an inner label leaves open what is below it, as annotations do
        that go only as far as somebody looked. When False, labels that are not in are out.
    propensity : float, sequence, or mapping or Series from label to float, default=None
        Where training sets lack labels that apply: the probability that one was annotated, as of
        :class:`LabelSets`.
    constraints : Constraints, default=None
        Constraints on predicted sets, made by :meth:`restrict`.

    References
    ----------
    .. [1] C. Y. Goh and P. Jaillet, "Structured prediction by conditional risk
       minimization", section 3 (Theorem 3.1, Proposition 3.2).

    Examples
    --------
    >>> import numpy as np
    >>> space = Hierarchy([("animal", "cat"), ("animal", "dog")])
    >>> space.labels_
    ('animal', 'cat', 'dog')
    >>> space.argmin(np.array([[0.5, -0.7, 0.2]])).outputs
    array([[1, 1, 0]], dtype=int8)
    >>> space.size()
    5
    >>> space.restrict(one_path=True).enumerate()
    array([[1, 1, 0],
           [1, 0, 1]], dtype=int8)
    """

    default_loss = "hierarchical"
    _constraints_rest_on = ("edges", "labels")

    def __init__(
        self,
        edges: Any,
        labels: Iterable[Any] | None = None,
        *,
        close: bool = False,
        open_below: bool = False,
        propensity: Any = None,
        constraints: Constraints | None = None,
    ) -> None:
        self.edges = LabelGraph.read(edges, labels)
        self.labels = None  # they are in edges now
        self.close = close
        self.open_below = open_below
        self.propensity = propensity
        self.constraints = constraints

    def set_params(self, **params: Any) -> Any:
        self._check_unlimited(params)
        if "edges" in params or "labels" in params:
            edges, labels = params.pop("edges", self.edges), params.pop("labels", None)
            self.edges = LabelGraph.read(edges, labels)
        return super().set_params(**params)

    @property
    def labels_(self) -> tuple[Any, ...]:
        return self.edges.names

    @property
    def dag_(self) -> Dag:
        return self.edges.dag

    def _read(self, Y: Any, labels: Any) -> tuple[np.ndarray, tuple[Any, ...], LabelSetFormat]:
        Z, labels, format = super()._read(Y, labels)
        self.edges.check_columns(format.kind, "Hierarchy")
        return Z, labels, format

    def validate(self, Y: Any) -> np.ndarray:
        """Outputs as an int8 array (n, d); missing ancestors are added or reported."""
        return self._with_ancestors(super().validate(Y))

    def fit_validate(self, Y: Any) -> np.ndarray:
        return self._with_ancestors(self._fit(Y))

    def _fit(self, Y: Any) -> np.ndarray:
        Z = super()._fit(Y)
        return self._with_ancestors(Z) if self.close else Z

    def _with_ancestors(self, Z: np.ndarray) -> np.ndarray:
        if self.close:
            return (Z @ self.dag_.ancestors > 0).astype(np.int8)
        children, parents = self.dag_.children, self.dag_.parents
        bad = np.argwhere(Z[:, children] > Z[:, parents])
        if len(bad):
            row, arc = bad[0]
            child, parent = self.labels_[children[arc]], self.labels_[parents[arc]]
            lost = "" if Z[:, parents[arc]].any() else _LOST.format(parent)
            raise ValueError(
                f"Hierarchy: Y[{row}] has {child!r} without its parent {parent!r} "
                f"({len(np.unique(bad[:, 0]))} such rows). Use close=True to add ancestors.{lost}"
            )
        return Z

    def restrict(
        self,
        *,
        include: Any = None,
        exclude: Any = None,
        min_size: int | None = None,
        max_size: int | None = None,
        exclusive: str | Iterable[Any] | None = None,
        one_path: bool = False,
    ) -> Self:
        """The same space, narrowed.

        Parameters
        ----------
        include, exclude : label names, the same for all rows or a collection per row
            Labels known to be in (with all above them) and out (with all below them); also
            0/1 arrays of shape (n, d). A single row of them serves all rows.
        min_size, max_size : int
            Constraints on the number of labels.
        exclusive : "siblings" or list of groups of label names
            At most one label of each group; ``"siblings"`` makes a group of the children
            of each label and one of the roots.
        one_path : bool
            Exactly one leaf, and all above it.
        """
        if not isinstance(one_path, (bool, np.bool_)):
            raise ValueError(f"{type(self).__name__}: one_path is True or False; got {one_path!r}.")
        groups = self._groups(exclusive)
        return self._narrowed(include, exclude, min_size, max_size, groups, bool(one_path))

    def _groups(self, exclusive: Any) -> list[np.ndarray]:
        if not isinstance(exclusive, str) or exclusive != "siblings":
            return super()._groups(exclusive)
        start = np.argsort(self.dag_.parents, kind="stable")
        split = np.flatnonzero(np.diff(self.dag_.parents[start])) + 1
        families = [*np.split(self.dag_.children[start], split), self.dag_.roots]
        return [np.sort(family) for family in families if len(family) > 1]

    def contains(self, Z: np.ndarray) -> np.ndarray:
        inside = super().contains(Z)
        if self.constraints_.one_path:
            leaves = np.asarray(Z)[:, self.dag_.leaves].sum(axis=1)
            used = (np.asarray(Z) @ self.dag_.ancestors > 0).sum(axis=1)
            path = np.asarray(Z)[:, self.dag_.leaves] @ self.dag_.ancestors[self.dag_.leaves]
            inside &= (leaves == 1) & ((path > 0).sum(axis=1) == used)
        return inside

    def _decode(
        self, costs: np.ndarray, constraints: Any
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        if constraints.one_path:
            return self._decode_paths(costs, constraints)
        low, high = self._close_masks(constraints)
        feasible = (low <= high).all(axis=1)
        siblings = self.dag_.is_forest and self._sibling_groups(constraints)
        if constraints.is_sized and self.dag_.is_forest and not constraints.groups:
            sizes = constraints.smallest, constraints.largest
            outputs, values = forest_sized_sets(costs, self.dag_, low, high, *sizes)
            return outputs, values, values
        if constraints.is_sized or (constraints.groups and not siblings):
            program = BinaryProgram(*limit_constraints(self.dag_, constraints))
            return program.solve_rows(costs, low, high)
        # A label that is in for certain, with all above it, is free of charge; one that
        # is out for certain, with all below it, brings nothing but its cost.
        edited = np.where(low, 0.0, np.where(high, costs, 1.0)) if constraints.is_masked else costs
        outputs, values, bounds = self._closed(edited, constraints)
        if constraints.is_masked:
            gap, outputs = values - bounds, outputs | low
            values = (costs * outputs).sum(axis=1)
            bounds = values - gap
        return outputs, np.where(feasible, values, np.inf), bounds

    def _closed(
        self, costs: np.ndarray, constraints: Any
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        if constraints.groups:
            group = np.full(costs.shape[1], -1)
            for g, members in enumerate(constraints.groups):
                group[members] = g
            outputs = forest_exclusive_sets(costs, self.dag_, group)
            values = (costs * outputs).sum(axis=1)
            return outputs, values, values
        if self.dag_.is_forest:
            outputs, values = forest_closed_sets(costs, self.dag_)
            return outputs, values, values
        return dag_closed_sets(costs, self.dag_)

    def _decode_paths(
        self, costs: np.ndarray, constraints: Any, embed: Callable[..., Any] | None = None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """One leaf and all above it: as many candidates as there are leaves.

        ``embed`` is the embedding that the costs are for, when it is not the indicators.
        """
        paths, allowed = self._allowed_paths(constraints)
        psi = paths if embed is None else embed(paths.toarray())
        best, values = min_cost(np.where(allowed, costs @ psi.T, np.inf))
        return paths[best].toarray().astype(np.int8), values, values

    def _allowed_paths(self, constraints: Any) -> tuple[Any, np.ndarray]:
        """Paths to all leaves, (n_leaves, d), and which the constraints allow, (1 or n,
        n_leaves).
        """
        paths = self.dag_.ancestors[self.dag_.leaves]  # (n_leaves, d)
        length = paths.sum(axis=1)
        broken = (
            constraints.low.sum(axis=1, keepdims=True) - constraints.low.astype(float) @ paths.T
        )
        broken = broken + (~constraints.high).astype(float) @ paths.T
        for group in constraints.groups:
            broken = broken + (paths[:, group].sum(axis=1) > 1)
        allowed = (length >= constraints.smallest) & (length <= constraints.largest)
        return paths, (broken == 0) & allowed

    # ------------------------------------------------------------- all outputs
    @property
    def counted(self) -> Any:
        """All label sets, or the single paths where only these may be predicted.

        Nearly every closed set of a wide hierarchy holds nearly all inner labels: to be ahead of
        the average of these says little of a set that holds few.
        """
        return self if self.constraints_.one_path else self.relaxation()

    def enumerate(self, limit: int = LIMIT) -> np.ndarray:
        """All outputs in canonical form; shape (size, d)."""
        if not self._one_row().one_path:
            return super().enumerate(limit)
        paths = self.dag_.ancestors[self.dag_.leaves].toarray().astype(np.int8)
        return paths[self.contains(paths)]

    def _uniform(self) -> Any:
        constraints = self._one_row()
        if constraints.groups or constraints.is_sized:
            return self._forest_paths(constraints)
        if not self.dag_.is_forest or constraints.one_path:
            return None
        return ForestShares(self.dag_, *(mask[0] for mask in self._close_masks(constraints)))


Solving.at(Hierarchy, "skstruct.spaces.hierarchies.solving:SolvingOfHierarchies")
Targets.at(Hierarchy, "skstruct.spaces.hierarchies.targets:TargetsOfHierarchies")
Known.at(Hierarchy, "skstruct.spaces.hierarchies.known:KnownOfHierarchies")
Description.at(Hierarchy, "skstruct.spaces.hierarchies.description:DescriptionOfHierarchies")
Marginals.at(Hierarchy, "skstruct.spaces.hierarchies.marginals:MarginalsOfHierarchies")
SklearnTarget.at(Hierarchy, "skstruct.spaces.sklearn_target:Labels")
Embeddings.at(Hierarchy, "skstruct.spaces.hierarchies.coordinates:EmbeddingsOfHierarchies")
