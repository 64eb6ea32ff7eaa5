# SPDX-License-Identifier: BSD-3-Clause
"""Label sets under other embeddings: by size, and of independent labels."""

from typing import Any

import numpy as np
from scipy import sparse

from skstruct._arrays.memory import row_blocks
from skstruct.exceptions import InfeasibleError
from skstruct.saving import savable
from skstruct.spaces.base import EmbeddingView, check_k, decoded_or_infeasible
from skstruct.spaces.contracts import Decoded
from skstruct.spaces.coordinates import Coordinates
from skstruct.spaces.indicator_sets.decoding import (
    first_labels,
    keep_group_winners,
    label_order,
    min_cost_per_size,
)
from skstruct.spaces.inference import Inference
from skstruct.spaces.known import Known
from skstruct.spaces.marginals import Marginals
from skstruct.spaces.solvers.dags import forest_sized_sets
from skstruct.spaces.solvers.marginals import lowered
from skstruct.spaces.solving import Solving
from skstruct.spaces.targets import Targets, TargetsOfSpace


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

    def argmin(self, costs: np.ndarray) -> Decoded:
        costs = self._checked(costs)
        outputs, values = self._decode(costs, self.space.constraints_)
        return decoded_or_infeasible(outputs, values, values, self.space)

    def kbest(self, costs: np.ndarray, k: int) -> Decoded:
        k = check_k(k, "SizedSets")
        costs = self._checked(costs)

        def decode(rows: np.ndarray, constraints: Any) -> Any:
            return self._decode(costs[rows], constraints)

        return self.space._k_best(decode, len(costs), k)

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

    Within exclusive groups, and on single paths, the most probable labels may not be an output: the
    sizes of the truth follow from the probabilities, and :class:`SizedSets` decides.

    Parameters
    ----------
    space : LabelSets or Hierarchy

    References
    ----------
    .. [1] D. D. Lewis, "Evaluating and optimizing autonomous text classification systems", 1995.
    """

    embedding = "independent labels"

    def embed(self, Z: np.ndarray) -> Any:
        return np.asarray(Z, dtype=np.float64)

    def argmin(self, costs: np.ndarray) -> Decoded:
        """Of minus the probabilities, the square of beta, and whether truths are never empty,
        (n, d + 2).
        """
        from skstruct.spaces.indicator_sets._numba_f_measures import independent_sizes

        n, d = len(costs), len(self.labels_)
        costs = self._checked_costs(costs, d + 2)
        limits = self.space.constraints_
        low, high = self.space._close_masks(limits)
        low, high = np.broadcast_to(low, (n, d)), np.broadcast_to(high, (n, d))
        chances = lowered(np.clip(-costs[:, :d], 0.0, 1.0), self.dag_)
        square, never_empty = costs[0, -2:].tolist() if n else (1.0, 0.0)
        share = np.ones(n)  # of all sets, those that may be true
        if never_empty:
            chances, share = _given_not_empty(chances)
        if not Marginals.of(self.space).suffice:
            return self._argmin_of_sizes(chances, square, share)
        # Of equals the first; of parents and children these come in that order.
        down = self.dag_.order
        order = down[label_order(-chances[:, down], low[:, down], high[:, down])]
        chances = np.take_along_axis(chances, order, axis=1)
        first = np.maximum(low.sum(axis=1), int(limits.smallest))
        last = np.minimum(high.sum(axis=1), int(min(limits.largest, d)))
        last[(low & ~high).any(axis=1)] = -1
        if never_empty:  # then the empty set is always wrong
            first = np.where(last > 0, np.maximum(first, 1), first)
        sizes, values = np.empty(n, np.int64), np.empty(n)
        independent_sizes(chances, square, first, last, sizes, values)
        if never_empty:
            values = np.where(sizes == 0, 0.0, values / share)
        outputs = first_labels(order, sizes)
        return decoded_or_infeasible(outputs, values, values, self.space)

    def _argmin_of_sizes(self, chances: np.ndarray, square: float, share: np.ndarray) -> Decoded:
        """By the probabilities of each label in a set of each size, label by label independent."""
        n, d = chances.shape
        outputs, values = np.zeros((n, d), np.int8), np.empty(n)
        size = np.arange(1, d + 1)
        worth = (1.0 + square) / (square * size[:, None] + size)  # of true sets, and of predicted
        for rows in row_blocks(n, 32 * d * d, "64MB"):
            p = chances[rows]
            others, empty = _sizes_of_others(p)
            inside = -(p[:, :, None] * others) @ worth
            empty -= 1.0 - share[rows]
            costs = np.hstack([inside.reshape(len(p), d * d), -empty[:, None]])
            costs /= share[rows, None]
            try:
                found = SizedSets(self.space.rows(rows)).argmin(costs)
            except InfeasibleError as error:
                raise error.shifted(rows.start) from None
            outputs[rows], values[rows] = found.outputs, found.values
        return Decoded(outputs, values, values)


def _given_not_empty(p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    r"""Chances q of independent labels that have probabilities p (n, d) where some label is there.

    With :math:`c = 1 - \prod_j (1 - q_j)` the share of such sets, :math:`q_j = c\, p_j`: c is the
    root of a concave function, to which Newton's steps fall from 1. Sets that are not empty have
    labels that sum to one at least.

    Returns
    -------
    chances : array of shape (n, d)
    share : array of shape (n,)
    """
    total = p.sum(axis=1, keepdims=True)
    least = 1.0 + 2.0**-10
    p = np.where(total < least, (p + 2.0**-40) * (least / (total + p.shape[1] * 2.0**-40)), p)
    p = np.minimum(p, 1.0)
    c = np.ones(len(p))
    for _ in range(60):
        out = 1.0 - c[:, None] * p
        none = out.prod(axis=1)
        slope = none * (p / np.maximum(out, 2.0**-52)).sum(axis=1) - 1.0
        step = np.where(none > 0.0, (1.0 - none - c) / np.minimum(slope, -(2.0**-20)), 0.0)
        c = np.clip(c - step, 2.0**-20, 1.0)
        if np.abs(step).max(initial=0.0) < 2.0**-50:
            break
    return c[:, None] * p, c


def _sizes_of_others(p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    r"""How many of all labels but one are there, labels being independent with chances p (n, d).

    The sizes f of all labels follow from those g of all but j,
    :math:`f_s = p_j g_{s-1} + (1 - p_j) g_s`, which is solved for g upwards where
    :math:`p_j \le 1/2` and downwards elsewhere, so that rounding does not grow.

    Returns
    -------
    others : array of shape (n, d, d)
        Of row, label j and number of others.
    empty : array of shape (n,)
        Probability of no label at all.
    """
    n, d = p.shape
    f = np.zeros((n, d + 1))
    f[:, 0] = 1.0
    for j in range(d):
        f[:, 1:] = f[:, 1:] * (1.0 - p[:, j, None]) + f[:, :-1] * p[:, j, None]
        f[:, 0] *= 1.0 - p[:, j]
    rare, up, down = p <= 0.5, np.zeros((n, d, d)), np.zeros((n, d, d))
    of_rare, of_common = np.where(rare, p, 0.0), np.where(rare, 1.0, p)
    for s in range(d):
        before = up[:, :, s - 1] if s else 0.0
        up[:, :, s] = (f[:, s, None] - of_rare * before) / (1.0 - of_rare)
        t = d - 1 - s
        after = down[:, :, t + 1] if s else 0.0
        down[:, :, t] = (f[:, t + 1, None] - (1.0 - of_common) * after) / of_common
    return np.where(rare[:, :, None], up, down), f[:, 0]


Solving.at(SizedSets, "skstruct.spaces.indicator_sets.solving:SolvingOfSizedSets")
Coordinates.at(SizedSets, "skstruct.spaces.indicator_sets.coordinates:CoordinatesBySize")
Coordinates.at(IndependentLabels, "skstruct.spaces.indicator_sets.coordinates:CoordinatesByLabel")
Targets.at(IndependentLabels, TargetsOfSpace)
Known.at(IndependentLabels, "skstruct.spaces.indicator_sets.known:KnownOfIndependentLabels")
Inference.at(SizedSets, "skstruct.spaces.indicator_sets.inference:InferenceBySize")
