# SPDX-License-Identifier: BSD-3-Clause
"""Tournaments, uniformly: pairs have one of their possible signs each, independently."""

import math

import numpy as np

from skstruct.exceptions import InfeasibleError
from skstruct.spaces.common.counting import check_few
from skstruct.spaces.common.covariances import Covariance, Scalar
from skstruct.spaces.uniform import LIMIT, Seed, Uniform


class UniformOfTournaments(Uniform):
    """Signs of pairs, each as likely as the others that the pair may have."""

    __slots__ = ()

    @property
    def _signs(self) -> np.ndarray:
        return np.array(self.space.states_)

    def _allowed(self) -> np.ndarray:
        """The signs that pairs may have, where that is the same in all rows."""
        return self._one_row().allowed[0]

    def _possible(self) -> np.ndarray:
        """The same, unless no output is left; bool of shape (d, number of states)."""
        allowed: np.ndarray = self._allowed()
        if not allowed.any(axis=1).all():
            raise InfeasibleError("Tournaments: no output meets the constraints.")
        return allowed

    def size(self) -> int:
        if self.space.constraints is None:
            return int(len(self.space.states_) ** len(self.space.labels_))
        return math.prod(self._allowed().sum(axis=1).tolist())

    def mean_embedding(self) -> np.ndarray:
        allowed = self._possible()
        return allowed @ self._signs / allowed.sum(axis=1)

    def _closed_covariance(self) -> Covariance | None:
        """2/3 I, or I without open pairs."""
        if self.space.constraints is not None:
            return None
        return Scalar(2 / 3 if self.space.partial else 1.0, len(self.space.labels_))

    def second_moment(self) -> np.ndarray:
        if self.space.constraints is None:
            return self.covariance().dense()
        allowed, mean = self._possible(), self.mean_embedding()
        moment = np.outer(mean, mean)
        np.fill_diagonal(moment, allowed @ self._signs**2 / allowed.sum(axis=1))
        return moment

    def sample(self, n: int, rng: Seed = None) -> np.ndarray:
        allowed = self._possible()
        signs = self._signs[np.argsort(~allowed, axis=1, kind="stable")]  # possible ones first
        draws = np.random.default_rng(rng).integers(allowed.sum(axis=1), size=(n, len(allowed)))
        return signs[np.arange(len(allowed)), draws].astype(np.int8)

    def enumerate(self, limit: int = LIMIT) -> np.ndarray:
        check_few(self.size(), limit, self.space, "tournaments")
        rows = np.zeros((1, 0), np.int8)
        for allowed in self._allowed():
            signs = self._signs[allowed].astype(np.int8)
            rows = np.hstack(
                [np.repeat(rows, len(signs), axis=0), np.tile(signs, len(rows))[:, None]]
            )
        return rows
