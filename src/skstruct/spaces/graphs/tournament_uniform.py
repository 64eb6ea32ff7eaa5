# SPDX-License-Identifier: BSD-3-Clause
"""Tournaments under the uniform distribution: counts, moments, samples, lists."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from skstruct.exceptions import InfeasibleError
from skstruct.spaces.base import BaseSpace
from skstruct.spaces.counting import LIMIT, check_few
from skstruct.spaces.covariances import Scalar
from skstruct.spaces.graphs.tournament_laws import sign_law, sign_moves
from skstruct.spaces.limits import check_n_rows


class UniformTournaments(BaseSpace):
    """Pairs that have one of their possible signs each, independently.

    A child brings ``labels_`` (pairs), ``states_``, ``_signs`` and ``limits_``.
    """

    partial: bool
    labels_: Any
    states_: Any
    limits_: Any
    _signs: Any

    def _one_row(self) -> np.ndarray:
        """The signs that pairs may have, where that is the same in all rows."""
        if self.limits_.n_rows is not None:
            raise ValueError("This space differs from row to row; take rows(i) of it first.")
        return self.limits_.allowed[0]

    def _possible(self) -> np.ndarray:
        """The same, unless no output is left; bool of shape (d, number of states)."""
        allowed = self._one_row()
        if not allowed.any(axis=1).all():
            raise InfeasibleError("Tournaments: no output meets the constraints.")
        return allowed

    def size(self) -> int:
        """Exact number of outputs."""
        if self.limits is None:
            return len(self.states_) ** len(self.labels_)
        return math.prod(self._one_row().sum(axis=1).tolist())

    def log_size(self) -> float:
        """Natural logarithm of the number of outputs; minus infinity when there is none."""
        size = self.size()
        return math.log(size) if size else -math.inf

    def mean_embedding(self) -> np.ndarray:
        """Mean of the signs over all outputs; shape (d,)."""
        allowed = self._possible()
        return allowed @ self._signs / allowed.sum(axis=1)

    def covariance(self):
        """Covariance of the signs under the uniform law: 2/3 I, or I without open pairs."""
        if self.limits is not None:
            return super().covariance()
        return Scalar(2 / 3 if self.partial else 1.0, len(self.labels_))

    def second_moment(self) -> np.ndarray:
        """Mean of psi psi' over all outputs; shape (d, d)."""
        if self.limits is None:
            return self.covariance().dense()
        allowed, mean = self._possible(), self.mean_embedding()
        moment = np.outer(mean, mean)
        np.fill_diagonal(moment, allowed @ self._signs**2 / allowed.sum(axis=1))
        return moment

    def sample(self, n: int, rng) -> np.ndarray:
        """``n`` outputs drawn uniformly and independently; shape (n, d)."""
        allowed = self._possible()
        signs = self._signs[np.argsort(~allowed, axis=1, kind="stable")]  # possible ones first
        draws = np.random.default_rng(rng).integers(allowed.sum(axis=1), size=(n, len(allowed)))
        return signs[np.arange(len(allowed)), draws].astype(np.int8)

    def law(self, scores):
        r"""The laws :math:`p(z) \propto \exp \langle u, z \rangle`: pairs are independent.

        Scores of shape (n, d), within limits that may differ from row to row.
        """
        scores = self._checked_scores(scores, len(self.labels_))
        check_n_rows(self.limits_, len(scores), "Tournaments")
        return sign_law(self, scores[:, :, None] * self._signs, self.limits_.allowed)

    def moves(self):
        """Chains that change one pair; None where rows are restricted differently."""
        return sign_moves(self)

    def enumerate(self, limit: int = LIMIT) -> np.ndarray:
        """All outputs in canonical form; shape (size, d)."""
        check_few(self.size(), limit, self, "tournaments")
        rows = np.zeros((1, 0), np.int8)
        for allowed in self._one_row():
            signs = self._signs[allowed].astype(np.int8)
            rows = np.hstack(
                [np.repeat(rows, len(signs), axis=0), np.tile(signs, len(rows))[:, None]]
            )
        return rows
