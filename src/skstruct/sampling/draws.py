# SPDX-License-Identifier: BSD-3-Clause
"""What Markov chains have drawn."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from skstruct.exceptions import MixingWarning
from skstruct.sampling.remedies import advice
from skstruct.sampling.values import mean_of

MANY = 100  # draws of a chain that are enough to tell whether chains have met
LARGE = 10**6  # numbers in the embeddings of all draws that are not looked at unasked
APART = 1.1  # R-hat above which they have not


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
        return mean_of(self.space.embed, self.pooled)

    def diagnostics(self, *, of="score", r_hat_limit=1.01, ess_limit=400, warn=True):
        """R-hat, effective sizes and acceptance; see :func:`~.convergence.diagnostics`."""
        from skstruct.sampling.convergence import diagnostics

        limits = {"r_hat_limit": r_hat_limit, "ess_limit": ess_limit}
        found = diagnostics(self, of=of, **limits, warn=False)
        if warn and not found.ok:
            warnings.warn(advice(found), MixingWarning, stacklevel=2)
        return found

    def warn_if_apart(self) -> None:
        """Warn where chains of many draws are still in different places."""
        if self.n_chains == 1 or self.n_draws < MANY:
            return
        width = self.space.embed(self.outputs[:1, 0]).shape[1]
        for of in ("score", "psi") if width * self.values.size <= LARGE else ("score",):
            found = self.diagnostics(of=of, r_hat_limit=APART, ess_limit=1, warn=False)
            if np.any(np.asarray(found.r_hat) > APART):
                warnings.warn(advice(found), MixingWarning, stacklevel=4)
                return
