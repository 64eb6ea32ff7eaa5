# SPDX-License-Identifier: BSD-3-Clause
r"""Exact and independent draws at the levels of annealing.

Between the uniform distribution and :math:`\exp f` lie :math:`\pi_\beta \propto \exp \beta f`. A
uniform draw z is kept as one of :math:`\pi_\beta` with probability
:math:`e^{\beta (f(z) - f_{ub})}`, which takes :math:`|\mathcal Y| e^{\beta f_{ub}} / Z(\beta)`
trials on average. The levels before have told :math:`Z(\beta) / |\mathcal Y|`, so that it is known
in advance whether that can be paid for. Where outputs have an order, coupling from the past draws
exactly at any level.
"""

import math
from typing import Any

import numpy as np

from skstruct.exceptions import SamplingError
from skstruct.sampling.chains import uniform_draws, value_range
from skstruct.sampling.coupling import (
    coupling_from_the_past,
    ordered_distributions,
    why_unordered,
)
from skstruct.sampling.rejection import Accepted

FEW_TRIALS = 8.0  # a draw of rejection costs less than a coupled one up to here
MOST_TRIALS = 10**8  # uniform draws of a row: a minute or two
LONGEST_LOOK = 20  # doublings: no draw looks back farther than so many


class ExactLevels:
    """Draws of one row of scores at any level, as long as trials last.

    Which way a draw is made changes nothing of its distribution, and neither does what the way
    was chosen by: draws of all levels are independent.

    Parameters
    ----------
    space : fitted space, samplable
    scores : array of shape (1, d)
    max_trials : int
        Uniform draws, or sweeps of coupled chains, for all levels together.
    rng : Generator

    Attributes
    ----------
    n_trials : int
        Those that were made.
    refused : str
        Why the last draws could not be had; empty where they were.
    """

    def __init__(
        self, space: Any, scores: np.ndarray, max_trials: int, rng: np.random.Generator
    ) -> None:
        self.space, self.scores, self.rng = space, scores, rng
        self.max_trials, self.n_trials, self.refused = int(max_trials), 0, ""
        self.bound = float(value_range(space, scores)[1][0])
        self.ordered = not why_unordered(space) and bool(
            (ordered_distributions(space, scores).wrong < 0).all()
        )

    def draw(self, beta: float, n: int, log_ratio: float) -> np.ndarray | None:
        r"""n outputs of :math:`\pi_\beta`; None where that takes too many trials.

        ``log_ratio`` estimates :math:`\ln Z(\beta) / |\mathcal Y|`; trials are foreseen by it.
        """
        self.refused = ""
        if beta == 0:
            self.n_trials += n
            return uniform_draws(self.space, n, self.rng)
        expected = math.exp(min(max(beta * self.bound - log_ratio, 0.0), 700.0))
        try:
            if self.ordered and expected > FEW_TRIALS:
                return self._coupled(beta, n)
            if n * expected <= self.max_trials - self.n_trials:
                return self._accepted(beta, n)
        except SamplingError:  # it took more than was foreseen
            expected = max(expected, (self.max_trials - self.n_trials) / n)
        self.refused = (
            f"Exact draws at level {beta:.3g} of 1 take about {expected:.2g} trials each, for "
            f"{n:,} draws; {max(self.max_trials - self.n_trials, 0):,} of max_trials = "
            f"{self.max_trials:,} are left."
        )
        return None

    def _coupled(self, beta: float, n: int) -> np.ndarray:
        left = (self.max_trials - self.n_trials) / n
        if left < 2:
            raise SamplingError("No trials are left.")
        outputs, info = coupling_from_the_past(
            self.space, beta * self.scores[0], n, self.rng, method="monotone",
            max_doublings=min(int(math.log2(left)), LONGEST_LOOK), return_info=True,
        )  # fmt: skip
        if len(outputs) < n:  # interrupted from the keyboard
            raise KeyboardInterrupt
        self.n_trials += int(info.times.sum())
        return outputs

    def _accepted(self, beta: float, n: int) -> np.ndarray:
        kept = Accepted(self.space, beta * self.scores, beta * self.bound)
        try:
            while kept.n_kept < n:
                kept.draw(self.rng, n, self.max_trials - self.n_trials)
        finally:
            self.n_trials += kept.n_trials
        return np.concatenate(kept.outputs)[:n]
