# SPDX-License-Identifier: BSD-3-Clause
r"""Scores of training rows by models that have not seen them.

With C the inverse of the second derivative of the objective in all scores together, C_ii its
block of row i, H_i the second derivative of the loss of row i and h_i minus its first at zero,
the scores of row i without row i are

    (I - C_ii H_i)^-1 (f_i - C_ii h_i).

C_ii is that of the part shared by all rows, less what single outputs add.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.linalg import solve_triangular

from skstruct.learners.counting.closed_form import ClosedForms, SpectralForm
from skstruct.learners.counting.examples import CountingExamples

MOST_WORK = 5e10  # operations per penalty up to which single rows are left out in closed form


def can_leave_one_out(examples: CountingExamples) -> bool:
    """Whether leaving out single rows is cheap enough, and possible."""
    (M, d), m = examples.U.shape, len(examples.counts)
    r = len(examples.covariance.eigenvalues)
    per_row = M * M * d + m * m * r + d * d * (d + r)  # a d x d system for each
    return examples.is_convex and m > 1 and 2.0 * m * per_row <= MOST_WORK


def leave_one_out(solution: SpectralForm) -> np.ndarray:
    """Scores of every row without it; shape (m, d)."""
    examples, Q = solution.examples, solution.factor.Q
    covariance, (upper, _) = examples.covariance, solution.system
    fitted = Q @ (solution.factor.k[:, None] * (Q.T @ solution.coefficients))
    identity = np.eye(covariance.d)
    S = covariance.apply(identity)
    scores = np.empty_like(fitted)
    ends = np.searchsorted(examples.row, np.arange(len(fitted) + 1))
    for i, f in enumerate(fitted):
        smooth = (Q * Q[i]) @ solution.filters  # between row i and all, shape: (m, r)
        across = covariance.filter(examples.U, smooth[examples.row])
        Z = solve_triangular(upper, across, trans="T", check_finite=False)
        C = covariance.filter(identity, np.broadcast_to(smooth[i], (covariance.d, smooth.shape[1])))
        C = C - Z.T @ Z
        H, h = _own(examples, S, slice(ends[i], ends[i + 1]), i)
        scores[i] = np.linalg.solve(identity - C @ H, f - C @ h)
    return scores / examples.root[:, None]


def _own(examples, S, held, i):
    """Second derivative of the loss of one row, and minus the first at zero."""
    U, n = examples.U[held], examples.counts[i]
    total = U.sum(axis=0)
    H = S + (1.0 - 2.0 * examples.share[i]) * U.T @ U
    H += 2.0 * examples.share[i] / n * np.outer(total, total)
    return H, np.sqrt(examples.weight[i]) * total


def leave_groups_out(examples, gram, groups, lams) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
    """For every group and penalty: the number of the penalty, the rows, and their scores."""
    for group in np.unique(groups):
        rows, others = np.flatnonzero(groups == group), np.flatnonzero(groups != group)
        solutions = ClosedForms(examples.subset(others), gram.subset(others))
        across = gram.across(rows, others) / gram.root[rows, None]
        for number, lam in enumerate(lams):
            yield number, rows, across @ solutions.at(lam).coefficients
