# SPDX-License-Identifier: BSD-3-Clause
"""What learners share that score outputs: inputs, outputs, weights and decisions."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_consistent_length, check_random_state
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from skstruct._arrays.blocks import parse_memory
from skstruct._arrays.checks import is_count
from skstruct._arrays.progress import announce, reported
from skstruct._arrays.whole import all_or_nothing
from skstruct.learners.base import BlockPredictor
from skstruct.learners.checkpoints.saving import resuming
from skstruct.learners.inputs import read_inputs
from skstruct.learners.token_problem import check_positions
from skstruct.losses import resolve_loss
from skstruct.spaces import Decoded
from skstruct.spaces.inference import infer_space


class ScoreLearner(BlockPredictor):
    """Predicts the output of the largest score; how scores are learned is up to the child.

    A child has the parameters ``kernel``, ``gamma``, ``degree``, ``coef0``, ``n_components``,
    ``fit_intercept``, ``memory``, ``n_jobs``, ``verbose`` and ``random_state``.
    """

    space = loss = None

    # ------------------------------------------------------------------ fitting
    @reported
    @all_or_nothing
    def fit(self, X, y, sample_weight=None, *, checkpoint=None):
        """Learn from inputs ``X`` (n, p) and outputs ``y`` in any form the space reads.

        Parameters
        ----------
        sample_weight : array of shape (n,), default=None
        checkpoint : str, path or Checkpoint, default=None
            File that training is saved to on the way, and goes on from when it was stopped; it is
            removed in the end. See :class:`~skstruct.learners.Checkpoint`.
        """
        X, weight = self._begin(X, y, sample_weight, reset=True)
        data = {"X": X, "y": y, "sample_weight": weight, "warm_start": self._goes_on_from()}
        with resuming(self, checkpoint, **data) as level:
            self._announce()
            self.problem_ = self._problem(X)
            self._learn(X, weight, level)
        return self

    def _announce(self):
        """What will be done, where work is shown."""
        steps = getattr(self, "max_iter", None) or self.n_epochs
        announce(
            f"{type(self).__name__} on {len(self.outputs_):,} rows, {type(self.space_).__name__}, "
            f"{type(self.loss_).__name__}; at most {steps:,} iterations"
        )

    @abstractmethod
    def _learn(self, X, weight, level):
        """Scores from inputs as ``read_inputs`` gives them, and weights of the examples."""

    def _goes_on_from(self):
        """What an earlier fit has left to begin with, where a learner uses that."""
        return None

    def _begin(self, X, y, sample_weight, reset):
        """Inputs and weights of the examples, once everything is read and checked."""
        name = type(self).__name__
        if y is None:
            raise ValueError(f"{name} requires y to be passed, but the target y is None.")
        y = y if hasattr(y, "__len__") else np.asarray(y)
        parse_memory(self.memory)
        self._check_parameters()
        X = read_inputs(self, X, kernel=self.kernel, reset=reset)
        check_consistent_length(X, y)
        if reset:
            self.space_ = self._new_space(y).fit(y)
            self.loss_ = resolve_loss(self.space_.default_loss if self.loss is None else self.loss)
        self.outputs_ = self.space_.validate(y)
        check_positions(X, self.space_, self.outputs_)
        rows = np.empty((X.shape[0], 0))
        return X, _check_sample_weight(sample_weight, rows, ensure_non_negative=True)

    def _new_space(self, y):
        return infer_space(y) if self.space is None else clone(self.space)

    def _check_parameters(self):
        if self.n_components is not None and not is_count(self.n_components):
            raise ValueError(
                f"n_components is a whole number from 1, or None; got {self.n_components!r}."
            )

    @abstractmethod
    def _problem(self, X):
        """How scores of such inputs are turned into decisions."""

    def _seed(self):
        return check_random_state(self.random_state).randint(2**31 - 1)

    # ------------------------------------------------------------------ predicting
    def _prepared(self, restrict=None):
        check_is_fitted(self)
        return self.problem_.restricted(restrict), self.scores_

    def decode(self, X, *, restrict=None) -> Decoded:
        """Predictions with their costs, which are minus their scores, and lower bounds on these.

        Parameters
        ----------
        restrict : dict, default=None
            Arguments of the space's ``restrict``, such as ``{"max_size": 3}``.
        """
        return self._decode(X, *self._prepared(restrict))

    def predict(self, X, *, restrict=None):
        """Outputs of the largest score, in the form in which ``y`` was given."""
        return self.decode(X, restrict=restrict).outputs

    def kbest(self, X, k=3, *, restrict=None) -> Decoded:
        """The ``k`` outputs of largest score for each row.

        ``outputs`` is a list: its entry r holds the outputs of rank r in the form of
        ``predict``. ``values`` and ``bounds`` are (n, k), infinite where a row has fewer.
        """
        return self._kbest(X, k, *self._prepared(restrict))

    def score(self, X, y, sample_weight=None, *, restrict=None):
        """Minus the mean loss of the predictions for ``X``."""
        return self._score(X, y, sample_weight, *self._prepared(restrict))

    @property
    def coef_(self) -> np.ndarray:
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
    def transition_coef_(self) -> np.ndarray:
        """Scores of (symbol before, symbol here) where inputs have a row per position; (q, q)."""
        check_is_fitted(self)
        if self.tokens_ is None:
            raise AttributeError("transition_coef_: only chains have transitions.")
        q = self.problem_.n_seeing
        return self.scores_.constants_.reshape(q, q)
