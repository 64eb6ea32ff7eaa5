# SPDX-License-Identifier: BSD-3-Clause
"""What Markov chains have drawn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from skstruct.sampling.values import mean_psi


@dataclass(frozen=True, eq=False)
class Draws:
    """Draws of several chains, one after the other.

    Attributes
    ----------
    outputs : array of shape (n_chains, n_draws, ...), in canonical form
    values : array of shape (n_chains, n_draws), scores of the draws
    acceptance : array of shape (n_chains,), shares of proposals that were accepted
    space : the space they are from
    interrupted : bool, whether the user stopped before all were drawn
    details : dict, what a sampler knows besides
    """

    outputs: np.ndarray
    values: np.ndarray
    acceptance: np.ndarray
    space: Any
    interrupted: bool = False
    details: dict | None = None

    @property
    def n_chains(self) -> int:
        return self.outputs.shape[0]

    @property
    def n_draws(self) -> int:
        """Of every chain."""
        return self.outputs.shape[1]

    @property
    def pooled(self) -> np.ndarray:
        """All draws of all chains, in canonical form; shape (n_chains * n_draws, ...)."""
        return self.outputs.reshape(-1, *self.outputs.shape[2:])

    def restored(self):
        """All draws of all chains in the user's own form."""
        return self.space.restore(self.pooled)

    def marginals(self) -> np.ndarray:
        """Mean of psi over all draws; shape (d,)."""
        return mean_psi(self.space, self.pooled)

    def diagnostics(self, **limits):
        """R-hat, effective sample sizes and acceptance; see :func:`~.diagnostics.diagnostics`."""
        from skstruct.sampling.diagnostics import diagnostics

        return diagnostics(self, **limits)
