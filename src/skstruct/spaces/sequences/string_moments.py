# SPDX-License-Identifier: BSD-3-Clause
"""Moments of n-gram counts under the uniform distribution.

Strings drawn uniformly within limits are a Markov chain that may stop. With m_t the chances of
the symbols at position t and K_t those of going on, an n-gram a b ... stands at t with chance
m_t(a) K_t(a, b) ..., and its mean count is the sum over positions.
"""

from __future__ import annotations

import numpy as np

from skstruct._arrays.memory import check_square_fits
from skstruct.decoding.chains.counting import ChainCounts


def mean_counts(counts: ChainCounts, order: int) -> np.ndarray:
    """Mean number of each n-gram; shape (q**order,)."""
    total = np.zeros(counts.n_symbols**order)
    if counts.length < order:
        return total
    chance, steps = counts.as_markov_chain()
    for t in range(counts.length - order + 1):
        total += _extended(chance, steps[t : t + order - 1])
        if t + order < counts.length:
            chance = chance @ steps[t]
    return total


def _extended(chance, steps):
    """Chances of the first symbols, one more for every step; flat."""
    for step in steps:
        chance = chance[..., None] * step
    return chance.ravel()


def second_counts(counts: ChainCounts, order: int) -> np.ndarray:
    """Mean of the product of each two counts; shape (q**order, q**order).

    Counts before an n-gram is appended are carried along by state, E[k 1(state)]: appending c
    adds k e' + e k' + e e' to k k', with e the indicator of c.
    """
    q, d = counts.n_symbols, counts.n_symbols**order
    check_square_fits(d, "The second moment", "Shorter n-grams take less.")
    if counts.length < order:
        return np.zeros((d, d))
    if order == 1:
        return _second_of_symbols(counts)
    n_states = d // q
    moment, carried = np.zeros((d, d)), np.zeros((d, n_states))
    first, steps = counts.as_markov_chain()
    state = _extended(first, steps[: order - 2])
    for step in steps[order - 2 :]:
        onward = np.tile(step, (n_states // q, 1))  # by the last symbol of the state
        appended = np.diag((state[:, None] * onward).ravel())
        before = (carried[:, :, None] * onward).reshape(d, d)
        moment += before + before.T + appended
        carried = (before + appended).reshape(d, q, n_states).sum(axis=1)
        state = appended.diagonal().reshape(q, n_states).sum(axis=0)
    return moment


def _second_of_symbols(counts: ChainCounts) -> np.ndarray:
    """The same for single symbols, with the last one as the state; shape (q, q)."""
    state, steps = counts.as_markov_chain()
    moment = carried = np.diag(state)
    for step in steps:
        state = state @ step
        before, appended = carried @ step, np.diag(state)
        moment = moment + before + before.T + appended
        carried = before + appended
    return moment
