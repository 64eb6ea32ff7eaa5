# SPDX-License-Identifier: BSD-3-Clause
"""A space, its distributions and its Markov chains against the list of all its outputs."""

from typing import Any

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.special import logsumexp
from scipy.stats import chi2

from skstruct._arrays.rows import distinct
from skstruct.spaces import Countable, Enumerable, Inference, KBest, Samplable
from skstruct.spaces.solvers.proposals import new_streams
from skstruct.tolerances import CHECK_LEVEL, CHECKED_COST, CHECKED_EXACTLY, EMPTY_CELL


def check_space(
    space: Any, outputs: np.ndarray, *, n_costs: int = 20, n_draws: int = 4000, seed: int = 0
) -> None:
    """Compare what a fitted space declares with the list of all its outputs.

    Values, bounds and guarantee of ``argmin`` (also on costs with ties, zeros and of one
    sign), ``contains``, the round trip ``restore`` and ``validate``, and, where the space
    has them, size, moments, sampler, enumeration and k best outputs.

    Parameters
    ----------
    space : fitted space
    outputs : array
        All its outputs in canonical form, from a source other than the space itself.
    n_draws : int
        Samples drawn. Their mean may be off by five standard errors in each coordinate:
        a right sampler fails with probability below 6e-7 per coordinate.

    Examples
    --------
    >>> from itertools import product
    >>> from skstruct.spaces import LabelSets
    >>> check_space(LabelSets(["a", "b"]), np.array(list(product((0, 1), repeat=2))))
    """
    outputs = np.asarray(outputs)
    rng = np.random.default_rng(seed)
    psi = _dense(space.embed(outputs))
    assert space.contains(outputs).all(), "contains() denies a listed output"
    assert_array_equal(space.validate(space.restore(outputs)), outputs)
    costs = _costs(rng, n_costs, psi.shape[1])
    totals = costs @ psi.T
    _check_argmin(space, costs, totals)
    if isinstance(space, Enumerable):
        listed = np.asarray(space.enumerate())
        assert_array_equal(_sorted(listed), _sorted(outputs))
    if isinstance(space, Countable):
        assert space.size() == len(outputs), f"size() is {space.size()}, not {len(outputs)}"
        assert_allclose(space.log_size(), np.log(len(outputs)), atol=CHECKED_EXACTLY)
        assert_allclose(space.mean_embedding(), psi.mean(axis=0), atol=CHECKED_EXACTLY)
        assert_allclose(space.second_moment(), psi.T @ psi / len(psi), atol=CHECKED_EXACTLY)
    if isinstance(space, Samplable):
        _check_draws(space, psi, n_draws, rng)
    if isinstance(space, KBest):
        _check_kbest(space, costs, totals)


def _check_draws(space: Any, psi: np.ndarray, n_draws: int, rng: np.random.Generator) -> None:
    drawn = space.sample(n_draws, rng)
    assert space.contains(drawn).all(), "sample() leaves the space"
    error = np.abs(_dense(space.embed(drawn)).mean(axis=0) - psi.mean(axis=0))
    assert (error <= 5 * psi.std(axis=0) / np.sqrt(n_draws) + CHECKED_EXACTLY).all()


def _check_argmin(space: Any, costs: np.ndarray, totals: np.ndarray) -> None:
    decoded = space.argmin(costs)
    assert space.contains(decoded.outputs).all(), "argmin() leaves the space"
    found = (costs * _dense(space.embed(decoded.outputs))).sum(axis=1)
    best, worst = totals.min(axis=1), totals.max(axis=1)
    slack = CHECKED_COST * (1 + np.abs(costs).sum(axis=1))
    assert (np.abs(found - decoded.values) <= slack).all(), "values are not the costs of outputs"
    assert (decoded.bounds <= best + slack).all(), "a bound exceeds the optimum"
    assert (decoded.bounds <= decoded.values + slack).all(), "a bound exceeds its value"
    if space.guarantee.kind == "exact":
        assert (decoded.values <= best + slack).all(), "argmin() is not exact"
    if space.guarantee.kind == "ratio":
        assert (worst - found >= space.guarantee.ratio * (worst - best) - slack).all()
    # Memory order and batch do not matter.
    again = space.argmin(np.asfortranarray(costs))
    assert_array_equal(again.outputs, decoded.outputs)


def _check_kbest(space: Any, costs: np.ndarray, totals: np.ndarray, k: int = 4) -> None:
    best = space.kbest(costs, k)
    expected = np.sort(totals, axis=1)[:, :k]
    m = expected.shape[1]
    assert_allclose(best.values[:, :m], expected, atol=CHECKED_COST * (1 + np.abs(costs).max()))
    assert best.values.shape[1] == m, "kbest() found more or fewer outputs than there are"
    for rank in range(m):
        assert space.contains(best.outputs[:, rank]).all(), "kbest() leaves the space"
    for row in best.outputs[:, :m]:
        assert len(np.unique(row.reshape(m, -1), axis=0)) == m, "kbest() repeats an output"


def _costs(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    """Gaussian costs, then rows of ties, zeros, one sign and very different sizes."""
    special = [
        np.zeros(d),
        np.ones(d),
        -np.ones(d),
        rng.integers(-1, 2, d).astype(float),
        rng.standard_normal(d) * 10.0 ** rng.integers(-6, 7, d),
    ]
    return np.vstack([rng.standard_normal((n, d)), special])


def _dense(psi: Any) -> np.ndarray:
    return psi.toarray() if sparse.issparse(psi) else np.asarray(psi)


def _sorted(outputs: np.ndarray) -> np.ndarray:
    rows = outputs.reshape(len(outputs), -1)
    return rows[np.lexsort(rows.T[::-1])]


# Distributions and Markov chains of a space against the list of all its outputs.


def check_distribution(
    space: Any,
    scores: np.ndarray,
    *,
    outputs: np.ndarray | None = None,
    n_draws: int = 2000,
    rng: int = 0,
) -> None:
    """Compare distributions of the space with sums over the list of all outputs.

    Partition functions and marginals to 1e-9; draws by a chi-square test in every row, which
    a right sampler fails with probability 1e-6.

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
    >>> check_distribution(LabelSets(["a", "b"]), np.array([[0.5, -1.0]]))
    """
    scores = np.atleast_2d(np.asarray(scores, dtype=np.float64))
    outputs = np.asarray(space.enumerate() if outputs is None else outputs)
    psi = _dense(space.embed(outputs))
    values = scores @ psi.T
    log_partition = logsumexp(values, axis=1)
    probabilities = np.exp(values - log_partition[:, None])
    distribution = Inference.of(space).distribution(scores)
    assert distribution is not None, f"{type(space).__name__} has no distribution"
    assert_allclose(distribution.log_partition, log_partition, rtol=CHECKED_COST, atol=CHECKED_COST)
    assert_allclose(
        _dense(distribution.marginals()), probabilities @ psi, rtol=CHECKED_COST, atol=CHECKED_COST
    )
    if n_draws:
        drawn = distribution.sample(n_draws, np.random.default_rng(rng))
        assert drawn.shape[:2] == (len(scores), n_draws), f"draws have shape {drawn.shape}"
        for row in range(len(scores)):
            assert_drawn_from(drawn[row], outputs, probabilities[row])


def check_proposals(
    space: Any,
    scores: np.ndarray,
    *,
    outputs: np.ndarray | None = None,
    n_chains: int = 2000,
    n_sweeps: int = 40,
    beta: float = 1.0,
    rng: int = 0,
) -> None:
    """Compare where chains of proposals of the space are, after so many sweeps, with the
    distribution.

    All chains start at the same output, and none knows of another: a chi-square test with
    level 1e-6 in every row. Chains that mix too slowly fail it too: give more sweeps.
    """
    scores = np.atleast_2d(np.ascontiguousarray(scores, dtype=np.float64))
    outputs = np.asarray(space.enumerate() if outputs is None else outputs)
    proposals = Inference.of(space).proposals()
    assert proposals is not None, f"{type(space).__name__} has no moves"
    row = np.repeat(np.arange(len(scores)), n_chains)
    generator = np.random.default_rng(rng)
    first = outputs[np.repeat(generator.integers(len(outputs)), len(row))]
    states, streams = proposals.start(first), new_streams(len(row), generator)
    warmth = np.full(len(row), float(beta))
    accepted = proposals.walk(states, scores, row, warmth, n_sweeps * proposals.sweep, streams)
    assert accepted.shape == row.shape
    assert (accepted <= n_sweeps * proposals.sweep).all()
    values = beta * (scores @ _dense(space.embed(outputs)).T)
    probabilities = np.exp(values - logsumexp(values, axis=1, keepdims=True))
    ended = proposals.outputs(states)
    assert space.contains(ended).all(), "moves leave the space"
    for r in range(len(scores)):
        assert_drawn_from(ended[row == r], outputs, probabilities[r])


def assert_drawn_from(
    drawn: np.ndarray, outputs: np.ndarray, probabilities: np.ndarray, level: float = CHECK_LEVEL
) -> None:
    """Chi-square test that draws have these probabilities; a right sampler fails with probability
    level.

    Outputs that are expected less than five times are counted together.
    """
    both = np.concatenate([np.asarray(outputs), np.asarray(drawn)])
    number = distinct(both)[1]
    first, found = number[: len(outputs)], number[len(outputs) :]
    assert np.isin(found, first).all(), "a draw is none of the outputs"
    count = np.bincount(found, minlength=number.max() + 1)[first]
    expected = probabilities * len(drawn)
    rare = expected < 5
    count = np.append(count[~rare], count[rare].sum())
    expected = np.append(expected[~rare], expected[rare].sum())
    count, expected = count[expected > EMPTY_CELL], expected[expected > EMPTY_CELL]
    statistic = ((count - expected) ** 2 / expected).sum()
    most = chi2.isf(level, max(len(expected) - 1, 1)) + 10.0 * (expected.min() < 5)
    assert statistic <= most, f"chi-square {statistic:.1f} of {len(expected)} outputs"
