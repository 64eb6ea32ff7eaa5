# SPDX-License-Identifier: BSD-3-Clause
"""What conditional risk minimization does once it is trained: decisions from means."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from skstruct._arrays.memory import row_blocks
from skstruct._arrays.methods import advising
from skstruct.learners.base import BlockPredictor, Explanation
from skstruct.learners.inputs import (
    are_training_rows,
    held_out_options,
    refuse_training_rows,
    rows_of,
)
from skstruct.learners.marginals import estimator_type, space_of, warn_of_open_pairs
from skstruct.learners.regression import Retargeting, given_name
from skstruct.learners.thresholds import decide_by_threshold, read_threshold
from skstruct.losses import Levels, Observed, Pinball, resolve_loss
from skstruct.smoothing import Learning, Weighing
from skstruct.spaces import Coordinates, Decoded, Marginals, SklearnTarget, Solving

if TYPE_CHECKING:
    from skstruct.bounds import Certificate


def _read_off(fitted: Any, problem: Any) -> Any:
    """Another problem, decided from what is smoothed for the fitted one; None where the means that
    it needs cannot be read off.
    """
    if fitted.by_weights or not fitted.rows_stand_alone:
        return None
    if Coordinates.of(problem.observations).is_list:
        return None
    try:
        return fitted.stand_in(problem.loss)
    except ValueError:  # of ``project``
        return None


def weighing_of(learner: Any) -> Any:
    """What has weights of rows whose outputs are known, be it by pairs; None where nothing has."""
    weighing = Weighing.of(learner.smoother_)
    return weighing.weighing_part if learner.partial_ is None else weighing.linear_part


def _settings(loss: Any) -> str:
    """All that a loss was given, whether it has met a space or not."""
    with np.printoptions(threshold=sys.maxsize):
        return str(loss.__repr__(N_CHAR_MAX=sys.maxsize))


def _has_intervals(learner: Any) -> bool:
    space = space_of(learner)
    apart = space is None or Solving.of(space).coordinates_apart
    return apart and estimator_type(learner) == "regressor"


def _observes_costs(learner: Any) -> bool:
    return learner.loss is not None and Observed.of(resolve_loss(learner.loss)).what == "costs"


class RiskPredictor(BlockPredictor):
    """Predicts the output of least estimated risk, under any loss and within constraints.

    A child brings ``_problem(loss)``, and what ``fit`` sets: the space, the smoother, the problem,
    outputs of training and ``calibration_``.
    """

    calibration_: Any = None  # what left-out means say; None where none are known
    outputs_: np.ndarray
    smoother_: Any
    starts_: Any  # where the tokens of each sequence begin; None for one input per output
    _problem: Callable[[Any], Any]

    @property
    def observation_space_(self) -> Any:
        """The space that ``y`` is from, as the loss sees it: mostly that of outputs."""
        return Observed.of(self.loss_).space_of(self.space_)

    def _prepared(
        self, loss: Any = None, restrict: dict[str, Any] | None = None
    ) -> tuple[Any, Any]:
        """The problem of a loss and its constraints, and a smoother of its targets."""
        check_is_fitted(self)
        problem = self.problem_ if loss is None else self._other_problem(resolve_loss(loss))
        smoother = self.smoother_
        if problem.by_weights or problem.key != self.problem_.key:
            smoother = Weighing.of(smoother).linear_part or smoother
        self._check_linear(problem, smoother)
        if problem.key != self.problem_.key and not problem.by_weights:
            joint, linear = Learning.of(smoother).joins_labels, Weighing.of(smoother).is_linear
            read = None if joint or linear else _read_off(self.problem_, problem)
            if read is not None:
                return read.restricted(restrict), smoother
            if not (linear or self.problem_.has_gaps) or joint:
                raise ValueError(
                    f"{given_name(smoother)} was fitted to {self.problem_.key[0]}, and "
                    f"{type(problem.loss).__name__} needs {problem.key[0]}: fit with that loss, or "
                    "with a smoother that keeps its training rows and weighs them anew for any "
                    "loss (KernelRidge, LinearRidge, Neighbors, NadarayaWatson, Forest)."
                )
            kept = self.__dict__.setdefault("_retargeting", Retargeting())
            smoother = kept(smoother, problem)
        return problem.restricted(restrict), smoother

    def _other_problem(self, loss: Any) -> Any:
        Observed.of(loss).check_same(self.loss_)
        return self._problem(loss)

    def _telling(self, parts: str, told: bool) -> tuple[Any, Any]:
        """A problem whose means tell of parts: the fitted one, or that of a loss that asks for
        them.
        """
        loss = None if told else Marginals.of(self.space_).losses[parts]
        problem, smoother = self._prepared(loss)
        if not problem.has_gaps:
            warn_of_open_pairs(problem.space, self.outputs_)
        return problem, smoother

    def __getstate__(self) -> Any:
        state = super().__getstate__()
        kept = ("_retargeting", "_thresholds")  # found again when asked for
        return {name: part for name, part in state.items() if name not in kept}

    @staticmethod
    def _check_linear(problem: Any, smoother: Any) -> None:
        if problem.by_weights and not Weighing.of(smoother).is_linear:
            loss = type(problem.loss).__name__
            raise ValueError(
                f"{loss} needs the weights of the training rows, which {given_name(smoother)} "
                "has not: use KernelRidge, Neighbors, NadarayaWatson or Forest, or "
                f"loss=Listed({loss}()) to choose among outputs seen in training."
            )

    def decode(
        self, X: Any, *, loss: Any = None, restrict: dict[str, Any] | None = None
    ) -> Decoded:
        """Predictions with their estimated conditional risks and lower bounds on these.

        Parameters
        ----------
        loss : str, loss or callable, default=None
            Another loss than that of training; a linear smoother is not fitted again.
        restrict : dict, default=None
            Arguments of the space's ``restrict``, such as ``{"max_size": 3}``.
        """
        return self._decode(X, *self._prepared(loss, restrict))

    def predict(
        self,
        X: Any,
        *,
        loss: Any = None,
        restrict: dict[str, Any] | None = None,
        threshold: Any = None,
    ) -> Any:
        """Outputs of least estimated risk, in the format in which ``y`` was given.

        Parameters
        ----------
        loss, restrict : as in ``decode``
        threshold : float, array of shape (d,), {label: float} or str, default=None
            Instead of a loss, for label sets and hierarchies: labels whose calibrated marginals
            reach it, always within the space. ``"micro_f1"``, ``"macro_f1"`` (one for each label),
            ``"recall=0.9"`` (the best precision at that recall) and ``"precision=0.9"`` (the best
            recall) choose it on rows that were left out in ``fit``.
        """
        if threshold is not None:
            return self._by_threshold(X, threshold, loss, restrict)
        decoded = self.decode(X, loss=loss, restrict=restrict)
        return decoded.outputs

    @available_if(_has_intervals)  # type: ignore[untyped-decorator]
    def predict_interval(
        self, X: Any, level: float = 0.1, *, restrict: dict[str, Any] | None = None
    ) -> tuple[Any, Any]:
        """Quantities that are exceeded with estimated probability 1 - level / 2, and level / 2;
        for intervals and boxes.

        Both are decided from the one model, under two pinball losses. They are estimates, which
        promise nothing: :class:`skstruct.conformal.PredictionSets` with ``score="interval"``
        calibrates them.

        Parameters
        ----------
        level : float, default=0.1
            Estimated probability of a quantity outside, half of it on either side.

        Returns
        -------
        lower, upper : in the format of ``predict``
        """
        if not 0 < level < 1:
            raise ValueError(f"predict_interval: level is between 0 and 1; got {level!r}.")
        lower, upper = (
            self.predict(X, loss=Pinball(quantile), restrict=restrict)
            for quantile in (level / 2, 1 - level / 2)
        )
        return lower, np.maximum(lower, upper)

    @available_if(_observes_costs)  # type: ignore[untyped-decorator]
    @advising
    def predict_costs(self, X: Any) -> Any:
        """Expected costs of all coordinates, from which decisions are made; where these are values,
        expected values.

        Returns
        -------
        costs : array of shape (n, d), or DataFrame with the names of coordinates where X is one
        """
        problem, smoother = self._prepared()
        X, index = self._checked(X)
        found = []
        for rows in row_blocks(X.shape[0], problem.bytes_per_row(), self.memory):
            means = problem.smooth(smoother, rows_of(X, rows))
            found.append(problem.mean_embedding(means)[0])
        width = self.outputs_.shape[1] - 1
        return self.observation_space_.written(np.concatenate(found)[:, :width], index)

    def _by_threshold(self, X: Any, threshold: Any, loss: Any, restrict: Any) -> Any:
        check_is_fitted(self)
        if loss is not None:
            raise ValueError("predict: give a loss or a threshold, not both.")
        several = SklearnTarget.of(self.space_).multi_output
        if estimator_type(self) != "classifier" or not several:
            raise ValueError(
                "threshold is for label sets and hierarchies that are learned from labels; this "
                f"is {type(self.space_).__name__} under {type(self.loss_).__name__}."
            )
        thresholds = read_threshold(self, threshold)
        _, index = self._checked(X)
        marginals = np.asarray(self.predict_marginals(X))
        space = self.space_.restrict(**restrict) if restrict else self.space_
        return space.restore(decide_by_threshold(space, marginals, thresholds).outputs, index)

    def predict_risk(
        self,
        X: Any,
        *,
        loss: Any = None,
        restrict: dict[str, Any] | None = None,
        calibrated: bool = False,
    ) -> np.ndarray:
        """Estimated conditional risk of each prediction; shape (n,).

        Within what the loss can be: weights of either sign give estimates below zero, too. The
        estimates as they are, which bounds belong to, are ``decode(X).values``.

        Parameters
        ----------
        calibrated : bool, default=False
            Move estimates to the losses that rows left out in ``fit`` had, or those kept apart for
            ``calibrate``, by a rising map. For the model's own loss, and by rows of whose outputs
            every part was looked at.
        """
        problem, smoother = self._prepared(loss, restrict)
        values = self._decode(X, problem, smoother).values
        if calibrated:
            values = self._risk_map(problem.loss)(values)
        return problem.possible(values)

    def _risk_map(self, loss: Any) -> Any:
        if _settings(loss) != _settings(self.problem_.loss):
            raise ValueError(
                f"predict_risk: calibrated=True is for the model's own loss, {self.loss_!r}; got "
                f"{loss!r}."
            )
        known = None if self.calibration_ is None else self.calibration_.risks
        if known is None:
            raise ValueError(
                "predict_risk: calibrated=True needs rows that were left out in fit, of whose "
                "outputs every part was looked at; here give rows that the model was not fitted "
                "to: calibrate(X, y)."
            )
        return known

    def possible_risks(self, values: ArrayLike, *, loss: Any = None) -> np.ndarray:
        """Values of ``decode`` or ``kbest``, moved into the range of the loss; infinite ones stay.

        Parameters
        ----------
        values : array of estimated risks
        loss : as they were estimated for
        """
        return self._prepared(loss)[0].possible(values)

    def kbest(
        self, X: Any, k: int = 3, *, loss: Any = None, restrict: dict[str, Any] | None = None
    ) -> Decoded:
        """The ``k`` outputs of least estimated risk for each row.

        ``outputs`` is a list: its entry r holds the outputs of rank r in the form of
        ``predict``. ``values`` and ``bounds`` are (n, k), infinite where a row has fewer
        outputs; ranks that no row has are left off.
        """
        return self._kbest(X, k, *self._prepared(loss, restrict))

    def explain(
        self, X: Any, *, loss: Any = None, restrict: dict[str, Any] | None = None
    ) -> Explanation:
        """The weights of the training examples for each row, and how far each one is.

        Where rankings leave pairs open, weights are those of pairs that all rows order.
        """
        X, _ = self._checked(X)
        if self.starts_ is not None:
            raise ValueError("Weights are of positions, not of sequences: see smoother_.weights.")
        linear = weighing_of(self)
        if linear is None:
            raise ValueError(
                f"{given_name(self.smoother_)} has no weights of training examples; use "
                "KernelRidge, Neighbors, NadarayaWatson or Forest."
            )
        problem, smoother = self._prepared(loss, restrict)
        decided = self._in_blocks(X, problem, smoother, problem.decode).outputs
        losses = problem.loss.pairwise(decided, self.outputs_)
        return Explanation(linear.weights(X), losses, Weighing.of(linear).sample_weight)

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
        """Minus the mean loss of the predictions for ``X``, on what is known of ``y``; loss and
        constraints as in ``predict``, ``known`` as in ``fit``.
        """
        problem, smoother = self._prepared(loss, restrict)
        # Where parts are missing, another loss may be learned in place of the one asked for.
        asked = resolve_loss(loss) if loss is not None and problem.has_gaps else None
        return self._score(X, y, sample_weight, problem, smoother, known, asked)

    def certify(
        self, X: Any, y: Any, *, delta: float = 0.05, bound: str | None = None, **options: Any
    ) -> Certificate:
        """A bound on the risk of this model that fails with probability delta at most.

        From rows that the model was not fitted to, it holds for any model, over the draw of these
        rows. From the training rows themselves, it is that of algorithmic stability, for kernel
        ridge regression without intercept.

        Parameters
        ----------
        X, y : rows that had no part in training, or all rows of training
        delta : float, default=0.05
        bound : "held_out" or "stability", default=None
            None takes the one that the rows are for.
        **options
            ``loss_bound`` where the largest loss is not known, and ``method`` of
            :func:`skstruct.bounds.held_out_bound`; for the training rows those of
            :func:`skstruct.bounds.stability_bound`, such as ``rho``.
        """
        from skstruct.bounds import held_out_bound, stability_bound
        from skstruct.bounds.certificate import largest_of_problem

        check_is_fitted(self)
        if bound not in (None, "held_out", "stability"):
            raise ValueError(f'bound is "held_out" or "stability"; got {bound!r}.')
        trained = bound != "stability" and are_training_rows(self, X, y)
        if bound == "stability" or (bound is None and trained):
            return stability_bound(self, X, y, delta=delta, **options)
        refuse_training_rows(trained)
        largest = largest_of_problem(self.problem_, **held_out_options(options))
        losses = self._losses(X, y, *self._prepared())
        return held_out_bound(
            losses, largest, delta=delta, binary=Levels.of(self.problem_.loss).all_or_nothing,
            method=options.get("method", "auto"),
        )  # fmt: skip
