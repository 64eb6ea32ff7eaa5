# SPDX-License-Identifier: BSD-3-Clause
"""The best outputs that chains have seen while they grew cold."""

from __future__ import annotations

import numpy as np

from skstruct._arrays.checks import check_costs
from skstruct.sampling.chains import Chains, uniform_draws


def annealed_search(space, costs, betas, n_chains: int, *, moves="auto", rng=None, n_jobs=None):
    """For every row the output of least cost at the start or the end of a sweep of any chain.

    Parameters
    ----------
    space : fitted space, samplable, the same in all rows
    costs : array of shape (n, d)
    betas : array of shape (n_sweeps,)
        Inverse temperatures of the sweeps, of costs whose mean square is one.
    n_chains : int
        Of every row, each begun with a uniform draw.
    moves, rng, n_jobs : see :class:`~skstruct.sampling.Metropolis`

    Returns
    -------
    outputs : array of shape (n, ...)
    """
    rng = np.random.default_rng(rng)
    n, row = len(costs), np.repeat(np.arange(len(costs)), n_chains)
    first = uniform_draws(space, max(len(row), 1), rng)
    width = space.embed(first[:1]).shape[1]
    costs = check_costs(costs, width, used_by=f"SimulatedAnnealing of {type(space).__name__}")
    if not n:
        return first[:0]
    chains = Chains(space, -costs, row, start=first, moves=moves, rng=rng, n_jobs=n_jobs)
    best, best_values = np.array(first), chains.values()
    size = size_of(costs)[row]
    for beta in betas:
        chains.beta[:] = beta / size
        chains.advance()
        values = chains.values()
        better = values > best_values
        if better.any():
            best[better], best_values[better] = chains.outputs[better], values[better]
    winner = np.arange(n) * n_chains + best_values.reshape(n, n_chains).argmax(axis=1)
    return best[winner]


def size_of(costs) -> np.ndarray:
    """Root mean square of the costs that are not zero; 1 where all are; shape (n,)."""
    largest = np.abs(costs).max(axis=1, initial=0.0)
    largest[largest == 0] = 1.0
    scaled = costs / largest[:, None]  # no square overflows
    count = np.maximum((scaled != 0).sum(axis=1), 1)
    size = np.sqrt((scaled**2).sum(axis=1) / count) * largest
    return np.where(size > 0, size, 1.0)


def psi_range(space, n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Bounds of every coordinate of psi by the space's decoder; (1, d) each, (n, d) by row."""
    limits = getattr(space, "limits_", None)
    if getattr(limits, "n_rows", None) is None:
        both = np.vstack([np.eye(d), -np.eye(d)])
        least = np.asarray(space.argmin(both).bounds).reshape(2, 1, d)
    else:
        unit = [np.tile(sign * e, (n, 1)) for sign in (1.0, -1.0) for e in np.eye(d)]
        least = np.stack([space.argmin(costs).bounds for costs in unit], axis=1)
        least = least.reshape(n, 2, d).transpose(1, 0, 2)
    return least[0], -least[1]
