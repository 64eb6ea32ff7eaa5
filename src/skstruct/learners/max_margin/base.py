# SPDX-License-Identifier: BSD-3-Clause
"""What max-margin learners share: a problem, rows for an optimiser, and the structured hinge,
whose minimization may go on where it stopped.
"""

import math
import pickle
import warnings
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, Self

import joblib
import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from skstruct._arrays.checks import is_count
from skstruct._arrays.memory import parse_memory
from skstruct._arrays.methods import all_or_nothing
from skstruct._arrays.progress import reported, track
from skstruct.learners.base import ScoreLearner
from skstruct.learners.checkpoints.saving import NOWHERE
from skstruct.learners.inputs import plain_kernel
from skstruct.learners.leave_out import LeaveOutSearch
from skstruct.learners.marginals import expecting
from skstruct.learners.max_margin.dual import MOST_BATCH, HingeDual
from skstruct.learners.max_margin.problem import MarginProblem
from skstruct.learners.max_margin.scores import Scores
from skstruct.learners.penalty_path import (
    LOOSER,
    N_FOLDS,
    check_alpha,
    choose_alpha,
    chosen_once,
    is_given,
    split_rows,
    without_copies,
)
from skstruct.learners.scored_marginals import ScoredMarginals
from skstruct.learners.tokens import TokenBatch
from skstruct.losses.base import same_width
from skstruct.spaces import Solving
from skstruct.spaces.constraints import differs_by_row

MOST_PASSES = 50  # of one training along a path of penalties
LOOSEST = 0.1  # gap of such a training, as a share of the objective


class MarginLearner(ScoredMarginals, ScoreLearner):
    """A learner of scores that put the truth ahead of all others by a margin."""

    def _problem(self, X: Any) -> MarginProblem:
        solving = Solving.of(self.space_)
        if isinstance(X, TokenBatch):
            from skstruct.learners.max_margin.problem import ChainMargins

            if not solving.decodes_chains:
                raise ValueError(
                    "X has features for every position of a sequence: the space is Sequences; got "
                    f"{type(self.space_).__name__}."
                )
            return ChainMargins(self.space_, self.loss_, self.outputs_, X.starts)
        relaxed = solving.decodes_relaxed and self.space_.guarantee.kind != "exact"
        return MarginProblem(self.space_, self.loss_, self.outputs_, relaxed=relaxed)

    def _warn_if_approximate(self) -> None:
        """A decoder without a promise cannot be trusted to find the most violating output."""
        problem = self.problem_
        if problem.relaxed or problem.decoder.guarantee.kind == "exact":
            return
        warnings.warn(
            f"{type(problem.decoder).__name__} does not always find the best output: training may "
            "miss outputs that violate a margin. The gap is computed from the decoder's bounds, so "
            "that it still is no smaller than the true one, but it may stay above tol.",
            stacklevel=6,
        )

    def _rows(self, X: Any, weight: np.ndarray | None = None) -> tuple[Scores, Any]:
        """New scores, and the training rows as the optimiser reads them."""
        scores = Scores(
            plain_kernel(self, self.kernel), n_landmarks=self.n_landmarks,
            fit_intercept=self.fit_intercept, random_state=self.random_state,
        )  # fmt: skip
        tokens, starts = X, np.arange(X.shape[0] + 1)
        if isinstance(X, TokenBatch):
            tokens, starts = X.tokens, X.starts
            weight = None if weight is None else weight[X.sequence]
        rows = scores.fit_rows(tokens, starts, weight)
        self.problem_.n_features = 0 if scores.is_linear else rows.X.shape[1]
        return scores, rows


# Learners that minimize a structured hinge, and may go on where they stopped.


@dataclass(frozen=True, eq=False)
class Past:
    """What a learner was trained on, and where training stopped."""

    X: Any  # None for a precomputed kernel, to which no rows can be added
    outputs: np.ndarray
    weight: np.ndarray
    dual: HingeDual | None  # kept where training may go on from it
    key: str | None  # of the objective that the dual belongs to
    completed: bool = False  # whether parts of the outputs were missing


class HingeLearner(MarginLearner):
    """Minimizes a structured hinge to a given duality gap.

    A child has ``alpha``, ``tol`` and ``max_iter`` besides.
    """

    alpha: Any

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_alpha(self.alpha)
        if not self.tol > 0:
            raise ValueError(f"tol is a share of the objective, positive; got {self.tol!r}.")
        if not is_count(self.max_iter):
            raise ValueError(f"max_iter is a whole number from 1; got {self.max_iter!r}.")

    @reported
    @all_or_nothing
    def partial_fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, classes: Any = None
    ) -> Self:
        """Add rows to those of earlier calls, and go on from the dual variables of these.

        All rows are kept, those of ``fit`` too (the array itself: do not change it in between),
        and all are trained on: until the gap is at most ``tol``, or for ``max_iter`` more
        passes. The space, the loss and what the first call learned of them (labels, ranges,
        n-grams) stay as they are, and so does the penalty that the first call has chosen. Outputs
        of all calls, and of ``fit`` before them, are known as a whole.

        Parameters
        ----------
        classes : sequence, default=None
            Of the first call, as scikit-learn has it: all classes that may come, where no space is
            given.
        """
        if self._precomputed:
            raise ValueError("partial_fit needs the inputs themselves, not a precomputed kernel.")
        past = self.__dict__.pop("past_", None)
        if hasattr(self, "scores_") and past is None:
            raise ValueError(
                "partial_fit adds rows to those of earlier calls, which copies and stored models "
                "do not keep: call fit with all rows."
            )
        if past is not None and past.completed:  # completions are no truths
            raise ValueError(
                "partial_fit: parts of the outputs of fit are missing, and are completed anew with "
                "every row: give all rows to fit."
            )
        with expecting(self, classes):
            X, weight = self._begin(X, y, sample_weight, reset=past is None)
        if self._partial is not None:
            raise ValueError(
                "partial_fit takes outputs that are known as a whole: give all rows to fit."
            )
        X = X.copy() if hasattr(X, "copy") else X  # it is the user's, who may change it
        if past is not None:
            X, weight = _stacked(past.X, X), np.concatenate([past.weight, weight])
            self.outputs_ = np.concatenate(same_width(past.outputs, self.outputs_))
        if differs_by_row(self.space_):
            raise ValueError("partial_fit: constraints of single rows cannot be added to.")
        self.problem_ = self._problem(X)
        self.past_ = self._learned(X, weight, past, keep=True)
        return self

    def _learn(self, X: Any, weight: np.ndarray, level: Any) -> None:
        self.past_ = self._learned(X, weight, None, False, level)

    def _learned(
        self, X: Any, weight: np.ndarray, past: Past | None, keep: bool, level: Any = NOWHERE
    ) -> Past:
        """Solve the dual, begun where one of the same objective stopped; what to go on from."""
        self._warn_if_approximate()
        self.scores_, rows = self._rows(X, weight)
        latent = None
        if self._partial is not None:
            from skstruct.learners.max_margin.latent import LatentOutputs

            latent = LatentOutputs(self, rows, weight)
        if past is None or is_given(self.alpha):
            self.alpha_, self.search_ = self._chosen(X, rows, weight, level)
        memory = parse_memory(self.memory)
        dual = self._new_dual(rows, weight / weight.sum(), self.alpha_, memory)
        key = self._objective_key() if keep else None
        if key is not None and past is not None and past.dual is not None and past.key == key:
            dual.take_over(past.dual)
        dual = self._solve(dual, level) if latent is None else latent.solve(dual)
        self.problem_ = self.problem_.trained()
        X = None if self._precomputed else X
        return Past(X, self.outputs_, weight, dual if keep else None, key, latent is not None)

    def __getstate__(self) -> Any:
        """Without rows and dual variables of training: a stored model predicts."""
        state = dict(super().__getstate__())
        state.pop("past_", None)
        return state

    def _new_dual(self, rows: Any, share: np.ndarray, alpha: float, memory: int) -> HingeDual:
        problem = self.problem_
        return HingeDual(rows, problem.n_seeing, problem.n_constants, alpha, share, memory)

    def _chosen(
        self, X: Any, rows: Any, weight: np.ndarray, level: Any
    ) -> tuple[float, LeaveOutSearch | None]:
        """The penalty, and how it was found; a fit that goes on has found it before."""
        X = None if self._precomputed else X
        weight = without_copies(X, self.outputs_, weight)
        path = HingePath(self, rows, weight)

        def choose() -> tuple[float, LeaveOutSearch | None]:
            return choose_alpha(
                self.alpha,
                path,
                lambda: split_rows(self.outputs_, weight, self.random_state, X),
                weight,
                self.verbose,
            )

        return chosen_once(level, choose)

    def _fold_dual(self, rows: Any, share: np.ndarray, alpha: float, learned: np.ndarray) -> Any:
        """A dual of some of the examples, by which a penalty is judged."""
        return self._new_dual(rows, share, alpha, parse_memory(self.memory) // N_FOLDS)

    def _objective_key(self) -> Any:
        """What dual variables belong to, true outputs apart; None where nobody knows."""
        problem = self.problem_
        try:
            return joblib.hash((type(problem), self._rescaling, problem.loss, problem.decoder))
        except (pickle.PicklingError, AttributeError, TypeError):  # functions without a name
            return None

    @property
    def _rescaling(self) -> str:
        return "margin"

    def _solve(self, dual: HingeDual, level: Any) -> HingeDual:
        """Climb, keep the weights, and give the dual back."""
        self._climbed(dual, level)
        self._finish(dual)
        return dual

    def _climbed(self, dual: HingeDual, level: Any = NOWHERE) -> HingeDual:
        """A dual, solved as far as asked for."""
        oracle = self._oracle()
        if not dual.clock or not dual.measure(oracle, self.tol):  # it may have gone on from the end
            passes = track(range(self.max_iter), "training", self.verbose)
            dual.solve(oracle, self.tol, passes, self._seed(), level.below("training"))
        return dual

    @abstractmethod
    def _oracle(self) -> Any:
        """The oracle of the dual."""

    def _finish(self, dual: HingeDual) -> None:
        """Keep what was found, and say so if the gap is still wide."""
        self.scores_.take(dual)
        self.gap_, self.objective_ = dual.gap, dual.objective
        self.dual_objective_, self.n_iter_ = dual.objective - dual.gap, dual.n_iter
        self.history_ = np.array(dual.history)
        if self.gap_ > self.tol * max(self.objective_, 0.0):
            warnings.warn(
                f"{type(self).__name__}: after {dual.n_iter} passes the gap is {dual.gap:.3g}, "
                f"{dual.gap / max(dual.objective, 1e-300):.2%} of the objective and above "
                f"tol={self.tol}. Raise max_iter or alpha, or scale the features.",
                ConvergenceWarning,
                stacklevel=7,
            )


class HingePath:
    """How the learners of a hinge are trained along a path of penalties; rows are examples.

    Parameters
    ----------
    learner : HingeLearner, with a problem
    rows : LinearRows or KernelRows, of all examples
    weight : array of shape (n,)
    """

    def __init__(self, learner: HingeLearner, rows: Any, weight: np.ndarray) -> None:
        self.learner, self.rows, self.weight = learner, rows, weight
        self.problem = learner.problem_

    def scale(self) -> tuple[float, float]:
        r"""The penalty at which weights vanish, and the spread of inputs.

        With the vertices that are best without weights, :math:`(u_m, \ell_m)`, weights are of no
        account where the penalty is above the mean of :math:`|x_m u_m'|^2` over that of the losses.
        """
        oracle, examples = self.learner._oracle(), np.flatnonzero(self.weight)
        constants, losses, squares = np.zeros(self.problem.n_constants), [], []
        norms = _square_norms(self.rows)
        for first in range(0, len(examples), MOST_BATCH):
            part = examples[first : first + MOST_BATCH]
            rows = self.rows.of(part)
            found = oracle(np.zeros((len(rows), self.problem.n_seeing)), constants, part)
            weight = np.repeat(self.weight[part], self.rows.lengths[part])
            squares += [weight * norms[rows] * (found.directions**2).sum(axis=1)]
            squares += [self.weight[part] * (found.constants**2).sum(axis=1)]
            losses += [self.weight[part] * found.losses]
        # Exact sums: training settles ties by last digits, which shall not hang on the rows' order.
        loss, square = (math.fsum(np.concatenate(values)) for values in (losses, squares))
        return square / loss if loss > 0 else 0.0, self.rows.mean_square(self.weight)[1]

    def fit_at(self, alpha: float, rows: np.ndarray, start: Any) -> tuple[Any, Any]:
        """A dual of these examples, solved, and what the next one begins with."""
        learner = self.learner
        if start is None:
            share = self.weight[rows] / self.weight[rows].sum()
            dual = learner._fold_dual(self.rows.subset(rows), share, alpha, rows)
            rng = np.random.default_rng(len(rows))
            start = dual, OracleOf(learner._oracle(), rows), rng
        else:
            start[0].shrink(alpha)
        dual, oracle, rng = start
        passes = range(min(learner.max_iter, MOST_PASSES))
        dual.solve(oracle, min(LOOSER * learner.tol, LOOSEST), passes, rng)
        return (dual, rows), start

    def left_out_losses(self, fitted: Any, rows: np.ndarray) -> np.ndarray:
        """Losses of the outputs of largest score."""
        dual, learned = fitted
        losses = np.empty(len(rows))
        for first in range(0, len(rows), MOST_BATCH):
            part = rows[first : first + MOST_BATCH]
            scores = self.rows.left_out_scores(dual, learned, part)
            outputs = self.problem.outputs_of(scores, dual.constants, part)
            losses[first : first + MOST_BATCH] = self.problem.losses_of(outputs, part)
        return losses

    def constant_risk(self) -> float | None:
        """Of outputs that are known as a whole, one to a row of inputs."""
        return self.problem.constant_risk(self.weight)


class OracleOf:
    """An oracle for some of the examples of another, by their numbers there."""

    def __init__(self, oracle: Any, examples: np.ndarray) -> None:
        self.oracle, self.examples = oracle, examples
        self.remembered = getattr(oracle, "remembered", ())

    def __call__(self, scores: np.ndarray, constants: np.ndarray, examples: np.ndarray) -> Any:
        return self.oracle(scores, constants, self.examples[examples])


def _square_norms(rows: Any) -> Any:
    """Squared norms of all rows; shape (N,)."""
    if rows.kernelised:
        return rows.X.diagonal()
    squares = rows.X.multiply(rows.X) if sparse.issparse(rows.X) else np.square(rows.X)
    return np.asarray(squares.sum(axis=1), dtype=np.float64).ravel()


def _stacked(above: np.ndarray, below: np.ndarray) -> Any:
    """Inputs of two calls below each other."""
    if isinstance(above, TokenBatch):
        starts = np.concatenate([above.starts, above.starts[-1] + below.starts[1:]])
        return TokenBatch(_stacked(above.tokens, below.tokens), starts)
    if sparse.issparse(above) or sparse.issparse(below):
        return sparse.vstack([above, below], format="csr")
    return np.vstack([above, below])
