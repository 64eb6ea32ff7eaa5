# SPDX-License-Identifier: BSD-3-Clause
"""A loss against its own definition."""

from __future__ import annotations

import numpy as np
from numpy.testing import assert_allclose
from scipy import sparse

from skstruct.losses import pair


def check_loss(loss, space, outputs, *, observed=None, n_weights=30, seed=0):
    """Costs and definition agree, and decoding signed weights finds the least risk.

    For weights w of any sign, the estimated risk sum_i w_i loss(z, y_i) is minimized once
    through ``cost`` and ``space.argmin`` and once by trying every output.

    Parameters
    ----------
    loss : loss
    space : fitted space
    outputs : array
        All outputs of the space in canonical form.
    observed : array, default=None
        Training outputs, where these may be of another kind (partial rankings, ratings);
        the outputs themselves when None.

    Examples
    --------
    >>> from skstruct.losses import Hamming
    >>> from skstruct.spaces import LabelSets
    >>> space = LabelSets(["a", "b"])
    >>> check_loss(Hamming(), space, space.enumerate())
    """
    outputs = np.asarray(outputs)
    observed = outputs if observed is None else np.asarray(observed)
    view, loss = pair(loss, space, observed)
    psi, targets = _dense(view.embed(outputs)), _dense(view.targets(observed))
    by_definition = loss.pairwise(outputs, observed)  # [z, y]
    scale = 1 + np.abs(by_definition).max()
    one = np.ones((len(observed), 1))
    by_cost = psi @ loss.cost(targets, one).T + loss.offset(targets, one)
    assert_allclose(by_cost, by_definition, atol=1e-9 * scale)
    low, high = loss.range()
    assert (by_definition >= low - 1e-9 * scale).all(), "losses are below their range()"
    assert (by_definition <= high + 1e-9 * scale).all(), "losses are above their range()"
    both = range(min(len(outputs), len(observed)))
    one_by_one = [loss(outputs[i : i + 1], observed[i : i + 1])[0] for i in both]
    assert_allclose(one_by_one, np.diagonal(by_definition), atol=1e-12 * scale)

    weights = np.random.default_rng(seed).standard_normal((n_weights, len(observed)))
    g, total = weights @ targets, weights.sum(axis=1, keepdims=True)
    decoded, offset = view.argmin(loss.cost(g, total)), loss.offset(g, total)
    risk = weights @ by_definition.T  # [weights, z]
    slack = 1e-8 * (1 + np.abs(risk).max())
    assert (decoded.bounds + offset <= risk.min(axis=1) + slack).all()
    if view.guarantee.kind == "exact":
        assert_allclose(decoded.values + offset, risk.min(axis=1), atol=slack)


def _dense(psi):
    return psi.toarray() if sparse.issparse(psi) else np.asarray(psi)
