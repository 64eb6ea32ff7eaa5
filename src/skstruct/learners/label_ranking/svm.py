# SPDX-License-Identifier: BSD-3-Clause
"""Support vector machine for label ranking: a margin for every ordered pair."""

import warnings
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from skstruct._arrays.progress import track
from skstruct.learners.features import KernelSettings
from skstruct.learners.label_ranking.base import LinearLabelRanker
from skstruct.learners.label_ranking.margin_dual import DualProblem, RankingPath
from skstruct.learners.label_ranking.subgraphs import (
    SubgraphReduction,
    check_decomposition,
    check_margin,
)
from skstruct.learners.leave_out import LeaveOutSearch
from skstruct.learners.penalty_path import (
    check_alpha,
    choose_alpha,
    split_rows,
    without_copies,
)
from skstruct.saving import savable


@savable
class LabelRankingSVM(LinearLabelRanker):
    r"""Rank items by scores with a margin between every pair that a row orders.

    .. math:: \min_w \tfrac\alpha2 \sum_j \|w_j\|^2 + \frac1n \sum_i \frac{1}{S_i}
              \sum_{s \le S_i} \max_{(p, q) \in E_{is}} \max(0, \gamma_{ipq} - \langle w_p - w_q,
              x_i \rangle)

    with the pairs of row i, p before q, cut into subgraphs :math:`E_{is}`, by default of one pair
    each, and margins :math:`\gamma_{ipq}` of one [1]_ [2]_ or as large as the difference of what y
    says of p and q [3]_. Solved in the dual, :math:`\max \alpha\, (\sum_e \gamma_e a_e - \tfrac12
    \|w(a)\|^2)` with :math:`a_e \ge 0` that sum to :math:`1 / (\alpha n S_i)` at most in every
    subgraph, by ascent over the pairs of one row at a time, until the gap between both values says
    that it is solved.

    Parameters
    ----------
    space : Rankings, default=None
    alpha : float, several, or "auto", default="auto"
        Weight of the penalty. Several are compared by the share of pairs in the wrong order of
        left-out rows (Kendall's loss): five folds, or a fifth of more than a thousand rows once,
        from strong to weak, all of them. "auto" tries half decades over five decades,
        from twice the mean square of the inputs. Where fewer than five rows leave nothing to
        compare by, it is a hundredth of that.
    kernel : str, kernel or callable, default="linear"
        A name, an object of :mod:`skstruct.kernels`, or a callable; positive semidefinite. All
        but "linear" keep the Gram matrix of the training rows.
    decomposition : "pairs", "better-items", "worse-items" or "whole", default="pairs"
        The subgraphs, of which the largest hinge counts: single pairs; an item with all items that
        come after it, or with all that come before it; all pairs of a row.
    margin : "unit" or "feedback", default="unit"
        By how much scores of a pair are to differ: by one, or by as much as the numbers of its
        items in y do. These are ratings where the space is ``Rankings(scores=True)``, and ranks
        else; equal ones, and those that are NaN, ask for nothing.
    fit_intercept : bool, default=True
        One is added to the kernel; with "linear" this is a constant feature. The
        intercepts are penalized like the weights.
    tol : float, default=1e-3
        Duality gap to reach, as a share of the objective.
    max_iter : int, default=1000
        Passes over the rows.
    verbose : int, default=0
        Progress on stderr, of what takes longer than two seconds.
    random_state : int or RandomState, default=None
        Order in which rows are visited, and which of them are left out together.

    Attributes
    ----------
    alpha_ : float, the penalty
    search_ : LeaveOutSearch or None, the penalties tried with their left-out losses
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
       :math:`1 / (n \alpha)` for its lambda and half of its norm.
    .. [3] S. Shalev-Shwartz, Y. Singer, "Efficient learning of label ranking by soft projections
       onto polyhedra", JMLR 7, 2006.

    Examples
    --------
    >>> X = [[0.0], [1.0], [2.0], [3.0]]
    >>> y = [[1, 2, 3], [1, 2, 3], [3, 2, 1], [3, 2, 1]]
    >>> LabelRankingSVM(alpha=0.025).fit(X, y).predict([[0.0], [3.0]])
    array([[1, 2, 3],
           [3, 2, 1]])

    Ratings may say by how much scores are to differ:

    >>> from skstruct.spaces import Rankings
    >>> ratings = [[4.0, 0.0], [2.0, 0.0], [1.0, float("nan")], [0.0, 2.0]]
    >>> model = LabelRankingSVM(Rankings(scores=True), alpha=1e-6, margin="feedback", tol=1e-6)
    >>> scores = model.fit(X, ratings).decision_function(X)
    >>> [round(float(s[0] - s[1]), 2) + 0.0 for s in scores]
    [4.0, 2.0, 0.0, -2.0]
    """

    kernel_: Any
    X_fit_: Any
    dual_coef_: np.ndarray

    def __init__(
        self,
        space: Any = None,
        *,
        alpha: Any = "auto",
        kernel: Any = "linear",
        decomposition: str = "pairs",
        margin: str = "unit",
        fit_intercept: bool = True,
        tol: float = 1e-3,
        max_iter: int = 1000,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.space = space
        self.alpha = alpha
        self.kernel = kernel
        self.decomposition = decomposition
        self.margin = margin
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.verbose = verbose
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._kernel_is("precomputed")
        return tags

    def _kernel_is(self, name: str) -> bool:
        return isinstance(self.kernel, str) and self.kernel == name

    def _reduction(self, space: Any) -> Any:
        check_margin(self.margin)
        return SubgraphReduction(space, check_decomposition(self.decomposition), self.margin)

    def _inputs(self, X: Any) -> Any:
        return super()._inputs(X) if self._kernel_is("linear") else X

    def _weighed(self, sample_weight: Any, n: int) -> tuple[np.ndarray, np.ndarray]:
        """All rows: kernel values of those without weight come at prediction, too."""
        kept, weight = super()._weighed(sample_weight, n)
        whole = np.zeros(n)
        whole[kept] = weight
        return np.arange(n), whole

    def _learn(self, reduced: Any, weight: np.ndarray) -> None:
        check_alpha(self.alpha)
        if not isinstance(self.max_iter, Integral) or self.max_iter < 1:
            raise ValueError(f"max_iter is a whole number from 1; got {self.max_iter!r}.")
        linear, K = self._kernel_is("linear"), None
        if not linear:
            self.kernel_ = KernelSettings(self.kernel)._fitted_kernel(reduced.X, weight)
            K = self.kernel_.gram(reduced.X)
            K += float(self.fit_intercept)
        self.alpha_, self.search_ = self._chosen(reduced, K, weight)
        dual = DualProblem(reduced, weight, K)
        rng = check_random_state(self.random_state)
        passes = track(range(1, self.max_iter + 1), "passes", self.verbose)
        if not dual.solve(self.alpha_, self.tol, passes, rng):
            warnings.warn(
                f"LabelRankingSVM stopped after {self.max_iter} passes with a duality gap of "
                f"{dual.gap:.2g} at the objective {dual.objective:.6g}: raise max_iter or "
                "tol, scale the inputs, or raise alpha.",
                ConvergenceWarning,
                stacklevel=4,
            )
        self.n_iter_, self.objective_, self.duality_gap_ = dual.n_iter, dual.objective, dual.gap
        if linear:
            self._keep(np.ascontiguousarray(dual.weights.T))
        else:
            self.X_fit_, self.dual_coef_ = reduced.X, dual.weights

    def _chosen(
        self, reduced: Any, K: np.ndarray | None, weight: np.ndarray
    ) -> tuple[float, LeaveOutSearch | None]:
        X = None if self._kernel_is("precomputed") else reduced.X
        weight = without_copies(X, self.outputs_, weight)
        path = RankingPath(self, reduced, K, weight)
        return choose_alpha(
            self.alpha,
            path,
            lambda: split_rows(self.outputs_, weight, self.random_state, X),
            weight,
            self.verbose,
        )

    def _scores(self, X: Any) -> Any:
        if self._kernel_is("linear"):
            return super()._scores(X)
        return (self.kernel_(X, self.X_fit_) + float(self.fit_intercept)) @ self.dual_coef_
