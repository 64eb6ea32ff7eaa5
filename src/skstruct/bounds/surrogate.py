# SPDX-License-Identifier: BSD-3-Clause
"""The ramp between estimated risk and loss, computed by decoding."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from skstruct._arrays.blocks import row_blocks
from skstruct._arrays.ties import BITS


def mean_surrogates(problem, smoother, rhos, largest: float, memory) -> np.ndarray:
    r"""Mean over the training rows of the ramp loss, for each rho; shape (len(rhos),).

    .. math:: \min\{L, \max_z\, \ell(z, y) + \tfrac1\rho (\min_{z'} R(z'|x) - R(z|x))\}

    The maximum is one decode, with the costs of :math:`R / \rho` minus those of the true
    output. Where a decoder is not exact its bound is taken: never below the true value.
    """
    total = np.zeros(len(rhos))
    m = len(problem.outputs)
    for rows in row_blocks(m, problem.bytes_per_row(), memory):
        means = fitted_means(problem, smoother, rows)
        for k, ramp in enumerate(ramps(problem, means, rows, rhos)):
            total[k] += ramp.clip(0.0, largest).sum()
    return total / m


def ramps(problem, means, rows, rhos):
    """For each rho, the ramp of the training rows ``rows`` before it is cut at L."""
    if decided_from_weights(problem):
        yield from _weight_ramps(problem, means, rows, rhos)
        return
    space, loss = problem.space.rows(rows), problem.loss
    g, weight = problem.mean_embedding(means)
    risk, risk_offset = np.asarray(loss.cost(g, weight)), loss.offset(g, weight)
    psi = _dense(problem.space.targets(problem.outputs[rows]))
    one = np.ones((len(psi), 1))
    true, true_offset = np.asarray(loss.cost(psi, one)), loss.offset(psi, one)
    least = space.argmin(risk.copy()).values + risk_offset
    for rho in rhos:
        lowest = space.argmin(risk / rho - true).bounds + risk_offset / rho - true_offset
        yield least / rho - lowest


def _weight_ramps(problem, weights, rows, rhos):
    """The same for losses without an embedding: weight -1 goes to the row's own output."""
    space, loss, outputs = problem.space.rows(rows), problem.loss, problem.outputs
    own = np.arange(len(outputs))[rows]
    least = loss.minimize(weights, outputs, space).values
    for rho in rhos:
        shifted = weights / rho
        shifted[np.arange(len(own)), own] -= 1.0
        yield least / rho - loss.minimize(shifted, outputs, space).bounds


def decided_from_weights(problem) -> bool:
    """Whether the loss has no embedding and brings a decoder of its own."""
    return hasattr(problem.loss, "minimize") and problem.loss.embedding_on(problem.space) == (
        "weights"
    )


def fitted_means(problem, smoother, rows) -> np.ndarray:
    """What the smoother gives for its own rows: K A = T - alpha A, and no kernel is needed."""
    alpha = float(smoother.alpha)
    if not problem.by_weights:
        targets = smoother.targets_.reshape(len(smoother.targets_), -1)
        return targets[rows] - alpha * smoother.dual_coef_[rows]
    unit = np.eye(len(problem.outputs))[:, rows]
    return (unit - alpha * smoother.system_.solve(unit.copy(order="F"))).T


def rounding_of_risk(problem, t: float) -> float:
    r"""How far the rounding of costs can move the estimated risk of any output at any x.

    The learner rounds costs to multiples of 2**-30 of their row's scale, and that scale is
    an estimate from bounded targets: at most :math:`\tfrac12 \sqrt t` times their size.
    """
    if decided_from_weights(problem) or not problem.space.discrete:
        return 0.0
    psi, cost = problem.space.targets(problem.outputs), 0.0
    size = float(abs(psi).max())
    for rows in row_blocks(len(problem.outputs), 8 * problem.width, "100MB"):
        block = _dense(psi[rows])
        cost = max(cost, float(np.abs(problem.loss.cost(block, np.ones((len(block), 1)))).max()))
    scale = max(cost, problem.unit * max(1.0, size / problem.size))
    return problem.width * max(1.0, size) * 0.5 * np.sqrt(t) * scale * 2.0**-BITS


def _dense(psi) -> np.ndarray:
    return psi.toarray() if sparse.issparse(psi) else np.asarray(psi)
