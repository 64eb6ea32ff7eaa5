# SPDX-License-Identifier: BSD-3-Clause
"""What local moves among outputs promise."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np


class Moves(ABC):
    """Local moves among the outputs of one structure: the steps of a Metropolis chain.

    Attributes
    ----------
    sweep : int
        Proposals after which everything was proposed about once.
    """

    sweep: int

    @abstractmethod
    def start(self, outputs) -> np.ndarray:
        """Outputs (n, ...) in canonical form as states of chains, in an array of their own."""

    @abstractmethod
    def outputs(self, states) -> np.ndarray:
        """States as outputs in canonical form."""

    @abstractmethod
    def walk(self, states, scores, row, beta, n_steps: int, streams) -> np.ndarray:
        r"""Make ``n_steps`` proposals in every chain; states and streams change in place.

        Chain c approaches the law :math:`\exp(\beta_c \langle u_{row(c)}, \psi \rangle)`.

        Parameters
        ----------
        states : array of shape (n, ...), made by ``start``
        scores : C-contiguous float64 array of shape (r, d)
        row : int64 array of shape (n,)
            The row of scores that each chain follows.
        beta : float64 array of shape (n,)
            Inverse temperatures; 0 is the uniform law.
        streams : uint64 array of shape (n, 4)
            Random streams of the chains, see :mod:`skstruct.walking.streams`.

        Returns
        -------
        accepted : int64 array of shape (n,)
        """
