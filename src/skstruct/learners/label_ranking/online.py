# SPDX-License-Identifier: BSD-3-Clause
"""Linear label ranking, one row after another: perceptron, dual ascent, multiplied weights."""

from numbers import Integral
from typing import Any, Self

import numpy as np
from sklearn.utils import check_random_state

from skstruct._arrays.checks import is_number
from skstruct._arrays.methods import all_or_nothing
from skstruct._arrays.progress import reported, track
from skstruct.learners.label_ranking.base import LinearLabelRanker
from skstruct.learners.label_ranking.online_bounds import BoundedMistakes
from skstruct.learners.label_ranking.online_steps import (
    METHODS,
    OnlinePath,
    OnlineWeights,
    entropy_scale,
)
from skstruct.learners.label_ranking.subgraphs import (
    SubgraphReduction,
    check_decomposition,
    check_margin,
)
from skstruct.learners.leave_out import LeaveOutSearch
from skstruct.learners.penalty_path import (
    check_alpha,
    choose_alpha,
    is_given,
    mean_square,
    split_rows,
    strongest,
)
from skstruct.saving import check_floats, require, savable


@savable
class OnlineLabelRanker(BoundedMistakes, LinearLabelRanker):
    r"""Linear scores learned one row at a time, also from data that comes in pieces.

    The preferences of a row are cut into S subgraphs. One of them is wrong if a pair of it is, and
    its hinge is the largest of its pairs. Weights move by one of four methods.

    "perceptron": in every wrong subgraph the pair that is most in the wrong order moves its two
    items, :math:`w_p \leftarrow w_p + x,\ w_q \leftarrow w_q - x` [1]_.

    "passive-aggressive": the weights that are near and have the margins of the row,

    .. math:: \min_w \tfrac\alpha2 \|w - w_t\|^2 + \frac1S \sum_{s \le S} \max_{(p, q) \in E_s}
              \max(0, \gamma_{pq} - \langle w_p - w_q, x \rangle)

    over all subgraphs at once (PA-I [2]_), found by ascent of the dual in the d scores of the row.
    With :math:`\alpha \to 0` every margin of the row then holds.

    "primal-dual": a step of the same dual that is known at once [3]_: the pairs of largest hinge
    of all wrong subgraphs (of those that lack margin, where none is wrong) move alike,
    :math:`w_p \leftarrow w_p + \tau x,\ w_q \leftarrow w_q - \tau x` with
    :math:`\tau = \min(1 / (\alpha S), \sum_s h_s / (|x|^2 |v|^2))`, for their hinges h and the
    number v of times that each item gains less those it loses.

    "multiplicative": the same problem with the relative entropy [4]_,

    .. math:: \min_w \alpha\, D(w \| w_t) + \frac1S \sum_s \max_{(p, q) \in E_s} \max(0,
              \gamma_{pq} - \langle w_p - w_q, x \rangle)

    where w is a difference of two parts that are not negative and sum to ``radius`` together, and
    D is the sum over both of :math:`u \ln (u / u_t)`. Weights are multiplied by
    :math:`e^{\pm c_p x}` and scaled. The bound on its mistakes grows with the logarithm of the
    number of features only: it is for many of which few matter. A step takes time for all of them,
    also where x is sparse.

    How many mistakes they make at most is told by :meth:`mistake_bound`.

    A row of weight s makes steps s times as long, or moves as far as alpha / s allows, and is one
    visit: rows of weight zero are not visited. Between two items a passive-aggressive row of
    weight two is that row twice in a row.

    Parameters
    ----------
    space : Rankings, default=None
        For ``partial_fit`` it names the items, unless all are in the first ``y``.
    method : str, default="passive-aggressive"
        Or "primal-dual", "multiplicative" or "perceptron".
    alpha : float, several, or "auto", default="auto"
        Reluctance to move: a step goes no further than its inverse allows.
        Several are compared by the share of pairs in the wrong order of left-out rows (Kendall's
        loss): five folds, or a fifth of more than a thousand rows once, from strong to weak, all
        of them. "auto" tries half decades over five decades, from a hundred times the mean
        square of the inputs. It is that mean square itself for ``partial_fit``, by the rows of
        the first call, and where fewer than five rows leave nothing to compare by. For
        "multiplicative" all these are times radius / (d p). A perceptron has no penalty.
    decomposition : "pairs", "better-items", "worse-items" or "whole", default="pairs"
        The subgraphs: single pairs; an item with all items that come after it, or with all that
        come before it; all pairs of a row.
    margin : "unit" or "feedback", default="unit"
        By how much scores of a pair are to differ: by one, or by as much as the numbers of its
        items in y do, ratings where the space is ``Rankings(scores=True)`` and ranks else. A
        perceptron has no margin.
    radius : float, default=100
        For "multiplicative": absolute weights sum to less, intercepts included.
    max_iter : int, default=20
        Passes of ``fit`` over the rows; ``partial_fit`` makes one.
    average : bool, default=True
        Predict with the mean of the weights after all rows so far, not with the last.
    fit_intercept : bool, default=True
        A constant feature.
    shuffle : bool, default=True
        Let ``fit`` visit the rows in random order.
    verbose : int, default=0
        Progress on stderr, of what takes longer than two seconds.
    random_state : int or RandomState, default=None

    Attributes
    ----------
    alpha_ : float, the penalty; None for a perceptron
    cumulative_loss_ : float
        Sum over all visits of the share of subgraphs that were wrong when the row came.
    search_ : LeaveOutSearch or None, the penalties tried with their left-out losses
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
    .. [3] S. Shalev-Shwartz, Y. Singer, "A unified algorithmic approach for efficient online
       label ranking", AISTATS 2007, with relevant items before all others and "whole".
    .. [4] K. Crammer, Y. Singer, "Loss bounds for online category ranking", COLT 2005; S. Vembu,
       "Learning to predict combinatorial structures", 2010, section 3.6, where the loss is a
       count of wrong subgraphs, with which the problem has no minimum.

    Examples
    --------
    >>> X = [[0.0], [1.0], [2.0], [3.0]]
    >>> y = [[1, 2, 3], [1, 2, 3], [3, 2, 1], [3, 2, 1]]
    >>> OnlineLabelRanker(random_state=0).fit(X, y).predict([[0.0], [3.0]])
    array([[1, 2, 3],
           [3, 2, 1]])
    """

    alpha_: float | None
    exponents_: np.ndarray | None
    search_: LeaveOutSearch | None

    def __init__(
        self,
        space: Any = None,
        *,
        method: str = "passive-aggressive",
        alpha: Any = "auto",
        max_iter: int = 20,
        average: bool = True,
        decomposition: str = "pairs",
        margin: str = "unit",
        radius: float = 100.0,
        fit_intercept: bool = True,
        shuffle: bool = True,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.space = space
        self.method = method
        self.alpha = alpha
        self.max_iter = max_iter
        self.average = average
        self.decomposition = decomposition
        self.margin = margin
        self.radius = radius
        self.fit_intercept = fit_intercept
        self.shuffle = shuffle
        self.verbose = verbose
        self.random_state = random_state

    def _check_parameters(self) -> None:
        if self.method not in METHODS:
            known = ", ".join(f'"{method}"' for method in METHODS)
            raise ValueError(f"method is one of {known}; got {self.method!r}.")
        check_alpha(self.alpha)
        check_decomposition(self.decomposition)
        check_margin(self.margin)
        if not (is_number(self.radius) and 0 < self.radius < np.inf):
            raise ValueError(f"radius is a positive and finite number; got {self.radius!r}.")
        if not isinstance(self.max_iter, Integral) or self.max_iter < 1:
            raise ValueError(f"max_iter is a whole number from 1; got {self.max_iter!r}.")

    def _check_saved(self) -> None:
        if hasattr(self, "weights_"):
            check_floats(self, ["weights_", "moments_"], 2)
            same = self.weights_.shape == self.moments_.shape
            self.__dict__.setdefault("exponents_", None)
            self.__dict__.setdefault("cumulative_loss_", 0.0)
            if self.exponents_ is not None:
                check_floats(self, ["exponents_"], 2)
                same = same and self.exponents_.shape == self.weights_.shape
            fits = len(self.space_.items_) in self.weights_.shape
            require(same and fits, "weights of a ranker that do not fit its items")

    def _begin(self, X: Any, y: Any) -> Any:
        self._check_parameters()
        X = super()._begin(X, y)
        shape = X.shape[1] + bool(self.fit_intercept), self.outputs_.shape[1]
        self._take(OnlineWeights.zeros(self.method, None, self.radius, shape))
        self.alpha_ = self.search_ = None
        return X

    def _reduction(self, space: Any) -> Any:
        margin = "unit" if self.method == "perceptron" else self.margin
        return SubgraphReduction(space, check_decomposition(self.decomposition), margin)

    def _take(self, learned: OnlineWeights) -> None:
        self.weights_, self.moments_ = learned.weights, learned.moments
        self.exponents_ = learned.exponents
        self.n_seen_, self.n_mistakes_ = learned.n_seen, learned.n_mistakes
        self.cumulative_loss_ = learned.loss

    def _reduced(self, X: Any, outputs: np.ndarray) -> Any:
        return super()._reduced(X, outputs), outputs

    def _learn(self, reduced: Any, weight: np.ndarray) -> None:
        reduced, outputs = reduced
        if self.method != "perceptron":
            self.alpha_, self.search_ = self._chosen(reduced, outputs, weight)
        n, rng = reduced.X.shape[0], check_random_state(self.random_state)
        for _ in track(range(self.max_iter), "epochs", self.verbose):
            self._visit(reduced, rng.permutation(n) if self.shuffle else np.arange(n), weight)

    def _chosen(
        self, reduced: Any, outputs: np.ndarray, weight: np.ndarray
    ) -> tuple[float, LeaveOutSearch | None]:
        path = OnlinePath(self, reduced, outputs, weight)
        return choose_alpha(
            self.alpha,
            path,
            lambda: split_rows(outputs, weight, self.random_state, reduced.X),
            weight,
            self.verbose,
        )

    def _fixed_alpha(self, X: Any, weight: np.ndarray) -> float:
        """The penalty of rows that come in pieces: one that is given, or the mean square of X."""
        if is_given(self.alpha):
            return float(self.alpha)
        if not isinstance(self.alpha, str):
            raise ValueError(
                f'partial_fit leaves no rows out: alpha is a number, or "auto"; got {self.alpha!r}.'
            )
        scale = entropy_scale(self.method, self.radius, self.weights_.shape)
        return strongest(mean_square(X, weight)[0] * scale if weight.sum() > 0 else scale)

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
            if (self.exponents_ is None) == (self.method == "multiplicative"):
                raise ValueError(
                    f'The weights so far are not those of method="{self.method}", which begins '
                    "anew: call fit, or clone the ranker."
                )
            self.reduction_ = self._reduction(self.space_)
            X, y = self._read(X, y, reset=False)
            self.outputs_ = self.space_.validate(y)
        rows, weight = self._weighed(sample_weight, X.shape[0])
        X = self._inputs(X)[rows]
        if self.method == "perceptron":
            self.alpha_ = None
        elif self.alpha_ is None or is_given(self.alpha):
            self.alpha_ = self._fixed_alpha(X, weight)
        reduced = self.reduction_.apply(X, self.outputs_[rows])
        self._visit(reduced, np.arange(len(rows)), weight)
        return self

    def _visit(self, preferences: Any, order: np.ndarray, weight: np.ndarray) -> None:
        learned = OnlineWeights(
            self.method, self.alpha_, self.radius, self.weights_, self.moments_, self.exponents_,
            self.n_seen_, self.n_mistakes_, self.cumulative_loss_,
        )  # fmt: skip
        learned.visit(preferences, order, weight)
        self._take(learned)
        self._keep(np.array((learned.mean() if self.average else learned.weights).T, order="C"))
