# SPDX-License-Identifier: BSD-3-Clause
"""Laws and Markov chains of a space against the list of all its outputs."""

from __future__ import annotations

import numpy as np
from numpy.testing import assert_allclose
from scipy.special import logsumexp
from scipy.stats import chi2

from skstruct._arrays.distinct import distinct
from skstruct.testing.spaces import _dense
from skstruct.walking.streams import new_streams

LEVEL = 1e-6  # chance that one right sampler fails one test


def check_law(space, scores, *, outputs=None, n_draws=2000, rng=0):
    """Compare ``space.law(scores)`` with sums over the list of all outputs.

    Partition functions and marginals to 1e-9; draws by a chi-square test in every row, which
    a right sampler fails with chance 1e-6.

    Parameters
    ----------
    space : fitted space
    scores : array of shape (n, d)
    outputs : array, default=None
        All outputs in canonical form; ``space.enumerate()`` when None.
    n_draws : int
        Draws of every row; 0 for none.

    Examples
    --------
    >>> from skstruct.spaces import LabelSets
    >>> check_law(LabelSets(["a", "b"]), np.array([[0.5, -1.0]]))
    """
    scores = np.atleast_2d(np.asarray(scores, dtype=np.float64))
    outputs = np.asarray(space.enumerate() if outputs is None else outputs)
    psi = _dense(space.embed(outputs))
    values = scores @ psi.T
    log_partition = logsumexp(values, axis=1)
    chances = np.exp(values - log_partition[:, None])
    law = space.law(scores)
    assert law is not None, f"{type(space).__name__} has no law"
    assert_allclose(law.log_partition, log_partition, rtol=1e-9, atol=1e-9)
    assert_allclose(_dense(law.marginals()), chances @ psi, rtol=1e-9, atol=1e-9)
    if n_draws:
        drawn = law.sample(n_draws, np.random.default_rng(rng))
        assert drawn.shape[:2] == (len(scores), n_draws), f"draws have shape {drawn.shape}"
        for row in range(len(scores)):
            assert_drawn_from(drawn[row], outputs, chances[row])


def check_moves(space, scores, *, outputs=None, n_chains=2000, n_sweeps=40, beta=1.0, rng=0):
    """Compare where chains of ``space.moves()`` are, after so many sweeps, with the law.

    All chains start at the same output, and none knows of another: a chi-square test with
    level 1e-6 in every row. Chains that mix too slowly fail it too: give more sweeps.
    """
    scores = np.atleast_2d(np.ascontiguousarray(scores, dtype=np.float64))
    outputs = np.asarray(space.enumerate() if outputs is None else outputs)
    moves = space.moves()
    assert moves is not None, f"{type(space).__name__} has no moves"
    row = np.repeat(np.arange(len(scores)), n_chains)
    rng = np.random.default_rng(rng)
    first = outputs[np.repeat(rng.integers(len(outputs)), len(row))]
    states, streams = moves.start(first), new_streams(len(row), rng)
    warmth = np.full(len(row), float(beta))
    accepted = moves.walk(states, scores, row, warmth, n_sweeps * moves.sweep, streams)
    assert accepted.shape == row.shape
    assert (accepted <= n_sweeps * moves.sweep).all()
    values = beta * (scores @ _dense(space.embed(outputs)).T)
    chances = np.exp(values - logsumexp(values, axis=1, keepdims=True))
    ended = moves.outputs(states)
    assert space.contains(ended).all(), "moves leave the space"
    for r in range(len(scores)):
        assert_drawn_from(ended[row == r], outputs, chances[r])


def assert_drawn_from(drawn, outputs, chances, level=LEVEL):
    """Chi-square test that draws have these chances; a right sampler fails with chance level.

    Outputs that are expected less than five times are counted together.
    """
    both = np.concatenate([np.asarray(outputs), np.asarray(drawn)])
    number = distinct(both)[1]
    first, found = number[: len(outputs)], number[len(outputs) :]
    assert np.isin(found, first).all(), "a draw is none of the outputs"
    count = np.bincount(found, minlength=number.max() + 1)[first]
    expected = chances * len(drawn)
    rare = expected < 5
    count = np.append(count[~rare], count[rare].sum())
    expected = np.append(expected[~rare], expected[rare].sum())
    count, expected = count[expected > 1e-9], expected[expected > 1e-9]
    statistic = ((count - expected) ** 2 / expected).sum()
    most = chi2.isf(level, max(len(expected) - 1, 1)) + 10.0 * (expected.min() < 5)
    assert statistic <= most, f"chi-square {statistic:.1f} of {len(expected)} outputs"
