# SPDX-License-Identifier: BSD-3-Clause
"""How many weights of training rows a decision is made from, by the loss on left-out rows."""

from typing import Any

import numpy as np

from skstruct._arrays.progress import announce
from skstruct.learners.leave_out import LeaveOutSearch, searched_by, stand_in
from skstruct.learners.problem import search_targets_for, targets_for


def choose_weights(
    smoother: Any,
    problem: Any,
    X: Any,
    groups: Any,
    *,
    kernel: Any = None,
    gamma: Any = None,
    sample_weight: Any,
    memory: Any,
) -> tuple[LeaveOutSearch | None, Any]:
    """Fit the smoother with the number of weights, and the penalty, of least left-out loss.

    Of equal ones it is the larger penalty, and under one penalty all weights, or more of them.

    Parameters
    ----------
    smoother : LargestWeights that is not fitted
    problem : RiskProblem
    kernel, gamma : what trials say of it

    Returns
    -------
    LeaveOutSearch or None where there was nothing to choose, fitted LargestWeights
    """
    judge = searched_by(problem).alone()
    opened = smoother.open(X, search_targets_for(smoother, judge), sample_weight)
    weight = np.ones(X.shape[0]) if sample_weight is None else sample_weight
    if opened.is_settled or np.count_nonzero(weight) == 1:
        settled = opened.settled(*opened.first)
        return None, settled.with_targets(targets_for(settled, problem))
    search = LeaveOutSearch()
    search.loss = stand_in(judge, problem)
    announce(f"{X.shape[0]:,} rows; numbers of weights are compared by left-out rows")
    for alpha, number, left in opened.trials(groups):
        risk = judge.realized(left, memory, sample_weight)
        search.add({"kernel": kernel, "gamma": gamma, "alpha": alpha, "n_weights": number,
                    "risk": risk})  # fmt: skip
    best = search.best
    settled = opened.settled(best["alpha"], best["n_weights"])
    return search, settled.with_targets(targets_for(settled, problem))
