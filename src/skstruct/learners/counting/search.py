# SPDX-License-Identifier: BSD-3-Clause
"""Choosing the penalty of a counting learner by the loss on left-out rows."""

from __future__ import annotations

import numpy as np

from skstruct._arrays.blocks import row_blocks
from skstruct._arrays.progress import track
from skstruct._arrays.warned import warn_caller
from skstruct.learners.checkpoints.levels import NOWHERE
from skstruct.learners.counting.closed_form import SpectralForm
from skstruct.learners.counting.left_out import (
    can_leave_one_out,
    leave_groups_out,
    leave_one_out,
)
from skstruct.learners.leave_out import LeaveOutSearch, given_alphas, group_numbers
from skstruct.losses import pair

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
        raise ValueError(f'alpha is a positive number, several, or "auto"; got {alpha!r}.')
    return given_alphas(alpha)


def choose_alpha(alphas, losses, weight):
    """The penalty of least left-out loss (n_alphas, m), and all trials; ties go to the larger."""
    search = LeaveOutSearch()
    for value, row in zip(alphas.tolist(), losses):
        search.add({"alpha": value, "risk": float(np.average(row, weights=weight))})
    assert search.best is not None
    return search.best["alpha"], search


def check_learned(search, problem, loss, weight) -> None:
    """Warn where one output for all rows would have done as well."""
    constant = _constant_risk(problem, loss, weight)
    if search.best["risk"] >= constant:
        warn_caller(
            f"CountingRidge: the loss on left-out rows, {search.best['risk']:.4g}, is no better "
            f"than {constant:.4g}, that of one output for all rows. Try another kernel, scaled "
            "inputs, or another contrast: 'relaxation', or a larger space.",
        )


def _constant_risk(problem, loss, weight) -> float:
    """Mean loss of the output that is best for all examples together."""
    space, loss = pair(loss, problem.scored, problem.outputs)
    of_output = (weight / np.bincount(problem.row))[problem.row]
    g = np.atleast_2d(of_output @ space.targets(problem.outputs)) / weight.sum()
    decided = space.argmin(np.ascontiguousarray(loss.cost(g, np.ones((1, 1))))).outputs
    m = len(weight)
    losses = problem.losses_of(np.repeat(decided, m, axis=0), np.arange(m))
    return float(np.average(losses, weights=weight))


def left_out_losses(
    alphas, solutions, problem, leave_out, groups, *, memory, verbose, level=NOWHERE
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
    groups = group_numbers(leave_out, problem.first_outputs, groups)
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


def _losses(problem, scores, rows, memory) -> np.ndarray:
    """Losses of the decisions from left-out scores; shape (len(rows),)."""
    losses = np.empty(len(rows))
    for block in row_blocks(len(rows), problem.bytes_per_row(), memory):
        decided = problem.decide(scores[block], rows[block])
        losses[block] = problem.losses_of(decided, rows[block])
    return losses
