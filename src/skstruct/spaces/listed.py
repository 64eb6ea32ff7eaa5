# SPDX-License-Identifier: BSD-3-Clause
"""Any space narrowed to a list of its outputs, each a coordinate of its own."""

from __future__ import annotations

import copy

import numpy as np
from scipy import sparse

from skstruct._arrays.checks import check_costs
from skstruct.spaces.base import Decoded, decoded_or_infeasible
from skstruct.spaces.views import EmbeddingView


class ListedOutputs(EmbeddingView):
    r"""Finitely many outputs of a space, :math:`\psi(z) = e_z` over the list.

    Any loss is bilinear here. Exact *over the list*: by default the distinct outputs
    seen in training. Outputs that are not listed embed to zero.

    Parameters
    ----------
    space : a space with outputs as rows of an array
    outputs : array of shape (m, d)
        Outputs in canonical form; repeated ones count once, in order of appearance.
    """

    embedding = "outputs"

    def __init__(self, space, outputs):
        self.space = space
        self.outputs = outputs
        rows = np.ascontiguousarray(outputs)
        _, first = np.unique(_keys(rows), return_index=True)
        self.listed_ = rows[np.sort(first)]
        keys = _keys(self.listed_)
        self._order = np.argsort(keys)
        self._sorted = keys[self._order]

    def _over(self, space):
        view = copy.copy(self)
        view.space = space
        return view

    def embed(self, Z):
        keys = _keys(np.asarray(Z, dtype=self.listed_.dtype))
        place = np.searchsorted(self._sorted, keys).clip(max=len(self._sorted) - 1)
        known = np.flatnonzero(self._sorted[place] == keys)
        at = known, self._order[place[known]]
        shape = (len(keys), len(self.listed_))
        return sparse.csr_array((np.ones(len(known)), at), shape=shape)

    def allowed(self) -> np.ndarray:
        """Which listed outputs the restricted space still holds; shape (1 or n, m)."""
        limits = getattr(self.space, "limits_", None)
        if limits is None or limits.n_rows is None:
            return self.space.contains(self.listed_)[None]
        rows = (self.space.rows([i]) for i in range(limits.n_rows))
        return np.array([row.contains(self.listed_) for row in rows])

    def argmin(self, costs):
        best = self.kbest(costs, 1)
        values = best.values[:, 0]
        return decoded_or_infeasible(best.outputs[:, 0], values, values, self.space)

    def kbest(self, costs, k):
        costs = check_costs(costs, len(self.listed_), used_by="ListedOutputs")
        costs = np.where(self.allowed(), costs, np.inf)
        if k == 1:
            order = costs.argmin(axis=1)[:, None]
        else:
            order = np.argsort(costs, axis=1, kind="stable")[:, :k]
        values = np.take_along_axis(costs, order, axis=1)
        return Decoded(self.listed_[order], values, values)


def _keys(rows: np.ndarray) -> np.ndarray:
    """Rows as single comparable items, byte for byte."""
    rows = np.ascontiguousarray(rows)
    return rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1]))).ravel()
