# SPDX-License-Identifier: BSD-3-Clause
"""What an exponential family says once it is trained."""

import copy
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_consistent_length
from sklearn.utils.validation import check_is_fitted

from skstruct._arrays.checks import is_count
from skstruct._arrays.memory import row_blocks
from skstruct.exceptions import InfeasibleError
from skstruct.learners.base import ScoreLearner
from skstruct.learners.marginals import asked_parts, named_marginals, warn_of_open_pairs
from skstruct.losses import resolve_loss
from skstruct.sampling import LogPartition
from skstruct.saving import check_floats, savable
from skstruct.spaces import Decoded, Marginals


@savable
@dataclass(frozen=True, eq=False)
class LinearScores:
    """Scores that are linear in features; shape (n, d)."""

    features: Any
    weights_: np.ndarray  # (p, d)
    constants_: np.ndarray | None = None  # (q q,) of transitions

    def _check_saved(self) -> None:
        check_floats(self, ["weights_"], 2)

    @property
    def is_linear(self) -> Any:
        return self.features.is_linear

    @property
    def fit_intercept(self) -> Any:
        return self.features.fit_intercept

    def predict(self, X: Any) -> np.ndarray:
        return self.features.scores(X, self.weights_)


class ExponentialPredictor(ScoreLearner):
    """Decisions, probabilities and draws from ``scores_`` and ``problem_``."""

    def _take(self, weights: np.ndarray, transitions: np.ndarray | None = None) -> None:
        constants = None if transitions is None else transitions.ravel()
        self.scores_ = LinearScores(self.features_map_, weights, constants)

    @abstractmethod
    def _distributions(self) -> Any:
        """How partition functions, means and draws come about."""

    def _prepared(
        self, loss: Any = None, restrict: dict[str, Any] | None = None
    ) -> tuple[Any, Any]:
        check_is_fitted(self)
        self._check_parameters()
        problem = self.problem_ if loss is None else self.problem_.judged_by(resolve_loss(loss))
        problem = copy.copy(problem.restricted(restrict))
        problem.distributions = self._distributions()  # by the parameters as they are now
        return problem, self.scores_

    # ------------------------------------------------------------------ decisions
    def decode(
        self, X: Any, *, loss: Any = None, restrict: dict[str, Any] | None = None
    ) -> Decoded:
        """Predictions with their values and lower bounds on these.

        Values are expected losses where there is a loss other than zero-one, else minus the
        scores.

        Parameters
        ----------
        loss : str or loss, default=None
            What to minimise the expected value of, in place of what the constructor says;
            ``"zero_one"`` for the most probable output.
        restrict : dict, default=None
            Arguments of the space's ``restrict``, such as ``{"include": ["sun"]}``: what is
            known of the output. Probabilities are those given that.
        """
        return self._decode(X, *self._prepared(loss, restrict))

    def predict(self, X: Any, *, loss: Any = None, restrict: dict[str, Any] | None = None) -> Any:
        """Outputs of the largest probability, or of the least expected loss."""
        return self.decode(X, loss=loss, restrict=restrict).outputs

    def kbest(
        self, X: Any, k: int = 3, *, loss: Any = None, restrict: dict[str, Any] | None = None
    ) -> Decoded:
        """The ``k`` best outputs for each row.

        ``outputs`` is a list: its entry r holds the outputs of rank r in the form of
        ``predict``. ``values`` and ``bounds`` are (n, k), infinite where a row has fewer.
        """
        return self._kbest(X, k, *self._prepared(loss, restrict))

    def score(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        loss: Any = None,
        restrict: dict[str, Any] | None = None,
        known: Any = None,
    ) -> float:
        """Minus the mean loss of the predictions for ``X``, on what is known of ``y``.

        Parameters
        ----------
        known : bool array of the shape of y, default=None
            Which parts of the outputs are known, where y does not say so itself. Rows of which
            nothing is known are left out.
        """
        return self._score(X, y, sample_weight, *self._prepared(loss, restrict), known)

    # ------------------------------------------------------------------ probabilities
    def _answers(
        self, X: Any, restrict: dict[str, Any] | None, answer: Callable[..., Any]
    ) -> list[Any]:
        """What ``answer(problem, scores, rows)`` says of every block of rows."""
        problem, scores = self._prepared(None, restrict)
        self._check_constraints(problem, X.shape[0])
        answers = []
        for rows in row_blocks(X.shape[0], problem.bytes_per_row(), self.memory):
            try:
                answers.append(answer(problem, problem.smooth(scores, X[rows]), rows))
            except InfeasibleError as error:
                raise error.shifted(rows.start) from None
        return answers

    def predict_marginals(  # type: ignore[override]  # nothing to calibrate
        self,
        X: Any,
        *,
        restrict: dict[str, Any] | None = None,
        parts: str | None = None,
        raw: bool = False,
    ) -> Any:
        """Probabilities of the parts of outputs under the model, exact where its distributions are.

        Parameters
        ----------
        restrict : dict, default=None
            What is known of the outputs, as in ``predict``: probabilities given that.
        parts : str, default=None
            Of rankings ``"pairs"``, which None stands for, or ``"positions"``; others have one
            kind of parts.
        raw : bool, default=False
            Means of psi, E[psi(Y) | x], of shape (n, d), however parts are read off them; so are
            marginals of spaces that tell of no parts.

        Returns
        -------
        marginals : array, DataFrame or list
            Label sets, hierarchies (n, d); classes, levels (n, k); rankings (n, d, d), of item i
            before j or at position j; sequences (n, T, q), or a list of (T, q) where inputs have
            a row per position. A DataFrame with the user's names when X is one, or ``set_output``
            says so.
        """
        check_is_fitted(self)
        space = getattr(self.problem_, "scored", self.space_)  # chains score as they are
        parts = asked_parts(space, parts)
        told = None if raw else parts
        X, index = self._checked(X)
        blocks = self._answers(X, restrict, lambda problem, *block: problem.means_of(*block, told))
        if isinstance(blocks[0], list):  # sequences of tokens
            return named_marginals(self, blocks, space, parts, index)
        if told is None:
            return np.concatenate(blocks)
        space = Marginals.of(space).view(told)
        warn_of_open_pairs(space, self.outputs_)
        blocks = [Marginals.of(space).read(block, told) for block in blocks]
        return named_marginals(self, blocks, space, told, index)

    def partition(self, X: Any, *, restrict: dict[str, Any] | None = None) -> LogPartition:
        """ln Z of every row, with the interval that it lies in and how sure that is."""
        X, _ = self._checked(X)
        parts = self._answers(X, restrict, lambda problem, *block: problem.log_partition(*block))
        return LogPartition.joined(parts)

    def log_proba(
        self, X: Any, y: Any, *, restrict: dict[str, Any] | None = None, return_std: bool = False
    ) -> Any:
        """Logarithms of the probabilities of outputs ``y``, one for each row of ``X``.

        Minus infinity for outputs that the space, or its constraints, do not allow.

        Parameters
        ----------
        return_std : bool, default=False
            Whether to return the standard errors too: 0 where partition functions are exact.

        Returns
        -------
        log_proba : array of shape (n,), or that and the errors
        """
        X, _ = self._checked(X)
        check_consistent_length(X, y)
        outputs = self.space_.validate(y)
        self.problem_.check_truth(X, outputs)
        values, errors = np.empty(len(outputs)), np.empty(len(outputs))

        def answer(problem: Any, scores: Any, rows: slice) -> None:
            partition = problem.log_partition(scores, rows)
            values[rows] = problem.values(scores, outputs[rows], rows) - partition.values
            errors[rows] = partition.errors

        self._answers(X, restrict, answer)
        return (values, errors) if return_std else values

    def sample(
        self,
        X: Any,
        n: int = 1,
        rng: int | np.random.Generator | None = None,
        *,
        restrict: dict[str, Any] | None = None,
    ) -> list[Any]:
        """``n`` outputs of every row, drawn from the model.

        Returns
        -------
        draws : list with an entry for every row of ``X``
            ``n`` outputs, in the format in which ``y`` was given.
        """
        if not is_count(n):
            raise ValueError(f"n is a whole number from 1; got {n!r}.")
        X, _ = self._checked(X)
        stream = np.random.default_rng(rng)
        drawn = self._answers(
            X, restrict, lambda problem, scores, rows: problem.draws(scores, int(n), stream, rows)
        )
        return [self.space_.restore(outputs) for part in drawn for outputs in part]
