# SPDX-License-Identifier: BSD-3-Clause
"""Rows of training, some of which are left out: how a penalty of the likelihood is chosen."""

from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from skstruct._arrays.rows import dense
from skstruct.learners.exponential_family.chain_likelihood import ChainModel
from skstruct.learners.exponential_family.chains import resolve_solver
from skstruct.learners.exponential_family.likelihood import RowModel
from skstruct.learners.exponential_family.marginal_likelihood import (
    PartialChainModel,
    PartialRowModel,
    given_log_likelihoods,
    soft_targets,
)
from skstruct.learners.exponential_family.perturbations import PerturbedSpace
from skstruct.learners.exponential_family.token_likelihood import ChainBlock
from skstruct.learners.partial_outputs import some_agreeing, told_apart
from skstruct.learners.penalty_path import mean_square, rows_of
from skstruct.learners.problem import best_constant
from skstruct.learners.token_problem import ChainScores
from skstruct.learners.tokens import TokenBatch
from skstruct.losses import pair
from skstruct.spaces import Inference, Known, Solving, Targets

LOOSER = 10.0  # times the tolerance of training, along the path
FEW_SEQUENCES, MOST_LEFT_OUT = 200, 2000  # up to so many, five folds; and how many leave at once
MOST_STEPS = 200  # of one training along the path


class TrainingRows:
    """Outputs with one row of features each.

    Parameters
    ----------
    learner : ExponentialFamily, with a problem
    features : array or CSR of shape (n, p)
    share : array of shape (n,)
        Weights of the rows, of sum one.
    """

    splitting: ClassVar[dict[str, int]] = {}  # how rows are left out; see split_rows
    allowed: Any = None  # the space, narrowed to what row i may be, where parts are missing

    def __init__(self, learner: Any, features: Any, share: np.ndarray) -> None:
        self.learner, self.features, self.share = learner, features, share
        self.space, self.outputs = learner.space_, learner.outputs_
        partial = learner._partial
        if partial is not None:
            self.allowed, self.is_open = Known.of(self.space).agreeing(partial), ~partial.complete
            self.split_by = told_apart(partial)
        else:
            self.split_by = self.outputs
        self.free_last = bool(learner.fit_intercept)
        self._prepare()

    def _prepare(self) -> None:
        self.psi = Targets.of(self.space).targets(self.learner.problem_.outputs)
        if self.allowed is not None:
            with some_agreeing(self.space, np.flatnonzero(self.is_open)):
                soft = soft_targets(self.allowed, self.psi, self.is_open)
            if soft is None:
                raise ValueError(missing_sums(self.space))
            self.psi = soft

    def model(self, rows: np.ndarray, alpha: float) -> Any:
        """The penalised likelihood of some rows."""
        share = self._of(rows, self.share)
        given = (
            self._space(rows), self._of(rows, self.features), self._of(rows, self.psi),
            share / share.sum(), alpha, self.learner.memory, self.free_last,
        )  # fmt: skip
        if self.allowed is None:
            return RowModel(*given)
        allowed = self.allowed if len(rows) == len(self.share) else self.allowed.rows(rows)
        return PartialRowModel(*given, allowed=allowed, is_open=self._of(rows, self.is_open))

    def beginning(self, model: Any, settings: dict[str, Any]) -> np.ndarray:
        """Weights to begin with: zeros, or where parts are missing those of soft outputs."""
        theta = np.zeros(model.size)
        if self.allowed is None:
            return theta
        settings = softened(settings)
        return self.learner._solved(model.beginning(), theta, **settings).theta

    def _of(self, rows: np.ndarray, values: Any) -> Any:
        return values if len(rows) == len(self.share) else values[rows]

    def _space(self, rows: np.ndarray) -> Any:
        space = self.space if len(rows) == len(self.share) else self.space.rows(rows)
        name, perturbations = resolve_solver(self.learner.solver)
        if name != "perturbed":
            return space
        return PerturbedSpace(space, perturbations, self.learner.seed_)

    def parts(self, model: Any, theta: np.ndarray) -> tuple[np.ndarray, ...]:
        """Weights of the features (p, d), and of transitions where there are any."""
        return (theta.reshape(model.shape),)

    def scores(self, weights: tuple[np.ndarray, ...], rows: np.ndarray) -> Any:
        """Scores of some rows."""
        return np.ascontiguousarray(self.features[rows] @ weights[0])

    def log_likelihoods(self, scores: Any, rows: np.ndarray) -> Any:
        """Logarithms of the probabilities of the outputs of some rows; shape (n,)."""
        distribution = Inference.of(self.space.rows(rows)).exact(scores)
        if self.allowed is not None:
            given = given_log_likelihoods(self.allowed, self.is_open, self.psi, scores, rows)
            return given - distribution.log_partition
        psi = dense(self.psi[rows], np.float64)
        return np.einsum("nd,nd->n", scores, psi) - distribution.log_partition

    def curvature(self) -> float:
        """The largest variance of a coordinate of psi, over the rows."""
        squares = self.psi.multiply(self.psi) if sparse.issparse(self.psi) else self.psi**2
        mean = np.asarray(self.share @ self.psi).ravel()
        variance = np.asarray(self.share @ squares).ravel() - mean**2
        return float(variance.max(initial=0.0))

    def square(self) -> tuple[float, float]:
        """Mean square of the features that have a penalty, and their spread."""
        X = self._penalised()
        if not X.shape[1]:
            return 0.0, 1.0
        return mean_square(X, self._weights())

    def _penalised(self) -> Any:
        return self.features[:, :-1] if self.free_last else self.features

    def _weights(self) -> np.ndarray:
        return self.share

    @property
    def by_likelihood(self) -> bool:
        """Whether penalties are compared by likelihoods, not by the loss of predictions."""
        if self.allowed is not None:  # no loss is known where the truth is not
            return True
        return self.learner.loss is None and self.learner.solver_ == "exact"

    def usual_penalty(self) -> float | None:
        """A penalty that is good for most data, where one is known."""
        return None


class TrainingSequences(TrainingRows):
    """Sequences with a row of features per position.

    Parameters
    ----------
    learner, features, share : see TrainingRows; the features are those of all positions,
        without the constant
    starts : int array of shape (n + 1,)
    """

    splitting: ClassVar[dict[str, int]] = {"many": FEW_SEQUENCES, "most": MOST_LEFT_OUT}
    by_likelihood = True  # whatever the loss: it falls and rises smoothly, and sees all positions

    def __init__(self, learner: Any, features: Any, starts: np.ndarray, share: np.ndarray) -> None:
        self.starts = starts
        super().__init__(learner, features, share)

    def _prepare(self) -> None:
        self.batch = TokenBatch(self.features, self.starts)
        if self.allowed is not None:
            gaps, q = np.flatnonzero(self.is_open), len(self.space.symbols_)
            starts = np.concatenate([[0], np.cumsum(np.diff(self.starts)[gaps])])
            with some_agreeing(self.space, gaps):
                zeros = np.zeros((starts[-1], q))
                chains = Solving.of(self.allowed.rows(gaps))
                chains.argmin_chains(zeros, starts, np.zeros((1, q, q)))

    def model(self, rows: np.ndarray, alpha: float) -> Any:
        share = np.zeros(len(self.share))  # the others are passed over, so that nothing is copied
        share[rows] = self.share[rows] / self.share[rows].sum()
        batch = self.batch
        given = (
            self.space, batch.tokens, batch.starts, self.outputs, share, alpha, self.free_last
        )  # fmt: skip
        if self.allowed is None:
            return ChainModel(*given)
        return PartialChainModel(*given, allowed=self.allowed, is_open=self.is_open)

    def parts(self, model: Any, theta: np.ndarray) -> Any:
        return model.parts(theta)

    def scores(self, weights: tuple[np.ndarray, ...], rows: np.ndarray) -> Any:
        batch = rows_of(self.batch, rows)
        values = np.asarray(batch.tokens @ (weights[0][:-1] if self.free_last else weights[0]))
        if self.free_last:
            values += weights[0][-1]
        return ChainScores(values, batch.starts, weights[1][None])

    def log_likelihoods(self, scores: Any, rows: np.ndarray) -> Any:
        problem: Any = self.learner.problem_
        outputs = self.outputs[rows]
        values = problem.values(scores, outputs, rows)
        if self.allowed is not None:
            values = self._given_values(values, scores, rows)
        block = ChainBlock(scores.transitions[0])
        if block.plain and self.space.constraints is None:  # by what training has compiled
            symbols, none = outputs[outputs >= 0], np.zeros_like(block.matrix)
            weight = np.ones(len(rows))
            used = scores.values.copy()
            sums, left = block.residuals(used, scores.starts, symbols, weight, none)
            if not left.any():
                return values - sums
        return values - problem.log_partition(scores, rows).values

    def _given_values(self, values: np.ndarray, scores: Any, rows: np.ndarray) -> np.ndarray:
        """Scores of sequences, and ln Z over what is allowed where symbols are missing."""
        gaps = np.flatnonzero(self.is_open[rows])
        if not len(gaps):
            return values
        some = rows_of(TokenBatch(scores.values, scores.starts), gaps)
        chains = Solving.of(self.allowed.rows(rows[gaps]))
        found = chains.distribution_of_chains(some.tokens, some.starts, scores.transitions)
        values[gaps] = found.log_partition
        return values

    def curvature(self) -> float:
        """Of an indicator, at most, times the mean length of a sequence."""
        return 0.25 * float(self.share @ np.diff(self.starts))

    def _penalised(self) -> Any:
        return self.features  # the constant is none of them

    def _weights(self) -> np.ndarray:
        return np.repeat(self.share, np.diff(self.starts))

    def usual_penalty(self) -> float | None:
        """1 / n for indicators, times the variance of other features.

        Then the penalty is a normal distribution of the weights whose variance does not depend on
        the number of sequences: alpha |W|^2 is added to a mean, and n alpha |W|^2 to a sum.
        """
        X = self.features
        entries = X.nnz if sparse.issparse(X) else X.size
        square, spread = self.square()
        variance = square * spread * X.shape[0] / max(entries, 1)
        n = max(1, int(np.count_nonzero(self.share)))
        return (float(variance) if variance > 0 else 1.0) / n


def softened(settings: dict[str, Any]) -> dict[str, Any]:
    """Settings of a training that only leads to another one."""
    tol, steps = LOOSER * settings["tol"], min(settings["max_iter"], MOST_STEPS)
    return {**settings, "tol": tol, "max_iter": steps, "verbose": 0, "warn": False}


def missing_sums(space: Any, solver: str = "auto") -> str:
    """What is said where probabilities of what is known cannot be summed."""
    if solver not in ("auto", "exact"):
        return "Outputs of which parts are missing are summed exactly: solver is 'auto' or 'exact'."
    return (
        f"{type(space).__name__} has no exact sums over the outputs that agree with what is known, "
        "which ExponentialFamily needs where parts of outputs are missing: leave these rows out, "
        "or give them to ConditionalRiskMinimizer."
    )


class LikelihoodPath:
    """How a likelihood is trained along a path of penalties, and what left-out rows say.

    Parameters
    ----------
    learner : ExponentialFamily
    rows : TrainingRows
    """

    def __init__(self, learner: Any, rows: TrainingRows) -> None:
        self.learner, self.rows = learner, rows

    def scale(self) -> tuple[float, float]:
        """Variance of inputs times that of psi: the curvature of the likelihood.

        Without a constant feature the mean square of inputs is in place of their variance.
        """
        square, spread = self.rows.square()
        if self.rows.free_last:
            return square * spread * self.rows.curvature(), 1.0
        return square * self.rows.curvature(), spread

    def fit_at(self, alpha: float, rows: np.ndarray, start: Any) -> tuple[Any, Any]:
        """Weights for some rows, begun with those of a stronger penalty."""
        learner = self.learner
        model = self.rows.model(rows, alpha) if start is None else start[0]
        settings = softened(learner._settings(model))
        if start is None:
            theta = self.rows.beginning(model, settings)
        else:
            theta = start[1]
            model.penalise(alpha)
        theta = learner._solved(model, theta, **settings).theta
        return self.rows.parts(model, theta), (model, theta)

    def left_out_losses(self, fitted: Any, rows: np.ndarray) -> Any:
        """Losses of predictions, or negative log-likelihoods; see ExponentialFamily."""
        scores = self.rows.scores(fitted, rows)
        if self.rows.by_likelihood:
            return -self.rows.log_likelihoods(scores, rows)
        problem = self.learner.problem_
        return problem.loss(problem.decode(scores, rows).outputs, self.rows.outputs[rows])

    def constant_risk(self) -> float | None:
        """Under the loss of predictions; likelihoods have no best output."""
        problem, rows = self.learner.problem_, self.rows
        if rows.by_likelihood:
            return None
        view, loss = pair(problem.asked, problem.scored, rows.outputs)
        return best_constant(view, loss, rows.outputs, rows.share)
