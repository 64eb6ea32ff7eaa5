# SPDX-License-Identifier: BSD-3-Clause
"""What an exactly known law promises."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np


class Law(ABC):
    r"""The laws :math:`p(y) = \exp(\langle u, \psi(y) \rangle - \ln Z)`, one per row of scores u.

    Attributes
    ----------
    log_partition : array of shape (n_rows,)
        :math:`\ln Z = \ln \sum_y \exp \langle u, \psi(y) \rangle`.
    """

    log_partition: np.ndarray

    @abstractmethod
    def marginals(self) -> np.ndarray:
        """E psi(Y) of every row, the gradient of ``log_partition``; shape (n_rows, d)."""

    @abstractmethod
    def sample(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """``n`` independent outputs of every row in canonical form; shape (n_rows, n, ...)."""


class StackedLaws(Law):
    """Laws of different sets of outputs, one after the other.

    Parameters
    ----------
    laws : list of laws
    """

    def __init__(self, laws):
        self.laws = laws
        self.log_partition = np.concatenate([law.log_partition for law in laws])

    def marginals(self):
        return np.concatenate([law.marginals() for law in self.laws])

    def sample(self, n, rng):
        return np.concatenate([law.sample(n, rng) for law in self.laws])
