# SPDX-License-Identifier: BSD-3-Clause
"""Choosing the penalty by the loss on left-out rows, whose scores come without refitting.

With C the inverse of the second derivative of the objective in all scores together, C_ii its
block of row i, H_i the second derivative of the loss of row i and h_i minus its first at zero,
the scores of row i without row i are

    (I - C_ii H_i)^-1 (f_i - C_ii h_i).

C_ii is that of the part shared by all rows, less what single outputs add.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular

from skstruct._arrays.memory import row_blocks
from skstruct._arrays.methods import warn_caller
from skstruct._arrays.progress import track
from skstruct.learners.checkpoints.saving import NOWHERE
from skstruct.learners.counting_ridge.closed_form import ClosedForms, SpectralForm
from skstruct.learners.counting_ridge.objective import CountingExamples
from skstruct.learners.leave_out import LeaveOutSearch, group_numbers

BLOCK = 1 << 19  # numbers that a block of rows may take at a time
MOST_WORK = 1e10  # operations per penalty up to which single rows are left out in closed form


def can_leave_one_out(examples: CountingExamples) -> bool:
    """Whether leaving out single rows is cheap enough, and possible."""
    (M, d), m = examples.U.shape, len(examples.counts)
    r = len(examples.covariance.eigenvalues)
    per_row = M * M * d + m * m * r + d * d * (d + r)  # a d x d system for each
    return examples.is_convex and m > 1 and 2.0 * m * per_row <= MOST_WORK


def leave_one_out(solution: SpectralForm) -> Any:
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


def _inverse_blocks(solution: SpectralForm, rows: slice) -> Any:
    """C_ii of some rows; shape (b, d, d)."""
    examples, Q = solution.examples, solution.factor.Q
    covariance, (lower, _) = examples.covariance, solution.system
    (M, d), r = examples.U.shape, len(solution.values)
    # Between these rows and all, shape: (b, m, r)
    smooth = np.stack([(Q[rows] * filters) @ Q.T for filters in solution.filters.T], axis=-1)
    b = len(smooth)
    own = smooth[np.arange(b), np.arange(rows.start, rows.stop)]
    shared = covariance.filter(np.tile(np.eye(d), (b, 1)), own.repeat(d, axis=0))
    smoothed = smooth[:, examples.row].reshape(b * M, r)
    across = covariance.filter(np.tile(examples.U, (b, 1)), smoothed).reshape(b, M, d)
    beside = across.transpose(1, 0, 2).reshape(M, b * d)
    Z = solve_triangular(lower, beside, lower=True, check_finite=False).reshape(M, b, d)
    return shared.reshape(b, d, d) - np.matmul(Z.transpose(1, 2, 0), Z.transpose(1, 0, 2))


def _own(examples: CountingExamples, S: np.ndarray, rows: slice) -> tuple[np.ndarray, np.ndarray]:
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
    examples: CountingExamples, gram: Any, groups: Any, lams: Any, first: int = 0
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


# Choosing the penalty of a counting learner by the loss on left-out rows.


N_ALPHAS = 13
N_FOLDS = 5  # where single rows would take too long


def counting_alphas(examples: CountingExamples, gram: Any) -> np.ndarray:
    """Penalties from near zero scores to near none, largest first."""
    top = 0.5 * examples.covariance.eigenvalues.max(initial=0.0) * gram.trace
    return (top if top > 0 else 1.0) * np.logspace(0, -6, N_ALPHAS)


def choose_alpha(
    alphas: np.ndarray, losses: np.ndarray, weight: np.ndarray
) -> tuple[float, LeaveOutSearch]:
    """The penalty of least left-out loss (n_alphas, m), and all trials; ties go to the larger."""
    search = LeaveOutSearch()
    for value, row in zip(alphas.tolist(), losses):
        search.add({"alpha": value, "risk": float(np.average(row, weights=weight))})
    assert search.best is not None
    return search.best["alpha"], search


def check_learned(search: LeaveOutSearch, problem: Any, loss: Any, weight: np.ndarray) -> None:
    """Warn where one output for all rows would have done as well."""
    search.constant = problem.constant_risk(weight, loss)
    if search.no_better:
        warn_caller(
            f"CountingRidge: {search.no_better} Try another kernel, scaled inputs, or another "
            "contrast: 'relaxation', or a larger space."
        )


def left_out_losses(
    alphas: np.ndarray,
    solutions: ClosedForms,
    problem: Any,
    cv: Any,
    groups: Any,
    *,
    memory: str | int,
    verbose: int,
    level: Any = NOWHERE,
) -> np.ndarray:
    """Losses of decisions for left-out rows; shape (n_alphas, m).

    Parameters
    ----------
    alphas : array, largest first
    solutions : ClosedForms
    level : Level
        Where a search that is saved goes on.
    """
    examples, gram = solutions.examples, solutions.gram
    m = len(examples.counts)
    groups = group_numbers(cv, problem.first_outputs, groups)
    if groups is None and not can_leave_one_out(examples):
        groups = np.arange(m) % min(N_FOLDS, m)
    losses: np.ndarray = level.found.get("losses", np.empty((len(alphas), m)))
    first = level.found.get("n_done", 0)
    if groups is None:
        for number in track(range(first, len(alphas)), "alphas", verbose):
            scores = leave_one_out(SpectralForm(examples, solutions.factor, alphas[number]))
            losses[number] = _losses(problem, scores, np.arange(m), memory)
            level.reached(losses=losses, n_done=number + 1)
    else:
        trials = range(first, len(np.unique(groups)) * len(alphas))
        steps = leave_groups_out(examples, gram, groups, alphas, first)
        for trial in track(trials, "alphas", verbose):
            number, rows, scores = next(steps)
            losses[number, rows] = _losses(problem, scores, rows, memory)
            level.reached(losses=losses, n_done=trial + 1)
    return losses


def _losses(problem: Any, scores: np.ndarray, rows: np.ndarray, memory: str | int) -> np.ndarray:
    """Losses of the decisions from left-out scores; shape (len(rows),)."""
    losses = np.empty(len(rows))
    for block in row_blocks(len(rows), problem.bytes_per_row(), memory):
        decided = problem.decide(scores[block], rows[block])
        losses[block] = problem.losses_of(decided, rows[block])
    return losses
