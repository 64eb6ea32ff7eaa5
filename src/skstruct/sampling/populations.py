# SPDX-License-Identifier: BSD-3-Clause
r"""Chains that are annealed together (sequential Monte Carlo).

Chains begin at the uniform distribution. From level to level, each is weighed by :math:`g =
\exp((\beta' - \beta) f)` and drawn anew by its weight, then walks on at the new :math:`\beta'`. At
given levels, the product of the mean weights is an unbiased estimate of :math:`Z / |\mathcal Y|`
however badly chains mix [1]_. Here levels follow the chains: each is as far from the last as half
of them allow. Chains are drawn anew within batches, so that the spread of the batches tells how far
off the estimate is.

References
----------
.. [1] P. Del Moral, A. Doucet, A. Jasra, "Sequential Monte Carlo samplers", Journal of the Royal
   Statistical Society B 68, 2006.
"""

from typing import Any

import numpy as np
from scipy.special import logsumexp

from skstruct.sampling.chains import Chains
from skstruct.spaces.solvers.proposals import Proposals
from skstruct.tolerances import SMALLEST_COOLING

BATCHES = 10
HALVINGS = 30  # of the interval in which a level is searched


class Population:
    """Chains of several rows of scores on their way from the uniform distribution to theirs.

    Parameters
    ----------
    space : fitted space, samplable
    scores : array (R, d)
    n : int
        Chains of every row; rounded up to two for every batch at least.
    proposals, rng, n_jobs : see :class:`~.chains.Chains`
    start : array of outputs, one for every chain, default=None
        Where chains begin; drawn uniformly when None.

    Attributes
    ----------
    log_ratio : array (R,), estimates of ln(Z / |Y|)
    errors : array (R,), their standard errors
    """

    def __init__(
        self,
        space: Any,
        scores: np.ndarray,
        n: int,
        *,
        proposals: str | Proposals = "auto",
        rng: int | np.random.Generator | None = None,
        n_jobs: int | None = None,
        start: np.ndarray | None = None,
    ) -> None:
        self.rng = np.random.default_rng(rng)
        self.each = draws_of_a_batch(n)
        self.shape = len(scores), BATCHES, self.each
        row = np.repeat(np.arange(len(scores)), BATCHES * self.each)
        self.chains = Chains(
            space, scores, row, beta=0.0, proposals=proposals, start=start, rng=self.rng,
            n_jobs=n_jobs,
        )  # fmt: skip
        self.levels: list[np.ndarray] = []  # ln of the mean weights of batches (R, B)

    def anneal(self, n_sweeps: int) -> None:
        """Bring all rows to their distributions, with so many sweeps at each level."""
        beta = np.zeros(self.shape[0])
        while (beta < 1).any():
            f = self.chains.values().reshape(len(beta), -1)
            step = _steps(f, 1.0 - beta)
            beta = np.where(step >= 1.0 - beta, 1.0, beta + step)
            self._weigh((step[:, None] * f).reshape(self.shape))
            self.chains.beta[:] = np.repeat(beta, BATCHES * self.each)
            self.chains.advance(n_sweeps)

    def anneal_evenly(self, n_levels: int, n_sweeps: int, first: int = 0) -> None:
        """The same by levels that are given, from one on, without the walk at the last one."""
        for level in range(first, n_levels):
            if level:
                self.chains.beta[:] = level / n_levels
                self.chains.advance(n_sweeps)
            self._weigh((self.chains.values() / n_levels).reshape(self.shape))

    def _weigh(self, log_weights: np.ndarray) -> None:
        """Keep the mean weights of batches, and draw chains anew by their weights."""
        top = log_weights.max(axis=2, keepdims=True)
        weights = np.exp(log_weights - top)
        total = weights.sum(axis=2)
        self.levels.append(top[..., 0] + np.log(total / self.each))
        # Evenly spaced levels among the running sums, from a random one on; group by group.
        upto = (np.cumsum(weights, axis=2) / total[..., None]).reshape(-1, self.each)
        first = self.rng.random((len(upto), 1))
        group = np.arange(len(upto))[:, None]
        levels = (first + np.arange(self.each)) / self.each + 2.0 * group
        upto[:, -1] = 1.0
        found = np.searchsorted((upto + 2.0 * group).ravel(), levels, "right")
        last = (group + 1) * self.each - 1
        self.chains.states = np.ascontiguousarray(
            self.chains.states[np.minimum(found, last).ravel()]
        )

    @property
    def log_ratio(self) -> np.ndarray:
        """The mean over batches of the products over levels, ln; shape (R,)."""
        return logsumexp(np.sum(self.levels, axis=0), axis=1) - np.log(BATCHES)

    @property
    def errors(self) -> np.ndarray:
        return np.sum(self.levels, axis=0).std(axis=1, ddof=1) / np.sqrt(BATCHES)


def draws_of_a_batch(n: int) -> int:
    """Two at least; all batches together are n draws or a few more."""
    return max(2, -(-n // BATCHES))


def _steps(f: np.ndarray, most: np.ndarray) -> np.ndarray:
    """The largest steps of beta after which half of the chains still count; shape (R,)."""

    def counts(step: np.ndarray) -> Any:
        g = np.exp(step[:, None] * (f - f.max(axis=1, keepdims=True)))
        return g.sum(axis=1) ** 2 / np.einsum("rn,rn->r", g, g)

    enough = f.shape[1] / 2
    low, high = np.zeros_like(most), most.copy()
    done = counts(most) >= enough
    for _ in range(HALVINGS):
        half = (low + high) / 2
        good = counts(half) >= enough
        low, high = np.where(good, half, low), np.where(good, high, half)
    return np.where(done, most, np.maximum(low, SMALLEST_COOLING * most))
