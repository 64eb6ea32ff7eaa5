# SPDX-License-Identifier: BSD-3-Clause
"""What learners share: explanations, predictions in blocks of rows, inputs, outputs and weights."""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from os import PathLike
from typing import Any, Self

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from sklearn.base import BaseEstimator
from sklearn.utils import check_consistent_length, check_random_state
from sklearn.utils.validation import check_is_fitted

from skstruct._arrays.checks import is_count
from skstruct._arrays.imports import is_pandas
from skstruct._arrays.memory import parse_memory, row_blocks
from skstruct._arrays.methods import all_or_nothing
from skstruct._arrays.progress import announce, reported, track, watching
from skstruct._arrays.rows import dense
from skstruct.backends import backend_for
from skstruct.config import Configured, carried
from skstruct.exceptions import InfeasibleError
from skstruct.fitted import Staged
from skstruct.kernels.inputs import kernel_name
from skstruct.learners.checkpoints.saving import Checkpoint, resuming
from skstruct.learners.inputs import (
    InputReader,
    given_outputs,
    read_inputs,
    row_weights,
    rows_of,
)
from skstruct.learners.marginals import MarginalPredictor, opened_space
from skstruct.learners.partial_outputs import read_outputs
from skstruct.learners.token_problem import check_positions
from skstruct.losses import Observed, PartlyKnown, pair, resolve_loss
from skstruct.spaces import Decoded, SklearnTarget
from skstruct.spaces.base import check_k
from skstruct.spaces.constraints import check_n_rows, constraints_of
from skstruct.spaces.truth import read_truth, told_mean
from skstruct.tolerances import TIE

MANY = 5  # examples, and a tenth of all: a weight that so many have is nobody's own


@dataclass(frozen=True)
class Explanation:
    """Weights of the training examples in the estimated risk of each row.

    The estimated risk of an output z is the sum of w_i loss(z, y_i): an example of
    positive weight pulls the prediction towards its own output, one of negative weight
    pushes it away. A weight that many examples share is that of the mean output, and says nothing
    of any of them: those that have it are neither supporters nor opponents.
    """

    weights: Any  # shape: (n_samples, n_train)
    losses: Any  # shape: (n_samples, n_train); of the prediction against each example
    sample_weight: Any = None  # shape: (n_train,), by which the mean weighs; equal ones when None

    def supporters(self, k: int = 5) -> np.ndarray:
        """Training rows of the largest positive weights; (n_samples, k), -1 beyond the last."""
        W = dense(self.weights)
        pulls = _above(W, np.maximum(self._shared(W), 0.0))
        return _largest(np.where(pulls, W, 0.0), k)

    def opponents(self, k: int = 5) -> np.ndarray:
        """Training rows of the most negative weights; (n_samples, k), -1 beyond the last.

        None has the predicted output, nor any other of loss zero.
        """
        W = dense(self.weights)
        pushes = _above(-W, np.maximum(-self._shared(W), 0.0)) & _above(np.abs(self.losses), 0.0)
        return _largest(np.where(pushes, -W, 0.0), k)

    def _shared(self, W: np.ndarray) -> np.ndarray:
        """The lowest weight that many examples have, by their shares in the mean, and zero where
        there is none; (n_samples, n_train).
        """
        share = np.ones(W.shape[1]) if self.sample_weight is None else self.sample_weight
        each = np.sort(W[:, share > 0] / share[share > 0], axis=1)
        others = max(MANY - 1, each.shape[1] // 10)  # that have the same
        if each.shape[1] <= others:
            return np.zeros((1, 1))
        same = each[:, others:] - each[:, :-others] <= TIE * np.abs(each).max(1, keepdims=True)
        lowest = np.take_along_axis(each, same.argmax(axis=1)[:, None], axis=1)
        return np.asarray(np.where(same.any(axis=1, keepdims=True), lowest, 0.0) * share)


def _above(values: np.ndarray, level: Any) -> np.ndarray:
    """Which entries are above a level by more than rounding; shape of values."""
    size = np.abs(values).max(axis=1, keepdims=True, initial=0.0)
    return np.asarray(values - level > TIE * size)


def _largest(scores: np.ndarray, k: int) -> np.ndarray:
    """Columns of the largest positive entries of each row; (n, k), -1 beyond the last."""
    order = np.argsort(-scores, axis=1, kind="stable")[:, :k]
    return np.where(np.take_along_axis(scores, order, axis=1) > 0, order, -1)


# Prediction in blocks of rows: bounded memory, and threads where they are wanted.


def decide_in_blocks(
    X: Any,
    smooth: Callable[..., Any],
    decide: Callable[..., Any],
    bytes_per_row: int,
    *,
    memory: Any,
    n_jobs: int | None,
    verbose: int,
) -> Decoded:
    """Smooth and decide block by block; the blocks of all threads share the memory budget.

    Parameters
    ----------
    smooth : callable (X) -> means or weights, a row each
    decide : callable (means, rows) -> Decoded
    """
    n_jobs = effective_n_jobs(n_jobs)
    at_once = max(2, n_jobs)  # blocks in memory
    blocks = list(row_blocks(X.shape[0], bytes_per_row, max(1, parse_memory(memory) // at_once)))
    if n_jobs > 1:  # enough blocks for all threads
        blocks = list(row_blocks(X.shape[0], 1, min(blocks[0].stop, -(-X.shape[0] // n_jobs))))

    def decided(rows: slice, means: Any) -> Any:
        try:
            return decide(means, rows)
        except InfeasibleError as error:
            raise error.shifted(rows.start) from None

    def one(rows: slice) -> Any:
        return decided(rows, smooth(rows_of(X, rows)))

    shown = track(blocks, "predicting, blocks of rows", verbose)
    if n_jobs == 1 and len(blocks) > 1:  # smooth one block while the one before is decided
        from skstruct.streaming.pipeline import overlapped

        smoothed = overlapped(shown, lambda rows: (rows, smooth(rows_of(X, rows))), depth=1)
        return _joined([decided(*pair) for pair in smoothed])
    if n_jobs == 1:
        return _joined([one(rows) for rows in shown])
    task = delayed(carried(one))  # here: later blocks are taken up by threads of joblib
    return _joined(Parallel(n_jobs=n_jobs, prefer="threads")(task(rows) for rows in shown))


def _joined(parts: list[Decoded]) -> Decoded:
    if len(parts) == 1:
        return parts[0]
    if parts[0].values.ndim == 2:  # the k best: a block may have fewer ranks than another
        width = max(part.values.shape[1] for part in parts)
        parts = [_padded(part, width) for part in parts]
    widths = {part.outputs.shape[-1] for part in parts if part.outputs.ndim > 1}
    outputs = [part.outputs for part in parts]
    if len(widths) > 1:  # sequences, as wide as the longest of their block
        outputs = [widened(Z, max(widths)) for Z in outputs]
    values, bounds = ([getattr(part, name) for part in parts] for name in ("values", "bounds"))
    return Decoded(*map(np.concatenate, (outputs, values, bounds)))


def widened(Z: np.ndarray, width: int) -> np.ndarray:
    """Sequences padded with -1."""
    missing = [(0, 0)] * (Z.ndim - 1) + [(0, width - Z.shape[-1])]
    return np.pad(Z, missing, constant_values=-1)


def _padded(part: Decoded, width: int) -> Decoded:
    """So many ranks: those that no row of the block has are infinite."""
    missing = width - part.values.shape[1]
    if not missing:
        return part
    last = np.repeat(part.outputs[:, -1:], missing, axis=1)
    infinite = np.full((len(part.values), missing), np.inf)
    return Decoded(
        np.concatenate([part.outputs, last], axis=1),
        np.hstack([part.values, infinite]),
        np.hstack([part.bounds, infinite]),
    )


class BlockPredictor(MarginalPredictor, InputReader, Configured, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Predictions from a fitted ``space_``, in blocks of rows.

    A child has the parameters ``kernel``, ``n_jobs`` and ``verbose``, and asks with a
    problem and a smoother of its targets.
    """

    outputs_: np.ndarray

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self._precomputed
        tags.input_tags.allow_nan = not self._precomputed  # filled and flagged
        tags.target_tags.required = True
        self._tag(tags)
        return tags

    @property
    def _precomputed(self) -> bool:
        return kernel_name(self.kernel) == "precomputed"

    @property
    def observation_space_(self) -> Any:
        """The space that ``y`` is from: that of outputs, unless the loss observes others."""
        return self.space_

    def _checked(self, X: Any) -> tuple[Any, None]:
        """Inputs as the smoother reads them, and the index of their rows, if they have one."""
        check_is_fitted(self)
        index = X.index if is_pandas(X, "DataFrame", "Series") else None
        return read_inputs(self, X), index

    def _check_constraints(self, problem: Any, n: int) -> None:
        """Raise where constraints that differ from row to row are not those of n new rows."""
        constraints = constraints_of(problem.space)
        if getattr(constraints, "of_training", False):
            raise ValueError(
                f"{type(self.space_).__name__}: the constraints differ from row to row, and were "
                "given for training; give those of the new rows: restrict={...}."
            )
        check_n_rows(constraints, n, type(self.space_).__name__)

    def _in_blocks(
        self, X: Any, problem: Any, smoother: Any, decide: Callable[..., Any]
    ) -> Decoded:
        self._check_constraints(problem, X.shape[0])
        budget = {"memory": self.memory, "n_jobs": self.n_jobs, "verbose": self.verbose}
        smooth = partial(problem.smooth, smoother)
        with watching(self.verbose):
            return decide_in_blocks(X, smooth, decide, problem.bytes_per_row(), **budget)

    def _decided(self, X: Any, problem: Any, smoother: Any) -> Decoded:
        """Decisions on the device that smooths, where it can decode, and else on the host."""
        device = getattr(self, "device_", None)
        if device is not None:
            from skstruct.learners.on_device import decide_on_device

            self._check_constraints(problem, X.shape[0])
            decoded = decide_on_device(problem, smoother, X, backend_for(device), self.memory)
            if decoded is not None:
                return decoded
        return self._in_blocks(X, problem, smoother, problem.decode)

    def _decode(self, X: Any, problem: Any, smoother: Any) -> Decoded:
        X, index = self._checked(X)
        decoded = self._decided(X, problem, smoother)
        outputs = self.space_.restore(decoded.outputs, index)
        return Decoded(outputs, decoded.values, decoded.bounds)

    def _kbest(self, X: Any, k: int, problem: Any, smoother: Any) -> Decoded:
        check_k(k, type(self).__name__)
        X, index = self._checked(X)
        best = self._in_blocks(
            X, problem, smoother, lambda means, rows: problem.kbest(means, k, rows)
        )
        ranks = range(best.outputs.shape[1])
        outputs = [self.space_.restore(best.outputs[:, rank], index) for rank in ranks]
        return Decoded(outputs, best.values, best.bounds)

    def _score(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        problem: Any,
        smoother: Any,
        known: Any = None,
        loss: Any = None,
    ) -> float:
        losses = self._losses(X, y, problem, smoother, sample_weight, known, loss)
        return 0.0 - told_mean(losses, sample_weight)

    def _losses(
        self,
        X: Any,
        y: Any,
        problem: Any,
        smoother: Any,
        sample_weight: Any = None,
        known: Any = None,
        loss: Any = None,
    ) -> Any:
        """Losses of the predictions for X on what is known of y; NaN of rows that say nothing.

        Predictions are those of the problem; they may be judged by another ``loss``.
        """
        X, _ = self._checked(X)
        check_consistent_length(X, y, sample_weight)
        judge = problem.loss if loss is None else pair(loss, self.space_, self.outputs_)[1]
        truth = read_truth(Observed.of(judge).space_of(self.space_, problem.space), y, known)
        problem.check_truth(X, truth.outputs)
        return PartlyKnown.of(judge).against(self._decided(X, problem, smoother).outputs, truth)


class ScoreLearner(BlockPredictor):
    """Predicts the output of the largest score; how scores are learned is up to the child.

    A child has the parameters ``kernel``, ``n_landmarks``, ``fit_intercept``, ``max_iter``,
    ``n_jobs``, ``verbose`` and ``random_state``.
    """

    space = loss = None
    loss_: Any
    learns_partial = False  # whether parts of outputs may be missing
    _partial: Any = None  # what is known of the outputs, as long as such are learned from

    # ------------------------------------------------------------------ fitting
    @reported
    @all_or_nothing
    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        known: Any = None,
        checkpoint: str | PathLike[str] | Checkpoint | None = None,
    ) -> Self:
        """Learn from inputs ``X`` (n, p) and outputs ``y`` in any format the space reads.

        A DataFrame may have names, dates and missing cells; what becomes of them is said at
        :class:`~skstruct.encoding.TableEncoder`.

        Parameters
        ----------
        sample_weight : array of shape (n,), default=None
        known : bool array of the shape of y, default=None
            Which parts of the outputs are known; all have to be, unless the learner says that
            parts may be missing.
        checkpoint : str, path or Checkpoint, default=None
            File that training is saved to on the way, and goes on from when it was stopped; it is
            removed in the end. See :class:`~skstruct.learners.Checkpoint`.
        """
        X, weight = self._begin(X, y, sample_weight, reset=True, known=known)
        data = {"X": X, "y": y, "sample_weight": weight, "warm_start": self._goes_on_from()}
        data |= {} if known is None else {"known": known}
        with resuming(self, checkpoint, **data) as level:
            self._announce()
            self.problem_ = self._problem(X)
            self._learn(X, weight, level)
        self.__dict__.pop("_partial", None)
        return self

    def _announce(self) -> None:
        """What will be done, where work is shown."""
        announce(
            f"{type(self).__name__} on {len(self.outputs_):,} rows, {type(self.space_).__name__}, "
            f"{type(self.loss_).__name__}; at most {self.max_iter:,} iterations"
        )

    @abstractmethod
    def _learn(self, X: Any, weight: np.ndarray, level: Any) -> None:
        """Scores from inputs as ``read_inputs`` gives them, and weights of the examples."""

    def _goes_on_from(self) -> dict[str, Any] | None:
        """What an earlier fit has left to begin with, where a learner uses that."""
        return None

    def _begin(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        reset: bool,
        encode: bool = True,
        known: Any = None,
    ) -> tuple[Any, np.ndarray]:
        """Inputs and weights of the examples, once everything is read and checked."""
        y = given_outputs(y, type(self).__name__)
        self.__dict__.pop("temperature_", None)  # of other scores
        self._check_parameters()
        X = self._read_first(X, self.kernel, encode) if reset else read_inputs(self, X)
        check_consistent_length(X, y)
        if reset:
            self.space_ = self._new_space(y)
            self.loss_ = resolve_loss(self.space_.default_loss if self.loss is None else self.loss)
            self.outputs_, partial = read_outputs(self, self.observation_space_, y, known)
            self.__dict__.pop("_partial", None)
            if partial is not None:
                self._partial = partial
        else:
            self.outputs_ = self.observation_space_.validate(y)
        check_positions(X, self.space_, self.outputs_)
        return X, row_weights(sample_weight, X.shape[0])

    def _new_space(self, y: Any) -> Any:
        return opened_space(self, y)

    def _check_parameters(self) -> None:
        if self.n_landmarks is not None and not is_count(self.n_landmarks):
            raise ValueError(
                f"n_landmarks is a whole number from 1, or None; got {self.n_landmarks!r}."
            )

    @abstractmethod
    def _problem(self, X: Any) -> Any:
        """How scores of such inputs are turned into decisions."""

    def _seed(self) -> Any:
        return check_random_state(self.random_state).randint(2**31 - 1)

    # ------------------------------------------------------------------ predicting
    @property
    def observation_space_(self) -> Any:
        """The space that ``y`` is from, as the loss sees it: mostly that of outputs."""
        return Observed.of(self.loss_).space_of(self.space_)

    def _prepared(self, *, restrict: dict[str, Any] | None = None) -> tuple[Any, Any]:
        check_is_fitted(self)
        return self.problem_.restricted(restrict), self.scores_

    def decode(self, X: Any, *, restrict: dict[str, Any] | None = None) -> Decoded:
        """Predictions with their costs, which are minus their scores, and lower bounds on these.

        Parameters
        ----------
        restrict : dict, default=None
            Arguments of the space's ``restrict``, such as ``{"max_size": 3}``.
        """
        return self._decode(X, *self._prepared(restrict=restrict))

    def predict(self, X: Any, *, restrict: dict[str, Any] | None = None) -> Any:
        """Outputs of the largest score, in the format in which ``y`` was given."""
        return self.decode(X, restrict=restrict).outputs

    def kbest(self, X: Any, k: int = 3, *, restrict: dict[str, Any] | None = None) -> Decoded:
        """The ``k`` outputs of largest score for each row.

        ``outputs`` is a list: its entry r holds the outputs of rank r in the form of
        ``predict``. ``values`` and ``bounds`` are (n, k), infinite where a row has fewer.
        """
        return self._kbest(X, k, *self._prepared(restrict=restrict))

    def score(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        known: Any = None,
        restrict: dict[str, Any] | None = None,
    ) -> float:
        """Minus the mean loss of the predictions for ``X``, on what is known of ``y``.

        Parameters
        ----------
        known : bool array of the shape of y, default=None
            Which parts of the outputs are known, where y does not say so itself. Rows of which
            nothing is known are left out.
        """
        return self._score(X, y, sample_weight, *self._prepared(restrict=restrict), known)

    def decision_function(self, X: Any) -> Any:
        """Scores u of the coordinates of psi; shape (n, d), and (n,) of two classes."""
        X, _ = self._checked(X)
        scores = self.problem_.smooth(self.scores_, X)
        if hasattr(scores, "starts"):  # sequences of tokens
            return scores
        return SklearnTarget.of(self.space_).decision_scores(scores)

    @property
    def coef_(self) -> Any:
        """Weights of the features for every coordinate of psi; shape (q, p)."""
        check_is_fitted(self)
        if not self.scores_.is_linear:
            raise AttributeError("coef_: only a linear kernel has weights of the features.")
        weights = self.scores_.weights_
        return (weights[:-1] if self.scores_.fit_intercept else weights).T

    @property
    def intercept_(self) -> np.ndarray:
        """Scores where all features are zero; shape (q,)."""
        check_is_fitted(self)
        if not self.scores_.is_linear:
            raise AttributeError("intercept_: only a linear kernel has one.")
        weights = self.scores_.weights_
        return weights[-1] if self.scores_.fit_intercept else np.zeros(weights.shape[1])

    @property
    def transition_coef_(self) -> Any:
        """Scores of (symbol before, symbol here) where inputs have a row per position; (q, q)."""
        check_is_fitted(self)
        if self.tokens_ is None:
            raise AttributeError("transition_coef_: only chains have transitions.")
        q = self.problem_.n_seeing
        return self.scores_.constants_.reshape(q, q)


Staged.at(BlockPredictor, "skstruct.learners.prediction_streams:StagedPredictor")
