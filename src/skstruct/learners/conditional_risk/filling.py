# SPDX-License-Identifier: BSD-3-Clause
"""Targets of outputs that are known in part, by what the known parts say of the others."""

import copy
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from skstruct._arrays.progress import announce
from skstruct.saving import savable
from skstruct.smoothing import LeavingOut, MaskedRidge, Scaled
from skstruct.smoothing.base import group_numbers
from skstruct.smoothing.folds import folds_of_rows, rank_by_content
from skstruct.tolerances import FILLING_RESIDUAL

FOLDS = 5  # of rows that are left out of filling
MOST = 8  # times that targets are filled
SAME = 0.01  # root mean square by which they still change, relative to that of the first filling


@savable
@dataclass
class Filling:
    """How the fixed point of filling was approached."""

    changes: list[float] = field(default_factory=list)  # root mean square of each round
    n_filled: int = 0  # numbers that were filled


def fill_targets(problem: Any, X: Any, sample_weight: Any = None) -> Filling | None:
    r"""Fill what is not known by its means given the inputs *and* the parts that are known.

    .. math:: t_{ij} = E[\psi_j(Y) \mid x_i, \text{known parts of } y_i]

    A known child says that its parents are in, and a parent that is out says it of all below; rows
    in which that is so are no fair sample of the rows in which the parent, or the child, was looked
    at. So they are not just added to these: means are estimated from what was observed, first, and
    then by turns from all rows, filled by the conditional means that follow. Where parts say
    nothing of each other, filling by means changes nothing, and nothing is done.

    Parameters
    ----------
    problem : MaskedProblem
        Its ``filling`` is set.
    X : array or CSR of shape (n, p)

    Returns
    -------
    Filling, or None where nothing was done
    """
    n = len(problem.outputs)
    if problem.fill(np.zeros((n, problem.width + 1))) is None:
        return None
    weight = {} if sample_weight is None else {"sample_weight": sample_weight}
    ridge = Scaled(MaskedRidge(tol=FILLING_RESIDUAL)).fit(X, problem.targets(), **weight)
    found, problem.filled_by = Filling(), ridge
    found.n_filled = int(_gaps(problem).sum())
    _by_turns(problem, X, ridge, found)
    announce(f"{found.n_filled:,} unknown parts filled in {len(found.changes)} rounds")
    return found


def _gaps(problem: Any) -> Any:
    return ~problem.observed & problem.partial.known.any(axis=1)[:, None]


def _by_turns(problem: Any, X: Any, ridge: Any, found: Filling) -> Any:
    """Fill targets and estimate means, by turns; the last of these estimates."""
    last, gaps = problem.mean_targets(np.ones(len(problem.outputs)))[:, :-1], _gaps(problem)
    for _ in range(MOST):
        problem.filling = problem.fill(ridge.predict(X))
        moved = (problem.filling - last)[gaps]
        found.changes.append(float(np.sqrt(np.mean(moved**2))) if moved.size else 0.0)
        if found.changes[-1] <= SAME * found.changes[0]:
            break
        last = problem.filling
        ridge = ridge.with_targets(problem.targets())
    return ridge


def left_out_of_filled(problem: Any, X: Any, smoother: Any, groups: Any, rows: Any = None) -> Any:
    """Left-out means, where labels of a row had no part in what others were filled by, either.

    Targets of other rows were filled by means that a row's own labels were learned for: left out
    of the last regression alone, it would still be predicted too well. So rows are left out of the
    filling, too, a few folds of them at a time.

    Parameters
    ----------
    problem : MaskedProblem whose targets are filled
    smoother : fitted smoother of these
    groups : of rows that are left out together, or None
    rows : numbers of the rows that are left out; None for all
    """
    n = len(problem.outputs)
    rows = np.arange(n) if rows is None else rows
    number = group_numbers(groups, n, None)
    fold = folds_of_rows(rows, number, FOLDS, rank_by_content(X, np.zeros((n, 1))))
    left = np.empty((len(rows), problem.width + 1))
    for k in range(fold.max() + 1):
        inside = np.zeros(n, bool)
        inside[rows[fold == k]] = True
        others, whole = problem.unknown_in(inside), copy.copy(problem)
        ridge = problem.filled_by.with_targets(others.targets())
        whole.filling = problem.fill(_by_turns(others, X, ridge, Filling()).predict(X))
        refitted = smoother.with_targets(whole.targets())
        left[fold == k] = LeavingOut.of(refitted).means(groups, rows[fold == k])
    return left
