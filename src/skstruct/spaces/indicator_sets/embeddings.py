# SPDX-License-Identifier: BSD-3-Clause
"""Label sets under other embeddings: by size, of independent labels, by products over parents."""

from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from skstruct._arrays.checks import check_costs
from skstruct._arrays.rows import dense
from skstruct.saving import savable
from skstruct.solvers.binary_programs import BinaryProgram
from skstruct.solvers.dags import Dag, dag_closed_sets, forest_sized_sets
from skstruct.solvers.distributions import Distribution
from skstruct.solvers.marginals import lowered
from skstruct.solvers.proposals import Proposals
from skstruct.spaces.base import EmbeddingView, check_k, decoded_or_infeasible
from skstruct.spaces.contracts import Decoded
from skstruct.spaces.indicator_sets.decoding import (
    decode_rows,
    first_labels,
    keep_group_winners,
    label_order,
    limit_constraints,
    min_cost_per_size,
)
from skstruct.tolerances import ROUNDING_GAP


@savable
class SizedSets(EmbeddingView):
    r"""Label sets with :math:`\psi(z) = (z_j 1[|z| = s])_{j, s}` and ``1[z is empty]``.

    Entry ``j * d + s - 1`` stands for label j in a set of s labels, the last one for the
    empty set: :math:`d^2 + 1` in all. The F measures are bilinear here. The argmin takes,
    for every size, the minimum-cost labels of that size (label sets: one sort per size) or
    the minimum-cost closed set of that size (forests: one dynamic program per size).

    Parameters
    ----------
    space : LabelSets or Hierarchy
        A hierarchy must be a forest without exclusive groups.
    """

    embedding = "sized indicators"

    def embed(self, Z: np.ndarray) -> Any:
        Z = np.asarray(Z)
        n, d = Z.shape
        size = Z.sum(axis=1, dtype=np.int64)
        row, label = np.nonzero(Z)
        empty = np.flatnonzero(size == 0)
        column = np.concatenate([label * d + size[row] - 1, np.full(len(empty), d * d)])
        row = np.concatenate([row, empty])
        return sparse.csr_array((np.ones(len(row)), (row, column)), shape=(n, d * d + 1))

    def lift(self, costs: np.ndarray, embedding: str) -> np.ndarray:
        """Costs of labels, (n, d): a label costs the same in a set of any size."""
        if embedding != "indicators":
            return super().lift(costs, embedding)
        d = len(self.labels_)
        costs = check_costs(costs, d, used_by="SizedSets")
        return np.hstack([np.repeat(costs, d, axis=1), np.zeros((len(costs), 1))])

    def project(self, means: np.ndarray, embedding: str) -> np.ndarray:
        """Means of labels in sets of any size."""
        if embedding not in ("indicators", "independent labels"):
            return super().project(means, embedding)
        d = len(self.labels_)
        of_any: np.ndarray = dense(means)[:, :-1].reshape(-1, d, d).sum(axis=2)
        return of_any

    def argmin(self, costs: np.ndarray) -> Decoded:
        costs = self._checked(costs)
        outputs, values = self._decode(costs, self.space.constraints_)
        return decoded_or_infeasible(outputs, values, values, self.space)

    def distribution(self, scores: Any) -> Distribution | None:
        """Distributions of the sets, one sum for every size; scores of shape (n, d * d + 1)."""
        scores = self._checked_scores(scores, len(self.labels_) ** 2 + 1)
        from skstruct.spaces.indicator_sets.distribution import view_distribution

        return view_distribution(self, scores)

    def kbest(self, costs: np.ndarray, k: int) -> Decoded:
        k = check_k(k, "SizedSets")
        costs = self._checked(costs)

        def decode(rows: np.ndarray, constraints: Any) -> Any:
            return self._decode(costs[rows], constraints)

        decoded: Decoded = self.space._k_best(decode, len(costs), k)
        return decoded

    def _checked(self, costs: np.ndarray) -> np.ndarray:
        return self._checked_costs(costs, len(self.labels_) ** 2 + 1)

    def _decode(self, costs: np.ndarray, constraints: Any) -> Any:
        n, d = len(costs), len(self.labels_)
        if constraints.one_path:
            return self.space._decode_paths(costs, constraints, self.embed)[:2]
        if len(self.space.dag_.parents):
            return self._decode_forest(costs, constraints)
        cube = costs[:, :-1].reshape(n, d, d)
        low, high = constraints.low[:, :, None], constraints.high[:, :, None]
        if constraints.groups:
            if not self.space._sibling_groups(constraints):
                raise ValueError("Exclusive groups that overlap are not supported with F measures.")
            by_size = np.swapaxes(cube, 1, 2).reshape(n * d, d)
            must, may = (
                np.repeat(np.broadcast_to(m, (n, d)), d, axis=0)
                for m in (constraints.low, constraints.high)
            )
            high = keep_group_winners(by_size, must, may, constraints.groups)
            high = np.swapaxes(high.reshape(n, d, d), 1, 2)
        return min_cost_per_size(
            cube, costs[:, -1], low, high, constraints.smallest, constraints.largest
        )

    def _decode_forest(self, costs: np.ndarray, constraints: Any) -> tuple[np.ndarray, np.ndarray]:
        dag = self.space.dag_
        if not dag.is_forest or constraints.groups:
            raise ValueError(
                "F measures are decoded exactly over label sets and over forests without "
                "exclusive groups; for this hierarchy give candidates: "
                "predict(X, loss=Listed(F1()))."
            )
        low, high = self.space._close_masks(constraints)
        sizes = max(constraints.smallest, 1), constraints.largest
        outputs, values = forest_sized_sets(costs, dag, low, high, *sizes, per_size=True)
        empty = costs[:, -1] if constraints.smallest == 0 else np.full(len(costs), np.inf)
        empty = np.where(low.any(axis=1), np.inf, empty)
        outputs[empty <= values] = 0
        return outputs, np.minimum(values, empty)


@savable
class IndependentLabels(EmbeddingView):
    r"""Label sets for F measures of many labels, taken for independent: :math:`\psi(z) = z`.

    Probabilities of all labels in sets of all sizes would be :math:`d^2` numbers. If labels are
    independent given the input, those of the labels are enough: of all sets of k labels the k
    most probable ones are best [1]_, and the sizes of sets are sums of independent numbers.

    In a hierarchy no label is taken for more probable than its parents; the most probable ones
    are then a closed set. Labels below each other are not independent: what such a set is said to
    be worth is an estimate, and no bound.

    Parameters
    ----------
    space : LabelSets or Hierarchy
        Without exclusive groups, and not of single paths.

    References
    ----------
    .. [1] D. D. Lewis, "Evaluating and optimizing autonomous text classification systems", 1995.
    """

    embedding = "independent labels"

    def embed(self, Z: np.ndarray) -> Any:
        return np.asarray(Z, dtype=np.float64)

    def argmin(self, costs: np.ndarray) -> Decoded:
        """Of minus the probabilities and the square of beta, (n, d + 1)."""
        from skstruct.spaces.indicator_sets._numba_f_measures import independent_sizes

        n, d = len(costs), len(self.labels_)
        costs = self._checked_costs(costs, d + 1)
        limits = self.space.constraints_
        low, high = self.space._close_masks(limits)
        low, high = np.broadcast_to(low, (n, d)), np.broadcast_to(high, (n, d))
        chances = lowered(np.clip(-costs[:, :-1], 0.0, 1.0), self.dag_)
        # Of equals the first; of parents and children these come in that order.
        down = self.dag_.order
        order = down[label_order(-chances[:, down], low[:, down], high[:, down])]
        chances = np.take_along_axis(chances, order, axis=1)
        first = np.maximum(low.sum(axis=1), int(limits.smallest))
        last = np.minimum(high.sum(axis=1), int(min(limits.largest, d)))
        last[(low & ~high).any(axis=1)] = -1
        sizes, values = np.empty(n, np.int64), np.empty(n)
        square = float(costs[0, -1]) if n else 1.0
        independent_sizes(chances, square, first, last, sizes, values)
        outputs = first_labels(order, sizes)
        return decoded_or_infeasible(outputs, values, values, self.space)

    def project(self, means: np.ndarray, embedding: str) -> np.ndarray:
        return means if embedding == "indicators" else super().project(means, embedding)


TURNS = 12  # min-cuts of a row before an integer program


@savable
class ParentProducts(EmbeddingView):
    r"""Closed sets with :math:`\psi(y) = (y, z)`, :math:`z_j = \prod_{k \in P(j)} y_k`.

    One product for every label with two or more parents; for the others it is the single
    parent, or one. The hierarchical loss is bilinear here on any acyclic graph. Minimizing
    a linear cost is NP-hard with signed costs, so rows go through two doors:

    1. *a few min-cuts*, with each product a node of its own below its parents. A product of
       negative cost is exact there; one of positive cost is charged to its label or to
       its parents. The values are lower bounds, and a set that attains one is optimal;
    2. else an integer program, LP first, with its bound.
    """

    embedding = "indicators and parents"

    def __init__(self, space: Any) -> None:
        self.space = space
        self.shared_ = np.flatnonzero(space.dag_.n_parents > 1)  # labels that have a product
        self._parents = [space.dag_.parents_of[j] for j in self.shared_]

    def _products(self, Z: np.ndarray) -> np.ndarray:
        """Whether all parents are in, for each product; (n, n_products)."""
        if not len(self.shared_):
            return np.zeros((len(Z), 0))
        return np.minimum.reduceat(Z[:, self._arcs[1]], self._first_arc, axis=1)

    def embed(self, Z: np.ndarray) -> np.ndarray:
        Z = np.asarray(Z)
        return np.hstack([Z, self._products(Z)]).astype(np.float64)

    def project(self, means: np.ndarray, embedding: str) -> np.ndarray:
        """Means of the labels alone: the first d columns."""
        if embedding == "indicators":
            return means[:, : len(self.labels_)]
        return super().project(means, embedding)

    def lift(self, costs: np.ndarray, embedding: str) -> np.ndarray:
        """Costs of labels, (n, d): the products cost nothing."""
        if embedding != "indicators":
            return super().lift(costs, embedding)
        costs = check_costs(costs, len(self.labels_), used_by="ParentProducts")
        return np.hstack([costs, np.zeros((len(costs), len(self.shared_)))])

    def distribution(self, scores: Any) -> Distribution | None:
        """Distributions of the sets; those of the labels where there are no products, else from
        a list.
        """
        if not len(self.shared_):
            known: Distribution | None = self.space.distribution(scores)
            return known
        scores = self._checked_scores(scores, len(self.labels_) + len(self.shared_))
        from skstruct.spaces.indicator_sets.distribution import view_distribution

        return view_distribution(self, scores)

    def proposals(self) -> Proposals | None:
        return None if len(self.shared_) else self.space.proposals()

    def argmin(self, costs: np.ndarray) -> Decoded:
        d = len(self.labels_)
        costs = check_costs(costs, d + len(self.shared_), used_by="ParentProducts")
        constraints = self.space.constraints_
        self.space._check_rows(len(costs))
        if constraints.one_path:
            found = self.space._decode_paths(costs, constraints, self.embed)
            return decoded_or_infeasible(found[0], found[1], found[2], self.space)
        if constraints.is_masked or constraints.is_sized or constraints.groups:
            return self._by_program(costs, constraints)
        outputs, values, bounds = self._by_cuts(costs)
        open_ = np.flatnonzero(values - bounds > _rounding(costs))
        if len(open_):
            exact = self._by_program(costs[open_], constraints)
            better = exact.values < values[open_]
            rows = open_[better]
            outputs[rows], values[rows] = exact.outputs[better], exact.values[better]
            bounds[open_] = np.maximum(bounds[open_], exact.bounds)
        return decoded_or_infeasible(outputs, values, np.minimum(bounds, values), self.space)

    def _values(self, costs: np.ndarray, outputs: np.ndarray) -> Any:
        return (costs * self.embed(outputs)).sum(axis=1)

    def _by_cuts(self, costs: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The best closed set found by repeated min-cuts, with a lower bound."""
        share, rounding = np.ones((len(costs), len(self.shared_))), _rounding(costs)
        outputs, bounds = self._cut(costs, share)
        values, latest = self._values(costs, outputs), outputs.copy()
        for turn in range(1, TURNS):
            open_ = np.flatnonzero(values - bounds > rounding)
            if not len(open_):
                break
            # Full steps at first, then an average: some shares are between 0 and 1.
            step = 1.0 if turn <= 3 else 1.0 / turn
            share[open_] += step * (self._wanted(latest[open_], share[open_]) - share[open_])
            latest[open_], lower = self._cut(costs[open_], share[open_])
            found = self._values(costs[open_], latest[open_])
            better = open_[found < values[open_]]
            outputs[better] = latest[better]
            values[open_] = np.minimum(values[open_], found)
            bounds[open_] = np.maximum(bounds[open_], lower)
        return outputs, values, bounds

    def _cut(self, costs: np.ndarray, share: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """One min-cut: its closed sets, and lower bounds.

        A product of negative cost is a node below its parents, exact. A positive cost is
        charged to its label by a share s and to the parents by the rest, since
        z_j >= s y_j + (1 - s) (sum of y_k - |P(j)| + 1): a bound for any s in [0, 1].
        """
        d, (product, parent) = len(self.labels_), self._arcs
        positive = np.maximum(costs[:, d:], 0.0)
        extended = costs.copy()
        np.minimum(extended[:, d:], 0.0, out=extended[:, d:])
        extended[:, self.shared_] += share * positive
        rest = (1.0 - share) * positive
        if rest.any():
            one = np.ones(len(parent))
            extended[:, :d] += rest @ sparse.csr_array((one, (product, parent)), (len(share.T), d))
        found, _, bounds = dag_closed_sets(extended, self._extended_dag)
        return np.ascontiguousarray(found[:, :d]), bounds - rest @ (np.bincount(product) - 1.0)

    def _wanted(self, outputs: np.ndarray, share: np.ndarray) -> np.ndarray:
        """Shares under which the cut would have cost its set right."""
        missing = (outputs[:, self._arcs[1]] == 0).astype(np.int64)
        missing = np.add.reduceat(missing, self._first_arc, axis=1)
        left_out = (missing == 0) & (outputs[:, self.shared_] == 0)
        return np.where(left_out, 0.0, np.where(missing > 1, 1.0, share))

    @cached_property
    def _arcs(self) -> tuple[np.ndarray, np.ndarray]:
        """Product and parent, for each parent of each product."""
        sizes = [len(parents) for parents in self._parents]
        parent = np.concatenate([*self._parents, np.empty(0, np.int64)]).astype(np.int64)
        return np.repeat(np.arange(len(sizes)), sizes), parent

    @cached_property
    def _first_arc(self) -> np.ndarray:
        return np.searchsorted(self._arcs[0], np.arange(len(self.shared_)))

    @cached_property
    def _extended_dag(self) -> Dag:
        dag, d = self.space.dag_, len(self.labels_)
        product, parent = self._arcs
        parents, children = np.append(dag.parents, parent), np.append(dag.children, d + product)
        return Dag(d + len(self.shared_), parents, children)

    def _by_program(self, costs: np.ndarray, constraints: Any) -> Decoded:
        program = self._program(constraints)
        low, high = self.space._close_masks(constraints)
        m = len(self.shared_)
        low = np.hstack([low, np.zeros((len(low), m), bool)])
        high = np.hstack([high, np.ones((len(high), m), bool)])
        points, values, bounds = decode_rows(program, costs, low, high)
        return decoded_or_infeasible(points[:, : len(self.labels_)], values, bounds, self.space)

    def _program(self, constraints: Any) -> BinaryProgram:
        """y and z binary, with y_j <= z_j <= y_k and z_j >= sum of y_k - |P(j)| + 1."""
        d, m = len(self.labels_), len(self.shared_)
        A, b, _, _ = limit_constraints(self.space.dag_, constraints)
        owner, parents = self._arcs
        counts = np.bincount(owner, minlength=m)
        each, arc = np.arange(m), np.arange(len(parents))
        below = _rows((each, self.shared_, 1.0), (each, d + each, -1.0), shape=(m, d + m))
        above = _rows((owner, parents, 1.0), (each, d + each, -1.0), shape=(m, d + m))
        inside = _rows((arc, d + owner, 1.0), (arc, parents, -1.0), shape=(len(arc), d + m))
        A = sparse.hstack([A, sparse.csr_array((A.shape[0], m))])
        right = np.concatenate([b, np.zeros(m), counts - 1.0, np.zeros(len(arc))])
        stacked = sparse.vstack([A, below, above, inside], format="csr")
        return BinaryProgram(stacked, right, sparse.csr_array((0, d + m)), np.zeros(0))


def _rounding(costs: np.ndarray) -> Any:
    return ROUNDING_GAP * np.abs(costs).sum(axis=1)


def _rows(*entries: Any, shape: tuple[int, int]) -> Any:
    """A sparse matrix from (row, column, value) triples of arrays and a number."""
    row = np.concatenate([entry[0] for entry in entries])
    column = np.concatenate([entry[1] for entry in entries])
    value = np.concatenate([np.full(len(entry[0]), entry[2]) for entry in entries])
    return sparse.csr_array((value, (row, column)), shape=shape)
