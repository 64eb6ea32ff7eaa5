# SPDX-License-Identifier: BSD-3-Clause
r"""Which left-out rows compare penalties, where a decision is costly.

A search decides every left-out row once for each penalty and kernel. A loss tells by
``decision_seconds`` what one decision takes, and a problem by ``n_targets`` how many numbers a
left-out row is. Where all of them would take too long, or too much memory, the search has two
stages: all trials are compared by some of the rows, as many as there is time for, and then the
best few by more of them. Rows are taken evenly, the same ones for every trial.
"""

from typing import Any

import numpy as np

from skstruct.smoothing import Penalties

SECONDS = 10.0  # of decisions in one stage, nominally
LEFT_OUT_BYTES = 2**27  # of left-out means of one trial
FEWEST = 300  # rows that tell penalties apart
FINALISTS = 3  # trials of the second stage


def judging_rows(problem: Any, n_rows: int, n_trials: int) -> np.ndarray | None:
    """Positions of the rows that compare so many trials; None for all of ``n_rows``."""
    if not problem.rows_stand_alone:
        return None
    of_row = problem.decision_seconds() * max(n_trials, 1)
    most = SECONDS / of_row if of_row > 0 else np.inf
    if not problem.by_weights:
        most = min(most, LEFT_OUT_BYTES / (8 * problem.n_targets(compared=True)))
    if n_rows <= max(most, FEWEST):
        return None
    return np.linspace(0, n_rows - 1, max(int(most), FEWEST)).astype(np.int64)


def plan_beside(problem: Any, n_rows: int, n_trials: int) -> dict[str, Any]:
    """What a search takes beside its regressions, for ``plan``: decisions, and the targets."""
    decisions = 0.0
    if n_trials > 1:
        judge = problem.for_search().alone()
        for trials in (n_trials, FINALISTS):
            rows = judging_rows(judge, n_rows, trials)
            decided = n_rows if rows is None else len(rows)
            decisions += decided * trials * judge.decision_seconds()
            if rows is None:  # one stage
                break
    return {"decisions": decisions, "target_bytes": problem.target_bytes()}


class Judgement:
    """Risks of trials, by some left-out rows or by all.

    Parameters
    ----------
    judge : RiskProblem
        Whose loss decides.
    smoother : fitted smoother
        Where its penalties are judged by some rows, these become fewer.
    sample_weight : array of shape (n,) or None
    memory : of decisions
    n_trials : int
    """

    def __init__(
        self, judge: Any, smoother: Any, sample_weight: Any, memory: Any, n_trials: int
    ) -> None:
        self.judge, self.memory = judge, memory
        path = Penalties.of(smoother)
        self.drawn = self.numbers = path.judged
        if self.numbers is not None and not judge.rows_stand_alone:
            path.judge_by(None)
            self.numbers = None
        n = len(judge.outputs) if self.numbers is None else len(self.numbers)
        self.chosen = judging_rows(judge, n, n_trials)
        self.weight, self.by_some = sample_weight, self.chosen is not None
        if self.chosen is not None:
            self.numbers = self.chosen if self.numbers is None else self.numbers[self.chosen]
            if path.judges_some:  # others are not even computed
                path.judge_by(self.numbers)
                self.chosen = None
        if self.weight is not None and self.numbers is not None:
            self.weight = np.asarray(self.weight)[self.numbers]

    @property
    def n_rows(self) -> int:
        """Rows that judge."""
        return len(self.judge.outputs) if self.numbers is None else len(self.numbers)

    def risk(self, left: np.ndarray) -> float:
        """The mean loss of decisions from left-out means."""
        left = left if self.chosen is None else left[self.chosen]
        return self.judge.realized(left, self.memory, self.weight, self.numbers)
