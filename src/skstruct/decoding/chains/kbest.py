# SPDX-License-Identifier: BSD-3-Clause
"""The k cheapest chains of symbols of every row."""

from __future__ import annotations

import numpy as np

from skstruct.decoding.chains.viterbi import Chains


def k_best_chains(
    unary, starts, transitions=None, *, k,
    which=None, beginning=None, ending=None, shortest=None, longest=None,
):  # fmt: skip
    """For every row the ``k`` cheapest chains, all different, cheapest first.

    The pass of :func:`~skstruct.decoding.chains.viterbi.best_chains` with a list of k costs
    where that has one; the first of them is its answer. Parameters as there.

    Returns
    -------
    symbols : int array of shape (N, k)
        -1 behind the end of a chain, and where a row has fewer chains.
    values : array of shape (n, k)
        Infinite where a row has fewer; ranks that no row has are left off.

    Examples
    --------
    >>> unary = np.array([[0.0, 1.0], [0.5, 0.0]])
    >>> symbols, values = k_best_chains(unary, [0, 2], k=9)
    >>> symbols.T.tolist(), values.tolist()
    ([[0, 1], [0, 0], [1, 1], [1, 0]], [[0.0, 0.5, 1.0, 1.5]])
    """
    from skstruct.decoding.chains._compiled_kbest import k_best_rows

    q = np.shape(unary)[1]
    if transitions is None:
        transitions = np.zeros((0, q, q))
    chains = Chains.read(
        unary, starts, transitions,
        which=which, beginning=beginning, ending=ending, shortest=shortest, longest=longest,
    )  # fmt: skip
    k = min(k, _most(q, int(chains.longest.max(initial=0)), k))
    symbols = np.full((len(chains.unary), k), -1, np.int64)
    values = np.full((len(chains.longest), k), np.inf)
    k_best_rows(*chains.tables(), symbols, values)
    known = np.isfinite(values).any(axis=0)
    return symbols[:, known], values[:, known]


def _most(q: int, longest: int, enough: int) -> int:
    """Number of chains of up to so many symbols, counted until there are enough."""
    total = size = 1
    for _ in range(longest):
        size *= q
        total += size
        if total >= enough:
            break
    return total
