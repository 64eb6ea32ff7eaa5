# SPDX-License-Identifier: BSD-3-Clause
"""Label sets embedded by "label j is in, and the set has s labels"."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from skstruct._arrays.checks import check_costs
from skstruct.decoding.forest import forest_sized_sets
from skstruct.decoding.lawler import k_best
from skstruct.decoding.subsets import cheapest_per_size, keep_group_winners
from skstruct.spaces.base import Decoded, check_feasible, check_k, decoded_or_infeasible
from skstruct.spaces.views import EmbeddingView


class SizedSets(EmbeddingView):
    r"""Label sets with :math:`\psi(z) = (z_j 1[|z| = s])_{j, s}` and ``1[z is empty]``.

    Entry ``j * d + s - 1`` stands for label j in a set of s labels, the last one for the
    empty set: :math:`d^2 + 1` in all. The F measures are bilinear here. The argmin takes,
    for every size, the cheapest labels of that size (label sets: one sort per size) or
    the cheapest closed set of that size (forests: one dynamic program per size).

    Parameters
    ----------
    space : LabelSets or Hierarchy
        A hierarchy must be a forest without exclusive groups.
    """

    embedding = "sized indicators"

    def embed(self, Z):
        Z = np.asarray(Z)
        n, d = Z.shape
        size = Z.sum(axis=1, dtype=np.int64)
        row, label = np.nonzero(Z)
        empty = np.flatnonzero(size == 0)
        column = np.concatenate([label * d + size[row] - 1, np.full(len(empty), d * d)])
        row = np.concatenate([row, empty])
        return sparse.csr_array((np.ones(len(row)), (row, column)), shape=(n, d * d + 1))

    def lift(self, costs, embedding):
        """Costs of labels, (n, d): a label costs the same in a set of any size."""
        if embedding != "indicators":
            return super().lift(costs, embedding)
        d = len(self.labels_)
        costs = check_costs(costs, d, used_by="SizedSets")
        return np.hstack([np.repeat(costs, d, axis=1), np.zeros((len(costs), 1))])

    def argmin(self, costs):
        costs = self._checked(costs)
        self.space._check_rows(len(costs))
        outputs, values = self._decode(costs, self.space.limits_)
        return decoded_or_infeasible(outputs, values, values, self.space)

    def law(self, scores):
        """Laws of the sets, one sum for every size; scores of shape (n, d * d + 1)."""
        scores = self._checked_scores(scores, len(self.labels_) ** 2 + 1)
        self.space._check_rows(len(scores))
        from skstruct.spaces.set_laws import view_law

        return view_law(self, scores)

    def kbest(self, costs, k):
        k = check_k(k, "SizedSets")
        costs = self._checked(costs)
        self.space._check_rows(len(costs))
        limits = self.space.limits_

        def best_within(rows, low, high):
            return self._decode(costs[rows], limits.rows(rows).within(low, high))

        outputs, values = k_best(best_within, len(costs), len(self.labels_), k)
        check_feasible(np.isfinite(values).any(axis=1), self.space)
        return Decoded(outputs, values, values)

    def _checked(self, costs):
        return check_costs(costs, len(self.labels_) ** 2 + 1, used_by="SizedSets")

    def _decode(self, costs, limits):
        n, d = len(costs), len(self.labels_)
        if limits.one_path:
            return self.space._decode_paths(costs, limits, self.embed)[:2]
        if len(self.space.dag_.parents):
            return self._decode_forest(costs, limits)
        cube = costs[:, :-1].reshape(n, d, d)
        low, high = limits.low[:, :, None], limits.high[:, :, None]
        if limits.groups:
            if not self.space._sibling_groups(limits):
                raise ValueError("Exclusive groups that overlap are not supported with F measures.")
            by_size = np.swapaxes(cube, 1, 2).reshape(n * d, d)
            masks = (
                np.repeat(np.broadcast_to(m, (n, d)), d, axis=0) for m in (limits.low, limits.high)
            )
            high = keep_group_winners(by_size, *masks, limits.groups)
            high = np.swapaxes(high.reshape(n, d, d), 1, 2)
        shape = (n, d, high.shape[2])
        low, high = np.broadcast_to(low, shape), np.broadcast_to(high, shape)
        return cheapest_per_size(cube, costs[:, -1], low, high, limits.smallest, limits.largest)

    def _decode_forest(self, costs, limits):
        dag = self.space.dag_
        if not dag.is_forest or limits.groups:
            raise ValueError(
                "F measures are decoded exactly over label sets and over forests without "
                "exclusive groups; for this hierarchy give candidates: "
                "predict(X, loss=Listed(F1()))."
            )
        low, high = self.space._close_masks(limits)
        sizes = max(limits.smallest, 1), limits.largest
        outputs, values = forest_sized_sets(costs, dag, low, high, *sizes, per_size=True)
        empty = costs[:, -1] if limits.smallest == 0 else np.full(len(costs), np.inf)
        empty = np.where(low.any(axis=1), np.inf, empty)
        outputs[empty <= values] = 0
        return outputs, np.minimum(values, empty)
