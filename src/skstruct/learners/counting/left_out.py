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

BLOCK = 1 << 19  # numbers that a block of rows may take at a time
MOST_WORK = 1e10  # operations per penalty up to which single rows are left out in closed form


def can_leave_one_out(examples: CountingExamples) -> bool:
    """Whether leaving out single rows is cheap enough, and possible."""
    (M, d), m = examples.U.shape, len(examples.counts)
    r = len(examples.covariance.eigenvalues)
    per_row = M * M * d + m * m * r + d * d * (d + r)  # a d x d system for each
    return examples.is_convex and m > 1 and 2.0 * m * per_row <= MOST_WORK


def leave_one_out(solution: SpectralForm) -> np.ndarray:
    """Scores of every row without it; shape (m, d)."""
    examples, (k, Q) = solution.examples, (solution.factor.k, solution.factor.Q)
    (M, d), m = examples.U.shape, len(examples.counts)
    fitted = Q @ (k[:, None] * (Q.T @ solution.coefficients))
    S = examples.covariance.apply(np.eye(d))
    scores = np.empty_like(fitted)
    step = max(1, BLOCK // ((M + d) * d))
    for start in range(0, m, step):
        rows = slice(start, min(start + step, m))
        H, h = _own(examples, S, rows)
        C = _inverse_blocks(solution, rows)
        right = fitted[rows, :, None] - C @ h[:, :, None]
        scores[rows] = np.linalg.solve(np.eye(d) - C @ H, right)[:, :, 0]
    return scores / examples.root[:, None]


def _inverse_blocks(solution, rows: slice) -> np.ndarray:
    """C_ii of some rows; shape (b, d, d)."""
    examples, Q = solution.examples, solution.factor.Q
    covariance, (lower, _) = examples.covariance, solution.system
    (M, d), r = examples.U.shape, len(solution.values)
    # Between these rows and all, shape: (b, m, r)
    smooth = np.stack([(Q[rows] * filters) @ Q.T for filters in solution.filters.T], axis=-1)
    b = len(smooth)
    own = smooth[np.arange(b), np.arange(rows.start, rows.stop)]
    shared = covariance.filter(np.tile(np.eye(d), (b, 1)), own.repeat(d, axis=0))
    across = smooth[:, examples.row].reshape(b * M, r)
    across = covariance.filter(np.tile(examples.U, (b, 1)), across).reshape(b, M, d)
    beside = across.transpose(1, 0, 2).reshape(M, b * d)
    Z = solve_triangular(lower, beside, lower=True, check_finite=False).reshape(M, b, d)
    return shared.reshape(b, d, d) - np.matmul(Z.transpose(1, 2, 0), Z.transpose(1, 0, 2))


def _own(examples, S, rows: slice):
    """Second derivatives of the losses of some rows (b, d, d), and minus the first at zero."""
    part = examples.batch(rows.start, rows.stop)
    total, share = part.gathered(np.ones(len(part.row))), part.share[:, None, None]
    outer = total[:, :, None] * total[:, None]
    if len(part.row) == len(part.counts):
        squares = outer
    else:
        starts = np.flatnonzero(np.diff(part.row, prepend=-1))
        squares = np.add.reduceat(part.U[:, :, None] * part.U[:, None], starts, axis=0)
    H = S + (1.0 - 2.0 * share) * squares + 2.0 * share / part.counts[:, None, None] * outer
    return H, np.sqrt(part.weight)[:, None] * total


def leave_groups_out(
    examples, gram, groups, lams, first: int = 0
) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
    """For every group and penalty: the number of the penalty, the rows, and their scores.

    The ``first`` so many trials are left off.
    """
    n_groups, n_trials = divmod(first, max(1, len(lams)))
    for group in np.unique(groups)[n_groups:]:
        rows, others = np.flatnonzero(groups == group), np.flatnonzero(groups != group)
        solutions = ClosedForms(examples.subset(others), gram.subset(others))
        begin, n_trials = n_trials, 0
        for number, lam in enumerate(lams[begin:], begin):
            weights = solutions.weights(solutions.at(lam))
            yield number, rows, gram.scores(rows, others, weights)
