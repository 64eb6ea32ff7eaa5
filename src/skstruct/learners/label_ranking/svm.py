# SPDX-License-Identifier: BSD-3-Clause
"""Support vector machine for label ranking: a margin for every ordered pair."""

import warnings
from collections.abc import Callable
from numbers import Integral
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.extmath import row_norms

from skstruct._arrays.progress import track
from skstruct.kernels import InputKernel
from skstruct.learners.label_ranking.base import LinearLabelRanker
from skstruct.saving import savable

SWEEPS = 1  # over the pairs of a row per visit: more gained nothing on real data


@savable
class LabelRankingSVM(LinearLabelRanker):
    r"""Rank items by scores with a margin between every pair that a row orders.

    .. math:: \min_w \tfrac12 \sum_j \|w_j\|^2 + C \sum_i \frac{1}{|E_i|}
              \sum_{(p, q) \in E_i} \max(0, 1 - \langle w_p - w_q, x_i \rangle)

    with :math:`E_i` the pairs of row i, p before q [1]_ [2]_. Solved in the dual,
    :math:`\max \sum_e \alpha_e - \tfrac12 \|w(\alpha)\|^2` with :math:`0 \le \alpha_e \le
    C / |E_i|`, by coordinate ascent over the pairs of one row at a time, until the gap
    between both values says that it is solved.

    Parameters
    ----------
    C : float, default=1.0
        What violated margins cost.
    kernel : str or callable, default="linear"
        As in :class:`~skstruct.kernels.InputKernel`, positive semidefinite. All but
        "linear" keep the Gram matrix of the training rows.
    gamma, degree, coef0 : float
        Kernel parameters.
    fit_intercept : bool, default=True
        One is added to the kernel; with "linear" this is a constant feature. The
        intercepts are penalized like the weights.
    tol : float, default=1e-3
        Duality gap to reach, as a share of the objective.
    max_iter : int, default=1000
        Passes over the rows.
    space : Rankings, default=None
    random_state : int or RandomState, default=None
        Order in which rows are visited.
    verbose : int, default=0
        Progress on stderr, of what takes longer than two seconds.

    Attributes
    ----------
    coef_, intercept_ : arrays of shape (d, p) and (d,), with the linear kernel
    dual_coef_ : array of shape (n, d), with the other kernels
    objective_, duality_gap_ : float, at the end
    n_iter_ : int, passes over the rows
    space_, outputs_, reduction_ : see :class:`~skstruct.learners.label_ranking.base.LabelRanker`

    References
    ----------
    .. [1] A. Elisseeff, J. Weston, "A kernel method for multi-labelled classification",
       NIPS 2001.
    .. [2] S. Vembu, "Learning to predict combinatorial structures", 2010, section 3.4, with
       C for its lambda and half of its norm.

    Examples
    --------
    >>> X = [[0.0], [1.0], [2.0], [3.0]]
    >>> y = [[1, 2, 3], [1, 2, 3], [3, 2, 1], [3, 2, 1]]
    >>> LabelRankingSVM(C=10.0).fit(X, y).predict([[0.0], [3.0]])
    array([[1, 2, 3],
           [3, 2, 1]])
    """

    verbose = 0  # of models that were saved before there was a choice

    def __init__(
        self,
        C: float = 1.0,
        *,
        kernel: str = "linear",
        gamma: Any = None,
        degree: int = 3,
        coef0: int = 1,
        fit_intercept: bool = True,
        tol: float = 1e-3,
        max_iter: int = 1000,
        space: Any = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.space = space
        self.random_state = random_state
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._kernel_is("precomputed")
        return tags

    def _kernel_is(self, name: str) -> bool:
        return isinstance(self.kernel, str) and self.kernel == name

    def _inputs(self, X: Any) -> Any:
        return super()._inputs(X) if self._kernel_is("linear") else X

    def _weighed(self, sample_weight: Any, n: int) -> tuple[np.ndarray, np.ndarray]:
        """All rows: kernel values of those without weight come at prediction, too."""
        kept, weight = super()._weighed(sample_weight, n)
        whole = np.zeros(n)
        whole[kept] = weight
        return np.arange(n), whole

    def _learn(self, reduced: Any, weight: np.ndarray) -> None:
        if not (np.isfinite(self.C) and self.C > 0):
            raise ValueError(f"C must be positive; got {self.C!r}.")
        if not isinstance(self.max_iter, Integral) or self.max_iter < 1:
            raise ValueError(f"max_iter is a whole number from 1; got {self.max_iter!r}.")
        dual = DualProblem(reduced, self.C * weight)
        if self._kernel_is("linear"):
            self._solve(dual, *_linear_steps(dual))
            self._keep(np.ascontiguousarray(dual.weights.T))
            return
        self.kernel_ = InputKernel(
            self.kernel, gamma=self.gamma, degree=self.degree, coef0=self.coef0
        ).fit(reduced.X, weight)
        K = self.kernel_.gram(reduced.X)
        K += float(self.fit_intercept)
        self._solve(dual, *_kernel_steps(dual, K))
        self.X_fit_, self.dual_coef_ = reduced.X, dual.weights

    def _solve(
        self, dual: "DualProblem", epoch: Callable[..., Any], evaluate: Callable[..., Any]
    ) -> None:
        """Passes over the rows, in random order, until the gap is small."""
        rng, visited = check_random_state(self.random_state), np.flatnonzero(dual.upper)
        for n_iter in track(range(1, self.max_iter + 1), "passes", self.verbose):
            self.n_iter_ = n_iter
            epoch(rng.permutation(visited))
            scores, square = evaluate()
            self.objective_, value = dual.values(scores, square)
            self.duality_gap_ = max(0.0, self.objective_ - value)  # below zero by rounding only
            if self.duality_gap_ <= self.tol * self.objective_:
                return
        warnings.warn(
            f"LabelRankingSVM stopped after {self.max_iter} passes with a duality gap of "
            f"{self.duality_gap_:.2g} at the objective {self.objective_:.6g}: raise max_iter or "
            "tol, scale the inputs, or lower C.",
            ConvergenceWarning,
            stacklevel=4,
        )

    def _scores(self, X: Any) -> Any:
        if self._kernel_is("linear"):
            return super()._scores(X)
        return (self.kernel_(X, self.X_fit_) + float(self.fit_intercept)) @ self.dual_coef_


class DualProblem:
    """The variables of the dual, one per preference, and the value of both problems."""

    def __init__(self, preferences: Any, C: np.ndarray) -> None:  # C has shape (n,)
        self.preferences = preferences
        self.starts = preferences.starts
        self.upper = C / np.maximum(np.diff(self.starts), 1)  # shape: (n,)
        self.alpha = np.zeros(len(preferences.rows))
        self.weights = None

    def values(self, scores: np.ndarray, square: float) -> tuple[float, float]:
        """Primal and dual objective from scores (n, d) and the squared norm of w."""
        hinges = np.maximum(0.0, 1.0 - self.preferences.margins(scores))
        loss = float(self.upper[self.preferences.rows] @ hinges)
        return square / 2 + loss, float(self.alpha.sum()) - square / 2

    @property
    def pairs(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        return self.starts, self.preferences.better, self.preferences.worse, self.upper


def _linear_steps(dual: DualProblem) -> tuple[Callable[..., Any], Callable[..., Any]]:
    from skstruct.learners.label_ranking._numba import linear_epoch

    X = sparse.csr_array(dual.preferences.X)
    squares = row_norms(X, squared=True)
    dual.weights = np.zeros((X.shape[1], dual.preferences.n_items))

    def epoch(order: np.ndarray) -> None:
        rows = X.data, X.indices, X.indptr, squares
        linear_epoch(*rows, *dual.pairs, order, dual.alpha, dual.weights, SWEEPS, 0.0)

    return epoch, lambda: (dual.preferences.X @ dual.weights, float((dual.weights**2).sum()))


def _kernel_steps(
    dual: DualProblem, K: np.ndarray
) -> tuple[Callable[..., Any], Callable[..., Any]]:
    from skstruct.learners.label_ranking._numba import kernel_epoch

    dual.weights = np.zeros((len(K), dual.preferences.n_items))

    def epoch(order: np.ndarray) -> None:
        kernel_epoch(K, *dual.pairs, order, dual.alpha, dual.weights, SWEEPS, 0.0)

    def evaluate() -> tuple[np.ndarray, float]:
        scores = K @ dual.weights
        return scores, float((dual.weights * scores).sum())

    return epoch, evaluate
