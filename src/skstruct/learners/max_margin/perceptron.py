# SPDX-License-Identifier: BSD-3-Clause
"""The structured perceptron: move the scores where the best output is not the true one."""

from os import PathLike
from typing import Any, Self

import numpy as np
from sklearn.utils import check_random_state

from skstruct._arrays.checks import is_count
from skstruct._arrays.methods import all_or_nothing
from skstruct._arrays.progress import reported, track
from skstruct.learners.checkpoints.saving import NOWHERE, Checkpoint, resuming, set_stream
from skstruct.learners.inputs import has_features
from skstruct.learners.marginals import expecting
from skstruct.learners.max_margin.base import MarginLearner
from skstruct.learners.max_margin.scores import NOTHING
from skstruct.saving import check_floats, require, savable
from skstruct.spaces import Coordinates

LEARNED = (
    "weights_", "row_scores_", "coefficients_", "moments_", "constants_", "constant_moments_",
)  # fmt: skip
COUNTED = ("n_seen_", "n_mistakes_")


@savable
class StructuredPerceptron(MarginLearner):
    r"""Scores learned from mistakes, over any space that can be decoded.

    Where the output :math:`z` of the largest score is not the truth :math:`y`,

    .. math:: W \leftarrow W + x\, (\psi(y) - \psi(z))'

    and the mean of the weights after all visits predicts [1]_. Outputs are decoded in
    batches, with the weights as they are when the batch begins; an update follows only where
    z *still* has at least the score of y. Every update so fixes a true violation, which is all
    that the mistake bound needs, whatever the size of the batches and even where decoding is
    not exact [2]_: if some weights of norm one keep every truth ahead by :math:`\gamma`, there
    are at most :math:`(R / \gamma)^2` updates, for :math:`|x|\,|\psi(y) - \psi(z)| \le R`.

    Parameters
    ----------
    space : space, default=None
        What may be predicted; learned from ``y`` when None. For ``partial_fit`` it should
        name all labels, unless they are in the first ``y``.
    loss : str, loss or callable, default=None
        What ``score`` reports; the usual loss of the space when None. Learning does not see
        it, but for the coordinates that are scored where it needs other ones than the space's.
    kernel : str, kernel or callable, default="linear"
        Kernel between inputs: a name, an object of :mod:`skstruct.kernels` with parameters of
        its own, a callable, or ``"precomputed"``.
    n_landmarks : int, default=None
        Stand in for the kernel by so many Nyström features.
    fit_intercept : bool, default=True
        A constant feature.
    max_iter : int, default=10
        Passes of ``fit`` over the rows; ``partial_fit`` makes one.
    average : bool, default=True
        Predict with the mean of the weights after all visits so far, not with the last.
    batch_size : int, default=16
        Outputs decoded at once; 1 is the classic perceptron.
    shuffle : bool, default=True
        Let ``fit`` visit the rows in random order.
    n_jobs : int, default=None
        Threads that predict blocks of rows.
    verbose : int, default=0
        Progress on stderr.
    random_state : int or RandomState, default=None
        Order of the rows.

    Attributes
    ----------
    n_mistakes_ : int
        Updates: visits at which another output had at least the score of the truth.
    n_seen_ : int, rows visited
    coef_, intercept_ : arrays of shape (q, p) and (q,), with a linear kernel
    space_, loss_, outputs_ : the fitted parts; outputs are those of the last call

    References
    ----------
    .. [1] M. Collins, "Discriminative training methods for hidden Markov models: theory and
       experiments with perceptron algorithms", EMNLP 2002.
    .. [2] L. Huang, S. Fayong, Y. Guo, "Structured perceptron with inexact search",
       NAACL 2012.

    Examples
    --------
    >>> X = [[0.0], [0.2], [1.0], [1.2]]
    >>> Y = [{"sun"}, {"sun"}, {"sun", "sea"}, {"sun", "sea"}]
    >>> model = StructuredPerceptron(random_state=0).fit(X, Y)
    >>> [sorted(labels) for labels in model.predict([[0.1], [1.1]])]
    [['sun'], ['sea', 'sun']]
    """

    def __init__(
        self,
        space: Any = None,
        loss: Any = None,
        *,
        kernel: Any = "linear",
        n_landmarks: int | None = None,
        fit_intercept: bool = True,
        max_iter: int = 10,
        average: bool = True,
        batch_size: int = 16,
        shuffle: bool = True,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.space = space
        self.loss = loss
        self.kernel = kernel
        self.n_landmarks = n_landmarks
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.average = average
        self.batch_size = batch_size
        self.shuffle = shuffle
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def _check_parameters(self) -> None:
        super()._check_parameters()
        for name in ("max_iter", "batch_size"):
            if not is_count(getattr(self, name)):
                raise ValueError(f"{name} is a whole number from 1; got {getattr(self, name)!r}.")

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

        Parameters
        ----------
        sample_weight : array of shape (n,), default=None
            An update is so many times as long; rows of weight zero are not visited.
        known : bool array of the shape of y, default=None
            Which parts of the outputs are known; all have to be.
        checkpoint : str, path or Checkpoint, default=None
            File that training is saved to on the way, and goes on from when it was stopped; it is
            removed in the end. See :class:`~skstruct.learners.Checkpoint`.
        """
        X, weight = self._begin(X, y, sample_weight, reset=True, known=known)
        data = {} if sample_weight is None else {"sample_weight": weight}
        with resuming(self, checkpoint, X=X, y=y, **data) as level:
            self._announce()
            self.problem_ = self._problem(X)
            self._learn(X, weight, level)
        return self

    def _learn(self, X: Any, weight: np.ndarray, level: Any) -> None:
        self.scores_, rows = self._rows(X, weight)
        self._start(rows)
        visited, rng = np.flatnonzero(weight), check_random_state(self.random_state)
        if stopped := level.found:
            set_stream(rng, stopped["rng"])
        for epoch in track(range(self.max_iter), "training", self.verbose):
            if epoch < stopped.get("epoch", 0):
                continue
            if epoch == stopped.get("epoch"):
                order = stopped["order"]
            else:
                order = rng.permutation(visited) if self.shuffle else visited
            level.keep(epoch=epoch, order=order, rng=rng)
            self.n_iter_ = epoch + 1
            if not self._visit(rows, order, weight, level.below("visits")):
                # No update: the weights stay as they are, however often the rows come again.
                self.n_seen_ += len(visited) * (self.max_iter - 1 - epoch)
                break
        self._keep(rows)
        self.problem_ = self.problem_.trained()

    @reported
    @all_or_nothing
    def partial_fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, classes: Any = None
    ) -> Self:
        """Visit the rows of ``X`` (n, p) and ``y`` once, in their order.

        The first call learns the space from ``y`` where the constructor leaves it open. Weights are
        those of ``fit``.

        Parameters
        ----------
        classes : sequence, default=None
            Of the first call, as scikit-learn has it: all classes that may come, where no space is
            given.
        """
        self._check_linear()
        first = not hasattr(self, "n_seen_")
        if not first and not self.scores_.is_linear:
            raise ValueError("partial_fit goes on from linear weights: call fit with all rows.")
        with expecting(self, classes):
            X, weight = self._begin(X, y, sample_weight, reset=first)
        before, self.problem_ = getattr(self, "problem_", None), self._problem(X)
        self.scores_, rows = self._rows(X)
        if first:
            self._start(rows)
        else:
            self._go_on(before, rows)
        self._visit(rows, np.flatnonzero(weight), weight)
        self._keep(rows)
        self.problem_ = self.problem_.trained()
        return self

    def _check_linear(self) -> None:
        linear = self.kernel == "linear" if isinstance(self.kernel, str) else False
        if self.n_landmarks or not (linear or has_features(self.kernel)):
            raise ValueError(
                "partial_fit keeps weights of features, and no rows: give kernel='linear' and "
                "n_landmarks=None, or call fit with all rows."
            )

    def _start(self, rows: Any) -> None:
        """No weights yet."""
        shape = rows.n_rows, self.problem_.n_seeing
        self.coefficients_ = np.zeros(shape if rows.kernelised else (0, 0))
        self.weights_, self.row_scores_ = rows.weights(np.zeros(shape))
        self.moments_ = np.zeros(shape) if rows.kernelised else np.zeros_like(self.weights_)
        self.constants_ = np.zeros(self.problem_.n_constants)
        self.constant_moments_ = np.zeros(self.problem_.n_constants)
        self.n_seen_ = self.n_mistakes_ = 0

    def _go_on(self, before: Any, rows: Any) -> None:
        """Weights of the last call, if the same outputs may be predicted."""
        space = self.problem_.space
        listed = Coordinates.of(space).is_list
        if listed and not np.array_equal(before.space.listed_, space.listed_):
            raise ValueError(
                f"With {type(self.loss_).__name__} outputs of training are predicted, and those "
                "of y are others than before: call fit with all rows."
            )
        if rows.X.shape[1] != self.weights_.shape[0]:
            raise ValueError(
                f"partial_fit: rows have {rows.X.shape[1]} features, a constant one included, and "
                f"the weights of earlier calls {self.weights_.shape[0]}: leave kernel and "
                "fit_intercept as they were."
            )
        for name in ("weights_", "moments_", "constants_", "constant_moments_"):
            setattr(self, name, getattr(self, name).copy(order="K"))  # all or nothing
        self.row_scores_ = NOTHING

    def _state(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in (*LEARNED, *COUNTED)}

    def _restore(self, state: dict[str, Any]) -> None:
        for name in LEARNED:
            np.copyto(getattr(self, name), state[name])
        for name in COUNTED:
            setattr(self, name, state[name])

    def _visit(self, rows: Any, order: np.ndarray, weight: np.ndarray, level: Any = NOWHERE) -> int:
        """One pass in the given order; returns the number of updates."""
        from skstruct.learners.max_margin._numba import fix_violations

        n_updates = first = 0
        if stopped := level.found:
            self._restore(stopped["learned"])
            n_updates, first = stopped["n_updates"], stopped["first"]
        for start in range(first, len(order), self.batch_size):
            examples = order[start : start + self.batch_size]
            scores = rows.scores(self.weights_, self.row_scores_, rows.of(examples))
            found, found_constants = self.problem_.predicted(scores, self.constants_, examples)
            seeing, constants = self.problem_.truth(examples)
            offset = np.concatenate([[0], np.cumsum(rows.lengths[examples])])
            times = weight[examples, None]
            n_updates += fix_violations(
                examples, rows.starts, offset,
                np.repeat(times, rows.lengths[examples], axis=0) * (seeing - found),
                times * (constants - found_constants),
                *rows.arrays, rows.turned(self.weights_), self.row_scores_, self.coefficients_,
                self.constants_, rows.turned(self.moments_), self.constant_moments_,
                float(self.n_seen_),
            )  # fmt: skip
            self.n_seen_ += len(examples)
            first = start + self.batch_size
            level.reached(learned=self._state(), n_updates=n_updates, first=first)
        self.n_mistakes_ += n_updates
        return n_updates

    def _check_saved(self) -> None:
        if not hasattr(self, "weights_"):
            return
        check_floats(self, ["weights_", "moments_", "coefficients_"], 2)
        check_floats(self, ["constants_", "constant_moments_"], 1)
        learned = self.coefficients_ if self.coefficients_.size else self.weights_
        same = learned.shape == self.moments_.shape
        same = same and learned.shape[1] == self.problem_.n_seeing
        lengths = self.constants_.shape, self.constant_moments_.shape
        same = same and lengths == 2 * ((self.problem_.n_constants,),)
        require(same, "weights of a perceptron that do not fit its outputs")

    def _keep(self, rows: Any) -> None:
        """The weights that predict."""
        del self.row_scores_
        share = 1.0 / self.n_seen_ if self.average else 0.0
        weights = self.coefficients_ if rows.kernelised else self.weights_
        self.scores_.weights_ = weights - share * self.moments_
        self.scores_.constants_ = self.constants_ - share * self.constant_moments_
