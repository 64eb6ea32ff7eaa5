# SPDX-License-Identifier: BSD-3-Clause
"""Linear label ranking, one row after another: perceptron and passive-aggressive."""

from numbers import Integral
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state
from sklearn.utils.extmath import row_norms

from skstruct._arrays.methods import all_or_nothing
from skstruct._arrays.progress import reported, track
from skstruct.learners.label_ranking.base import LinearLabelRanker
from skstruct.saving import check_floats, require, savable
from skstruct.tolerances import PASSIVE_AGGRESSIVE_ACCURACY

MOST_SWEEPS = 1000  # of a passive-aggressive step


@savable
class OnlineLabelRanker(LinearLabelRanker):
    r"""Linear scores learned one row at a time, also from data that comes in pieces.

    "perceptron": every pair in the wrong order moves its two items,
    :math:`w_p \leftarrow w_p + x,\ w_q \leftarrow w_q - x` [1]_. "passive-aggressive": the
    nearest weights with all margins of the row,

    .. math:: \min_w \tfrac12 \|w - w_t\|^2 + \frac{C}{|E|} \sum_{(p, q) \in E}
              \max(0, 1 - \langle w_p - w_q, x \rangle)

    over all pairs E that the row orders at once (PA-I [2]_), found by coordinate ascent in
    the d scores of the row. With :math:`C = \infty` every margin of the row then holds.

    A row of weight s makes steps s times as long, or moves as far as s times C allows, and is one
    visit: rows of weight zero are not visited. Between two items a passive-aggressive row of
    weight two is that row twice in a row.

    Parameters
    ----------
    update : "perceptron" or "passive-aggressive", default="passive-aggressive"
    C : float, default=1.0
        Aggressiveness: a passive-aggressive step goes no further than this allows.
    n_epochs : int, default=20
        Passes of ``fit`` over the rows; ``partial_fit`` makes one.
    average : bool, default=True
        Predict with the mean of the weights after all rows so far, not with the last.
    fit_intercept : bool, default=True
        A constant feature.
    shuffle : bool, default=True
        Let ``fit`` visit the rows in random order.
    space : Rankings, default=None
        For ``partial_fit`` it names the items, unless all are in the first ``y``.
    random_state : int or RandomState, default=None
    verbose : int, default=0
        Progress on stderr, of what takes longer than two seconds.

    Attributes
    ----------
    coef_, intercept_ : arrays of shape (d, p) and (d,)
    n_mistakes_ : int
        Rows, counted as often as they were visited, that had a pair in the wrong order
        when they came.
    n_seen_ : int, rows visited
    space_, outputs_, reduction_ : see :class:`~skstruct.learners.label_ranking.base.LabelRanker`;
        the outputs are those of the last call

    References
    ----------
    .. [1] K. Crammer, Y. Singer, "A family of additive online algorithms for category
       ranking", JMLR 3, 2003.
    .. [2] K. Crammer, O. Dekel, J. Keshet, S. Shalev-Shwartz, Y. Singer, "Online
       passive-aggressive algorithms", JMLR 7, 2006.

    Examples
    --------
    >>> X = [[0.0], [1.0], [2.0], [3.0]]
    >>> y = [[1, 2, 3], [1, 2, 3], [3, 2, 1], [3, 2, 1]]
    >>> OnlineLabelRanker(random_state=0).fit(X, y).predict([[0.0], [3.0]])
    array([[1, 2, 3],
           [3, 2, 1]])
    """

    verbose = 0  # of models that were saved before there was a choice

    def __init__(
        self,
        update: str = "passive-aggressive",
        *,
        C: float = 1.0,
        n_epochs: int = 20,
        average: bool = True,
        fit_intercept: bool = True,
        shuffle: bool = True,
        space: Any = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.update = update
        self.C = C
        self.n_epochs = n_epochs
        self.average = average
        self.fit_intercept = fit_intercept
        self.shuffle = shuffle
        self.space = space
        self.random_state = random_state
        self.verbose = verbose

    def _check_parameters(self) -> None:
        if self.update not in ("perceptron", "passive-aggressive"):
            raise ValueError(
                f'update is "perceptron" or "passive-aggressive"; got {self.update!r}.'
            )
        if not self.C > 0:
            raise ValueError(f"C must be positive; got {self.C!r}.")
        if not isinstance(self.n_epochs, Integral) or self.n_epochs < 1:
            raise ValueError(f"n_epochs is a whole number from 1; got {self.n_epochs!r}.")

    def _check_saved(self) -> None:
        if hasattr(self, "weights_"):
            check_floats(self, ["weights_", "moments_"], 2)
            same = self.weights_.shape == self.moments_.shape
            fits = len(self.space_.items_) in self.weights_.shape
            require(same and fits, "weights of a ranker that do not fit its items")

    def _begin(self, X: Any, y: Any) -> Any:
        self._check_parameters()
        X = super()._begin(X, y)
        shape = X.shape[1] + bool(self.fit_intercept), self.outputs_.shape[1]
        self.weights_, self.moments_ = np.zeros(shape), np.zeros(shape)
        self.n_seen_ = self.n_mistakes_ = 0
        return X

    def _learn(self, reduced: Any, weight: np.ndarray) -> None:
        n, rng = reduced.X.shape[0], check_random_state(self.random_state)
        for _ in track(range(self.n_epochs), "epochs", self.verbose):
            self._visit(reduced, rng.permutation(n) if self.shuffle else np.arange(n), weight)

    @reported
    @all_or_nothing
    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Visit the rows of ``X`` (n, p) and ``y`` once, in their order.

        The first call learns the items, from ``space`` or from ``y``. Weights are those of ``fit``.
        """
        if not hasattr(self, "n_seen_"):
            X = self._begin(X, y)
            self._check_accepted(self.outputs_)
        else:
            self._check_parameters()
            X, y = self._read(X, y, reset=False)
            self.outputs_ = self.space_.validate(y)
        rows, weight = self._weighed(sample_weight, X.shape[0])
        reduced = self.reduction_.apply(self._inputs(X)[rows], self.outputs_[rows])
        self._visit(reduced, np.arange(len(rows)), weight)
        return self

    def _visit(self, preferences: Any, order: np.ndarray, weight: np.ndarray) -> None:
        from skstruct.learners.label_ranking._numba import online_pass

        X = sparse.csr_array(preferences.X)
        rows = X.data, X.indices, X.indptr, row_norms(X, squared=True)
        pairs = preferences.starts, preferences.better, preferences.worse
        self.n_mistakes_ += online_pass(
            *rows, *pairs, order, weight, self.update == "passive-aggressive", float(self.C),
            self.weights_, self.moments_, float(self.n_seen_), MOST_SWEEPS,
            PASSIVE_AGGRESSIVE_ACCURACY,
        )  # fmt: skip
        self.n_seen_ += len(order)
        mean = self.weights_ - self.moments_ / self.n_seen_ if self.average else self.weights_
        self._keep(np.array(mean.T, order="C"))
