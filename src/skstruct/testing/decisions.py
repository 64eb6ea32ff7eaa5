# SPDX-License-Identifier: BSD-3-Clause
"""Decisions over a space that cannot be listed, against many of its members."""

from __future__ import annotations

import numpy as np

from skstruct.learners.problem import risk_problem


def check_decisions(loss, space, outputs, rivals, *, n_weights=20, gap=None, seed=0):
    """No rival is better than a bound allows, and every value is the risk of its output.

    For weights of any sign, the estimated risk sum_i w_i loss(z, y_i) is minimized over the
    space, and compared with the risk of every rival, from the definition of the loss. Rows
    of weights that are all zero, all on one output, none negative, and none positive are
    among them.

    Parameters
    ----------
    loss : loss
    space : fitted space
    outputs : array
        Training outputs in canonical form.
    rivals : array
        Members of the space: a fine grid, or points that other solvers found.
    gap : float, default=None
        Most that ``values - bounds`` may be, relative to the size of the risks; not asked
        for when None.

    Returns
    -------
    Decoded
        What was decided, for further questions.

    Examples
    --------
    >>> from skstruct.losses import Squared
    >>> from skstruct.spaces import Interval
    >>> y = np.array([[0.0], [1.0], [5.0]])
    >>> decided = check_decisions(
    ...     Squared(), Interval().fit(y), y, np.linspace(0, 5, 101)[:, None], gap=1e-12
    ... )
    """
    outputs, rivals = np.asarray(outputs), np.asarray(rivals)
    assert space.contains(rivals).all(), "a rival is not in the space"
    problem = risk_problem(space, loss, outputs, by_weights=True)
    weights = _weights(np.random.default_rng(seed), n_weights, len(outputs))
    means = weights if problem.by_weights else weights @ problem.targets()
    decided = problem.decode(means)
    assert space.contains(decided.outputs).all(), "a decision leaves the space"
    against = problem.loss.pairwise(decided.outputs, outputs)  # [row, training output]
    risk = (weights * against).sum(axis=1)
    rival_risk = weights @ problem.loss.pairwise(rivals, outputs).T  # [row, rival]
    size = np.maximum(np.abs(rival_risk).max(axis=1), (np.abs(weights) * np.abs(against)).sum(1))
    slack = 1e-9 * np.maximum(size, 1e-3)
    assert (np.abs(decided.values - risk) <= slack).all(), "values are not the risks of outputs"
    assert (decided.bounds <= decided.values + slack).all(), "a bound exceeds its value"
    assert (decided.bounds <= rival_risk.min(axis=1) + slack).all(), "a rival beats a bound"
    if gap is not None:
        off = (decided.values - decided.bounds) / np.maximum(size, np.finfo(float).tiny)
        assert (off <= gap).all(), f"the largest gap is {off.max():.3g}"
    return decided


def _weights(rng, n_rows, n):
    """Signed weights, then rows that decoders stumble over."""
    signed = rng.standard_normal((n_rows, n))
    summing_to_one = signed + (1.0 - signed.sum(axis=1, keepdims=True)) / n
    one = np.eye(n)[rng.integers(n)]
    special = np.vstack([np.zeros(n), one, -one, rng.random(n), -rng.random(n)])
    return np.vstack([signed, summing_to_one, special])
