# SPDX-License-Identifier: BSD-3-Clause
r"""Margins where parts of outputs are missing: they are completed on the way.

With :math:`S_i` the outputs that agree with what is known of row i, the objective is

.. math:: J(W) = \tfrac\alpha2 \|W\|^2 + \sum_i w_i \Bigl(\max_z \bigl(\ell_i(z)
          + \langle W' x_i, \psi(z) \rangle\bigr) - \max_{h \in S_i} \langle W' x_i, \psi(h)
          \rangle\Bigr),

a difference of convex functions. The concave-convex procedure of Yu and Joachims (2009) takes
turns: (a) complete every output by the h of the largest score, (b) minimise the convex function
that is left. Neither lets J rise. For that the loss must not depend on what is missing: it is the
one expected over all of :math:`S_i` alike, less its least value in :math:`S_i`, which for losses
that add up over parts is the loss of the parts that are known.
"""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from skstruct._arrays.rows import dense
from skstruct.learners.max_margin.dual import MOST_BATCH, HingeDual
from skstruct.learners.partial_outputs import open_rows, some_agreeing
from skstruct.smoothing.systems.masked import conjugate_gradients
from skstruct.spaces import Known
from skstruct.tolerances import TIE

MOST_ROUNDS = 100  # of completing and solving
RIDGE, RIDGE_STEPS = 0.01, 50  # penalty of first means, as a share of a mean square; steps


class LatentOutputs:
    """Outputs of training of which parts are missing, and how they are completed.

    Begins with the completions of least expected loss under conditional means: a ridge regression
    of psi on the inputs, where open rows have the mean of psi over all that they may be.

    Parameters
    ----------
    learner : HingeLearner, with a problem
        Gets the problem and the outputs of the first completions.
    rows : LinearRows or KernelRows
    weight : array of shape (n,)
    """

    def __init__(self, learner: Any, rows: Any, weight: np.ndarray) -> None:
        if learner._rescaling != "margin":
            raise ValueError(
                "Outputs of which parts are missing are completed with rescaling='margin'; got "
                f"{learner._rescaling!r}."
            )
        partial = learner._partial
        self.learner, self.rows, self.open = learner, rows, open_rows(partial)
        self.allowed = Known.of(learner.space_).agreeing(partial)
        with some_agreeing(learner.space_, self.open):
            learner.problem_ = learner.problem_.with_gaps(self.allowed, partial)
        share = np.repeat(weight / weight.sum(), rows.lengths)
        means = ridge_means(rows, learner.problem_.soft_means(), share)
        self._take(self._completed(lambda part: learner.problem_.first_completions(
            self.allowed.rows(part), means[rows.of(part)], part)))  # fmt: skip

    def _take(self, outputs: np.ndarray) -> None:
        learner = self.learner
        learner.outputs_, learner.problem_ = outputs, learner.problem_.completed(outputs)

    def _completed(self, complete: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        """Outputs with other completions of open rows, found in batches."""
        outputs = np.array(self.learner.outputs_)
        for first in range(0, len(self.open), MOST_BATCH):
            part = self.open[first : first + MOST_BATCH]
            with some_agreeing(self.learner.space_, part):
                found = complete(part)
            if found.ndim == 1:
                outputs[part] = found
            else:  # sequences, as wide as the longest of their batch
                outputs[part, : found.shape[1]] = found
        return outputs

    def _best(self, dual: HingeDual) -> np.ndarray:
        """Completions of the largest score."""
        problem = self.learner.problem_
        return self._completed(
            lambda part: problem.best_allowed(
                self.allowed.rows(part), self._scores(dual, part), dual.constants, part
            )
        )

    def _scores(self, dual: HingeDual, part: np.ndarray) -> np.ndarray:
        return self.rows.scores(dual.weights, dual.scores, self.rows.of(part))

    def _own(self, dual: HingeDual, problem: Any) -> np.ndarray:
        """Scores of the outputs of open rows, as they are completed in a problem."""
        parts = range(0, len(self.open), MOST_BATCH)
        batches = [self.open[first : first + MOST_BATCH] for first in parts]
        scores = [problem.own_scores(self._scores(dual, p), dual.constants, p) for p in batches]
        return np.concatenate(scores)

    def solve(self, dual: HingeDual) -> HingeDual:
        """Complete and solve in turns, until no completion changes; ``trace_`` never rises."""
        learner = self.learner
        dual = learner._climbed(dual)
        trace = [dual.objective]
        for _ in range(MOST_ROUNDS):
            changed, fall = self._complete(dual)
            if not len(changed):
                break
            # The same weights with other completions: the convex part stays as it is.
            before, reached = dual, dual.objective - fall
            dual = learner._climbed(before.fork().restart(changed))
            lower = dual.objective - dual.gap
            if not dual.objective < reached:  # by as little as the gap may be
                dual = ended_at(before, reached, lower)
                trace.append(reached)
                break
            trace.append(dual.objective)
        else:
            changed, fall = self._complete(dual)
            dual = ended_at(dual, dual.objective - fall, 0.0)
            trace.append(dual.objective)
            warnings.warn(
                f"{type(learner).__name__}: completions still change after {MOST_ROUNDS} rounds: "
                "raise alpha.", ConvergenceWarning, stacklevel=7,
            )  # fmt: skip
        learner.trace_ = np.array(trace)
        learner._finish(dual)
        return dual

    def _complete(self, dual: HingeDual) -> tuple[np.ndarray, float]:
        """Take better completions: of which rows, and by how much the objective falls."""
        problem, outputs = self.learner.problem_, self._best(dual)
        own = self._own(dual, problem)
        gain = self._own(dual, problem.completed(outputs)) - own
        better = gain > TIE * np.maximum(1.0, np.abs(own))
        changed = self.open[better]
        kept = np.array(self.learner.outputs_)
        kept[changed] = outputs[changed]
        self._take(kept)
        return changed, float(dual.share[changed] @ gain[better])


def ended_at(dual: HingeDual, objective: float, lower: float) -> HingeDual:
    """A dual whose weights have another objective, which is at least ``lower``."""
    dual.objective, dual.gap = objective, max(0.0, objective - lower)
    return dual


def ridge_means(rows: Any, targets: Any, share: np.ndarray) -> np.ndarray:
    """Conditional means of targets (N, d) at their own rows, by ridge regression."""
    X, T = rows.X, dense(targets, np.float64)
    if rows.kernelised:
        penalty = RIDGE * float(np.trace(X))
        return np.asarray(X @ _solved(lambda A: X @ A + penalty * A, T))
    squares = X.multiply(X) if sparse.issparse(X) else np.square(X)
    penalty = RIDGE * float(share @ np.asarray(squares.sum(axis=1)).ravel())
    H = share[:, None]
    solved = _solved(lambda W: X.T @ (H * (X @ W)) + penalty * W, np.asarray(X.T @ (H * T)))
    return np.asarray(X @ solved)


def _solved(product: Callable[[np.ndarray], Any], right: np.ndarray) -> np.ndarray:
    """Solutions of positive definite systems, a column each, by conjugate gradients."""
    one, tol = np.ones_like(right), float(np.sqrt(np.finfo(float).eps))
    start = np.zeros_like(right)
    return conjugate_gradients(product, right, one, tol, RIDGE_STEPS, start)[0]
