# SPDX-License-Identifier: BSD-3-Clause
"""States of labels under the uniform distribution: labels are independent of each other."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from itertools import product

import numpy as np

from skstruct._arrays.memory import check_square_fits
from skstruct.exceptions import InfeasibleError
from skstruct.spaces.base import BaseSpace
from skstruct.spaces.counting import LIMIT, check_few


@dataclass(frozen=True, eq=False)
class StateLimits:
    """States that labels may have, the same for all rows or one table per row."""

    allowed: np.ndarray  # bool, shape (1 or n, labels, states)

    def __deepcopy__(self, memo):
        return self

    def __repr__(self):
        return f"StateLimits({int((~self.allowed).sum())} states barred)"

    @property
    def n_rows(self) -> int | None:
        """Number of rows these limits are for; None when they are the same for all."""
        return None if len(self.allowed) == 1 else len(self.allowed)

    def rows(self, index) -> StateLimits:
        return self if self.n_rows is None else StateLimits(self.allowed[index])

    def narrow(self, allowed: np.ndarray) -> StateLimits:
        counts = {len(self.allowed), len(allowed)} - {1}
        if len(counts) > 1 or 0 in counts:
            raise ValueError(f"States are given for different numbers of rows: {sorted(counts)}.")
        return StateLimits(self.allowed & allowed)


class UniformStates(BaseSpace):
    """Every label has any of its allowed states: how many outputs, samples, moments, the list."""

    @property
    @abstractmethod
    def limits_(self) -> StateLimits:
        """Which states labels may have."""

    @abstractmethod
    def _requirements(self) -> np.ndarray:
        """The state that each coordinate of psi asks of each label, -1 for any; (d, labels)."""

    def _allowed(self) -> np.ndarray:
        """Allowed states of all labels, bool (labels, states)."""
        if self.limits_.n_rows is not None:
            raise ValueError("This space differs from row to row; take rows(i) of it first.")
        return self.limits_.allowed[0]

    def size(self) -> int:
        """Exact number of outputs."""
        return math.prod(self._allowed().sum(axis=1).tolist())

    def log_size(self) -> float:
        """Natural logarithm of their number; minus infinity when there is none."""
        size = self.size()
        return math.log(size) if size else -math.inf

    def enumerate(self, limit: int = LIMIT) -> np.ndarray:
        """All outputs in canonical form; shape (size, number of labels)."""
        check_few(self.size(), limit, self)
        allowed = self._allowed()
        listed = list(product(*(np.flatnonzero(states).tolist() for states in allowed)))
        return np.array(listed, dtype=np.int64).reshape(-1, len(allowed))

    def _counts(self) -> np.ndarray:
        """Number of states of each label, none of them zero."""
        counts = self._allowed().sum(axis=1)
        if not counts.all():
            raise InfeasibleError(f"{type(self).__name__}: no output meets the constraints.")
        return counts

    def sample(self, n: int, rng) -> np.ndarray:
        """``n`` outputs drawn uniformly and independently; shape (n, number of labels)."""
        counts = self._counts()
        rank = np.random.default_rng(rng).integers(counts, size=(n, len(counts)))
        first = np.argsort(~self._allowed(), axis=1, kind="stable")  # allowed states come first
        return first[np.arange(len(counts)), rank]

    def mean_embedding(self) -> np.ndarray:
        """Mean of psi over all outputs; shape (d,)."""
        asked, chance = self._requirements(), self._chances()
        return np.prod(chance[np.arange(asked.shape[1]), asked], axis=1)

    def second_moment(self) -> np.ndarray:
        """Mean of psi psi' over all outputs; shape (d, d).

        Two coordinates hold together with the product, over labels, of the chance that one
        state is what both ask for.
        """
        asked, chance, mean = self._requirements(), self._chances(), self.mean_embedding()
        check_square_fits(len(mean), "The second moment", "Fewer labels or pairs take less.")
        moment = np.outer(mean, mean)  # right where no label is asked by both
        for wanted, p in zip(asked.T, chance):
            asking = np.flatnonzero(wanted >= 0)
            p, wanted = p[wanted[asking]], wanted[asking]
            p[p == 0] = 1.0  # a barred state: the moment is zero already
            both = (wanted[:, None] == wanted) / p  # instead of p p' the chance of one state
            moment[np.ix_(asking, asking)] *= both
        return moment

    def _chances(self) -> np.ndarray:
        """Chance of each state of each label, and one for any, last: (labels, states + 1)."""
        chance = self._allowed() / self._counts()[:, None]
        return np.hstack([chance, np.ones((len(chance), 1))])
