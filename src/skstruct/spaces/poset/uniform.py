# SPDX-License-Identifier: BSD-3-Clause
"""Elements of a partially ordered set, each as likely as any other."""

import numpy as np
from scipy import sparse

from skstruct.spaces.poset.space import some_elements
from skstruct.spaces.uniform import LIMIT, Seed, Uniform


class UniformOfElements(Uniform):
    """Elements, as rows that mark themselves and all above them."""

    __slots__ = ()

    def _some(self) -> np.ndarray:
        return some_elements(self.space)

    def size(self) -> int:
        return int(self._one_row().allowed[0].sum())

    def enumerate(self, limit: int = LIMIT) -> np.ndarray:
        return self.space.psi(np.flatnonzero(self._one_row().allowed[0]))

    def sample(self, n: int, rng: Seed = None) -> np.ndarray:
        return self.space.psi(np.random.default_rng(rng).choice(self._some(), size=n))

    def mean_embedding(self) -> np.ndarray:
        """The share n_i / #z of elements that are i or below it; shape (d,)."""
        allowed = self._some()
        return self.space.above_[allowed].sum(axis=0, dtype=np.int64) / len(allowed)

    def second_moment(self) -> np.ndarray:
        """The share of elements that are at or below both i and j; shape (d, d)."""
        allowed = self._some()
        marked = sparse.csr_array(self.space.above_[allowed].astype(np.float64))
        return (marked.T @ marked).toarray() / len(allowed)
