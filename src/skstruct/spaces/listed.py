# SPDX-License-Identifier: BSD-3-Clause
"""Any space narrowed to a list of its outputs, each a coordinate of its own."""

from __future__ import annotations

import copy

import numpy as np
from scipy import sparse

from skstruct._arrays.checks import check_costs
from skstruct.decoding.lists import cheapest, k_cheapest
from skstruct.exceptions import InfeasibleError
from skstruct.spaces.base import Decoded, check_k
from skstruct.spaces.limits import check_n_rows, held_by
from skstruct.spaces.views import EmbeddingView


class ListView(EmbeddingView):
    """Outputs of a space that are listed: the cheapest are found by comparing all.

    A child brings ``listed_`` (m, ...), and costs have a column for each of them.
    """

    listed_: np.ndarray

    def _over(self, space):
        view = copy.copy(self)
        view.space = space
        return view

    def allowed(self, part=slice(None)) -> np.ndarray:
        """Which listed outputs, or some of them, may be predicted; shape (1 or n, m)."""
        return held_by(self.space, self.listed_[part])

    def _allowed_costs(self, costs):
        name = type(self).__name__
        costs = check_costs(costs, len(self.listed_), used_by=name)
        check_n_rows(self.limits_, len(costs), name)
        return np.where(self.allowed(), costs, np.inf)

    def argmin(self, costs):
        best, values = cheapest(self._allowed_costs(costs))
        self._check_some(values)
        return Decoded(self.listed_[best], values, values)

    def _check_some(self, values):
        """Raise where the limits exclude the whole list of a row; values of shape (n,)."""
        lost = np.flatnonzero(~np.isfinite(values))
        if len(lost):
            raise InfeasibleError(
                f"{type(self.space).__name__}: none of the {len(self.listed_)} listed outputs, "
                f"such as those of training, meets the constraints in row {lost[0]}; a list of "
                "candidates may hold others.", int(lost[0]),
            )  # fmt: skip

    def kbest(self, costs, k):
        k = check_k(k, type(self).__name__)
        order, values = k_cheapest(self._allowed_costs(costs), k)
        self._check_some(values.min(axis=1))
        return Decoded(self.listed_[order], values, values)


class ListedOutputs(ListView):
    r"""Finitely many outputs of a space, :math:`\psi(z) = e_z` over the list.

    Any loss is bilinear here. Exact *over the candidates*: by default all that is listed.

    Parameters
    ----------
    space : a space with outputs as rows of an array
    outputs : array of shape (m, d)
        Outputs to know, such as those of training; repeated ones count once.
    candidates : array of shape (c, d), default=None
        Outputs that may be predicted; None for all that are known. Training outputs
        beyond them still count through their losses.
    """

    embedding = "outputs"

    def __init__(self, space, outputs, candidates=None):
        self.space = space
        self.outputs = outputs
        self.candidates = candidates
        rows = np.asarray(outputs)
        rows = rows if candidates is None else np.vstack([candidates, rows]).astype(rows.dtype)
        first = np.sort(np.unique(_keys(rows), return_index=True)[1])
        self.listed_ = rows[first]
        n_first = len(rows) if candidates is None else len(candidates)
        self.n_candidates_ = int((first < n_first).sum())  # they come first in the list
        keys = _keys(self.listed_)
        self._order = np.argsort(keys)
        self._sorted = keys[self._order]

    def embed(self, Z):
        keys = _keys(np.asarray(Z, dtype=self.listed_.dtype))
        place = np.searchsorted(self._sorted, keys).clip(max=len(self._sorted) - 1)
        known = np.flatnonzero(self._sorted[place] == keys)
        at = known, self._order[place[known]]
        shape = (len(keys), len(self.listed_))
        return sparse.csr_array((np.ones(len(known)), at), shape=shape)

    def lift(self, costs, embedding):
        """Costs of any embedding that the listed space has: every output on the list is priced."""
        if embedding == self.embedding:
            return costs
        psi = self.space.with_embedding(embedding).embed(self.listed_)
        costs = check_costs(costs, psi.shape[1], used_by=type(self).__name__)
        return costs @ psi.T

    def allowed(self, part=slice(None)):
        allowed = super().allowed()
        allowed[:, self.n_candidates_ :] = False
        return allowed[:, part]


def _keys(rows: np.ndarray) -> np.ndarray:
    """Rows as single comparable items, byte for byte."""
    rows = np.ascontiguousarray(rows)
    return rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1]))).ravel()
