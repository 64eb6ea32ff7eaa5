# SPDX-License-Identifier: BSD-3-Clause
"""A space against the list of all its outputs."""

from __future__ import annotations

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from skstruct.spaces.base import Countable, Enumerable, KBest, Samplable


def check_space(space, outputs, *, n_costs=20, n_draws=4000, seed=0):
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
        a right sampler fails with chance below 6e-7 per coordinate.

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
    prices = costs @ psi.T
    _check_argmin(space, costs, prices)
    if isinstance(space, Enumerable):
        listed = np.asarray(space.enumerate())
        assert_array_equal(_sorted(listed), _sorted(outputs))
    if isinstance(space, Countable):
        assert space.size() == len(outputs), f"size() is {space.size()}, not {len(outputs)}"
        assert_allclose(space.log_size(), np.log(len(outputs)), atol=1e-12)
        assert_allclose(space.mean_embedding(), psi.mean(axis=0), atol=1e-12)
        assert_allclose(space.second_moment(), psi.T @ psi / len(psi), atol=1e-12)
    if isinstance(space, Samplable):
        drawn = space.sample(n_draws, rng)
        assert space.contains(drawn).all(), "sample() leaves the space"
        error = np.abs(_dense(space.embed(drawn)).mean(axis=0) - psi.mean(axis=0))
        assert (error <= 5 * psi.std(axis=0) / np.sqrt(n_draws) + 1e-12).all()
    if isinstance(space, KBest):
        _check_kbest(space, costs, prices)


def _check_argmin(space, costs, prices):
    decoded = space.argmin(costs)
    assert space.contains(decoded.outputs).all(), "argmin() leaves the space"
    found = (costs * _dense(space.embed(decoded.outputs))).sum(axis=1)
    best, worst = prices.min(axis=1), prices.max(axis=1)
    slack = 1e-9 * (1 + np.abs(costs).sum(axis=1))
    assert (np.abs(found - decoded.values) <= slack).all(), "values are not the prices of outputs"
    assert (decoded.bounds <= best + slack).all(), "a bound exceeds the optimum"
    assert (decoded.bounds <= decoded.values + slack).all(), "a bound exceeds its value"
    if space.guarantee.kind == "exact":
        assert (decoded.values <= best + slack).all(), "argmin() is not exact"
    if space.guarantee.kind == "ratio":
        assert (worst - found >= space.guarantee.ratio * (worst - best) - slack).all()
    # Memory order and batch do not matter.
    again = space.argmin(np.asfortranarray(costs))
    assert_array_equal(again.outputs, decoded.outputs)


def _check_kbest(space, costs, prices, k=4):
    best = space.kbest(costs, k)
    expected = np.sort(prices, axis=1)[:, :k]
    m = expected.shape[1]
    assert_allclose(best.values[:, :m], expected, atol=1e-9 * (1 + np.abs(costs).max()))
    assert best.values.shape[1] == m, "kbest() found more or fewer outputs than there are"
    for rank in range(m):
        assert space.contains(best.outputs[:, rank]).all(), "kbest() leaves the space"
    for row in best.outputs[:, :m]:
        assert len(np.unique(row.reshape(m, -1), axis=0)) == m, "kbest() repeats an output"


def _costs(rng, n, d):
    """Gaussian costs, then rows of ties, zeros, one sign and very different sizes."""
    special = [
        np.zeros(d),
        np.ones(d),
        -np.ones(d),
        rng.integers(-1, 2, d).astype(float),
        rng.standard_normal(d) * 10.0 ** rng.integers(-6, 7, d),
    ]
    return np.vstack([rng.standard_normal((n, d)), special])


def _dense(psi):
    return psi.toarray() if sparse.issparse(psi) else np.asarray(psi)


def _sorted(outputs):
    rows = outputs.reshape(len(outputs), -1)
    return rows[np.lexsort(rows.T[::-1])]
