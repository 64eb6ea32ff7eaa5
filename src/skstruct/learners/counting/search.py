# SPDX-License-Identifier: BSD-3-Clause
"""Choosing the penalty of a counting learner by the loss on left-out rows."""

from __future__ import annotations

import numpy as np

from skstruct._arrays.blocks import row_blocks
from skstruct._arrays.progress import track
from skstruct.learners.counting.closed_form import SpectralForm
from skstruct.learners.counting.left_out import (
    can_leave_one_out,
    leave_groups_out,
    leave_one_out,
)
from skstruct.learners.leave_out import LeaveOutSearch, given_alphas, group_numbers

N_ALPHAS = 13
N_FOLDS = 5  # where single rows would take too long


def alpha_grid(alpha, examples, gram) -> np.ndarray:
    """The penalties to try, largest first: those given, or from near zero scores to near none."""
    if isinstance(alpha, str) and alpha == "auto":
        top = 0.5 * examples.covariance.eigenvalues.max(initial=0.0) * gram.trace
        return (top if top > 0 else 1.0) * np.logspace(0, -6, N_ALPHAS)
    return checked_alphas(alpha)


def checked_alphas(alpha) -> np.ndarray:
    """Penalties that were given, largest first."""
    if np.asarray(alpha).dtype.kind not in "fiu":
        raise ValueError(f'alpha is a positive number, several, or "auto"; {alpha!r} came.')
    return given_alphas(alpha)


def choose_alpha(alphas, solutions, problem, leave_out, groups, *, memory, verbose):
    """The penalty of least left-out loss, and all trials; ties go to the larger penalty.

    Parameters
    ----------
    alphas : array, largest first
    solutions : ClosedForms
    """
    examples, gram = solutions.examples, solutions.gram
    m = len(examples.counts)
    groups = group_numbers(leave_out, problem.first_outputs, groups)
    if groups is None and not can_leave_one_out(examples):
        groups = np.arange(m) % min(N_FOLDS, m)
    losses: np.ndarray = np.empty((len(alphas), m))
    if groups is None:
        for number in track(range(len(alphas)), "alphas", verbose):
            scores = leave_one_out(SpectralForm(examples, solutions.factor, alphas[number]))
            losses[number] = _losses(problem, scores, np.arange(m), memory)
    else:
        trials = list(range(len(np.unique(groups)) * len(alphas)))
        steps = leave_groups_out(examples, gram, groups, alphas)
        for _ in track(trials, "alphas", verbose):
            number, rows, scores = next(steps)
            losses[number, rows] = _losses(problem, scores, rows, memory)
    search = LeaveOutSearch()
    for value, row in zip(alphas.tolist(), losses):
        search.add({"alpha": value, "risk": float(np.average(row, weights=examples.weight))})
    assert search.best is not None
    return search.best["alpha"], search


def _losses(problem, scores, rows, memory) -> np.ndarray:
    """Losses of the decisions from left-out scores; shape (len(rows),)."""
    losses = np.empty(len(rows))
    for block in row_blocks(len(rows), problem.bytes_per_row(), memory):
        decided = problem.decide(scores[block], rows[block])
        losses[block] = problem.losses_of(decided, rows[block])
    return losses
