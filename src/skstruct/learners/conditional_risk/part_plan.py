# SPDX-License-Identifier: BSD-3-Clause
"""Which parts of a stack there is time for."""

import re
from collections.abc import Iterator
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.base import clone

from skstruct.learners.conditional_risk.parts import FEWEST_TREES, Part, Size, all_parts, ridge_part
from skstruct.smoothing import Learning
from skstruct.smoothing.nystroem.landmarks import EXPLAINED
from skstruct.smoothing.planning import SPECTRAL_ROWS

TIMES = 10.0  # kernel ridge regressions that a fit may take
AT_LEAST, AT_MOST = 20.0, 120.0  # seconds that few rows may take; the last is that of many
FOR_PARTS = 0.7  # of a budget: decisions of left-out rows take the rest
FOR_LANDMARKS = 1 / 3  # of what is left: more landmarks may take
PILOT = 10  # trees that are grown to see how long they take


class PartPlan:
    """The smoothers that there is time for, the most useful first.

    Without a budget they take ten times what one kernel ridge regression does, at least twenty
    seconds and at most two minutes, which those of more than five thousand rows may take in any
    case, by nominal speeds: more rows never get less time, and the same data give the same parts
    everywhere, in less time than that on most machines.
    With one, what was taken is measured, and the next parts are those that fit into what is left.
    What does not fit is made smaller, or gives way to what takes less.

    Parameters
    ----------
    X : array or CSR of shape (n, p)
    targets : array of shape (n, n_targets)
    random_state : of forests
    budget : float, default=None
        Seconds that a fit may take.
    classify : bool, default=True
        Whether parts that are no linear smoothers may be among them.
    n_rows : int, default=None
        Rows in blocks of which X is a sample; then there are landmarks, and forests of the sample.
    """

    def __init__(
        self,
        X: Any,
        targets: np.ndarray,
        random_state: Any = None,
        budget: float | None = None,
        classify: bool = True,
        n_rows: int | None = None,
    ) -> None:
        self.X, self.targets, self.budget = X, targets, budget
        self.size = Size(X, targets, n_rows)
        seed = 0 if random_state is None else random_state
        self.parts = all_parts(self.size, targets, seed, classify)
        self.limit = self._usual_limit() if budget is None else FOR_PARTS * budget
        self.start, self.taken, self.speed = perf_counter(), 0.0, 1.0
        self.n_landmarks: int | None = None  # that turned out to pay

    def _usual_limit(self) -> float:
        first = self.parts[0].seconds
        usual = np.clip(TIMES * first, AT_LEAST, AT_MOST)
        return max(2 * first, float(usual) if self.size.n <= SPECTRAL_ROWS else AT_MOST)

    def __len__(self) -> int:
        return len(self.parts)

    def __str__(self) -> str:
        return "; ".join(part.name for part in self.parts)

    def __iter__(self) -> Iterator[Part]:
        for number, part in enumerate(self.parts):
            others = self.parts[number + 1 :]
            chosen = self._within(part, others, first=number == 0)
            if chosen is not None:
                began = perf_counter()
                yield chosen
                self._took(chosen, perf_counter() - began, first=number == 0)

    @property
    def left(self) -> float:
        """Seconds that are left."""
        taken = self.taken if self.budget is None else perf_counter() - self.start
        return self.limit - taken

    def _took(self, part: Part, seconds: float, first: bool) -> None:
        self.taken += part.seconds
        if first and self.budget is not None and part.seconds > 0:
            self.speed = seconds / part.seconds  # forests are tried before they are grown

    def _within(self, part: Part, others: list[Part], first: bool) -> Part | None:
        """The part, or what there is time for in its place; the first one in any case."""
        if part.n_trees:
            return self._forest_within(part, sum(p.seconds for p in others if not p.n_trees))
        if self.n_landmarks is not None and part.n_landmarks is not None:
            part = replace(self._with_landmarks(part, self.n_landmarks), instead=part)
        while self.speed * part.seconds > self.left:
            if part.instead is None:
                return part if first else None
            part = part.instead
        return part

    def _forest_within(self, part: Part, reserve: float) -> Part | None:
        """As many trees as there is time for, without what others need; None for too few."""
        seconds, left = part.seconds, self.left
        if self.budget is not None and left > 0:
            began = perf_counter()
            clone(part.smoother).set_params(n_estimators=PILOT).fit(self.X, self.targets)
            seconds = (perf_counter() - began) / PILOT * part.n_trees
            left = self.left
        left -= min(self.speed * reserve, left / 2)
        if seconds <= left:
            return replace(part, seconds=seconds)
        n_trees = int(left / seconds * part.n_trees)
        if n_trees < FEWEST_TREES:
            return None
        fewer = clone(part.smoother).set_params(n_estimators=n_trees)
        return replace(part, smoother=fewer, seconds=left, n_trees=n_trees)

    # ------------------------------------------------------------------ more landmarks
    def larger(self, part: Part, residual: float) -> Part | None:
        """The first part with twice as many landmarks, if that can pay and there is time.

        Parameters
        ----------
        part : Part
        residual : float
            Share of the kernel's trace that its landmarks leave.
        """
        if part.name != self.parts[0].name or part.n_landmarks is None or residual <= EXPLAINED:
            return None
        if 2 * part.n_landmarks > self.size.n:
            return None
        larger = self._with_landmarks(part, 2 * part.n_landmarks)
        if self.speed * larger.seconds > FOR_LANDMARKS * self.left:
            return None
        self.taken += larger.seconds
        return larger

    def _with_landmarks(self, part: Part, n_landmarks: int) -> Part:
        ridge = part.smoother
        kernel, scale = Learning.of(ridge).kernel, getattr(ridge, "scale", None)
        return ridge_part(part.name, kernel, self.size, scale, n_landmarks)


def parse_seconds(budget: Any) -> float | None:
    """Seconds of a budget such as "30s", "5min", "2h" or a number of seconds; None for none.

    >>> parse_seconds("30s"), parse_seconds("1.5min"), parse_seconds(20)
    (30.0, 90.0, 20.0)
    """
    if budget is None:
        return None
    units = {"": 1.0, "s": 1.0, "min": 60.0, "m": 60.0, "h": 3600.0}
    found = re.fullmatch(r"\s*([0-9.]+)\s*([a-z]*)\s*", str(budget))
    try:
        seconds = float(found[1]) * units[found[2]] if found else 0.0
    except (KeyError, ValueError):
        seconds = 0.0
    if not seconds > 0:
        raise ValueError(f'budget is a time such as "30s" or "5min"; got {budget!r}.')
    return seconds
