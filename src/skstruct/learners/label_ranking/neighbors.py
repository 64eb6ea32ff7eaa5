# SPDX-License-Identifier: BSD-3-Clause
"""Label ranking by the rankings of neighbors, joined under a loss."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from skstruct._arrays.methods import all_or_nothing
from skstruct._arrays.progress import reported, track
from skstruct.learners.conditional_risk.learner import ConditionalRiskMinimizer
from skstruct.learners.label_ranking.base import LabelRanker
from skstruct.learners.label_ranking.reductions import PreferenceReduction
from skstruct.learners.leave_out import LeaveOutSearch, twins
from skstruct.learners.problem import risk_problem
from skstruct.losses import resolve_loss
from skstruct.saving import savable
from skstruct.smoothing import Neighbors
from skstruct.spaces import Rankings
from skstruct.spaces.rankings.partial import expected_ranks

NUMBERS = (64, 32, 16, 8, 4, 2, 1)  # of neighbors: "auto"


@savable
class NeighborLabelRanker(LabelRanker):
    r"""Predict the ranking of least loss to those of the nearest training rows.

    .. math:: \hat z(x) = \arg\min_z \sum_i w_i(x)\, \ell(z, y_i)

    with weights on the k nearest rows [1]_ [2]_. Under Kendall's loss this is the Kemeny
    consensus, found exactly for up to 20 items; under Spearman's it is a sort of the mean
    ranks. Partial rankings count as all orders that agree with them.

    Parameters
    ----------
    space : Rankings, default=None
    loss : str or loss, default="kendall"
        Any loss of rankings.
    n_neighbors : int, several, or "auto", default="auto"
        Several are compared by the loss itself, each row left out in turn; "auto" tries
        the powers of two up to 64.
    weights : "uniform" or "distance", default="distance"
    metric : str or callable, default="minkowski"
        As in :class:`sklearn.neighbors.NearestNeighbors`, also "precomputed".
    n_jobs : int, default=None
    verbose : int, default=0
        Progress on stderr, of what takes longer than two seconds.

    Attributes
    ----------
    n_neighbors_ : int, the number chosen
    model_ : ConditionalRiskMinimizer
        The fitted model: ``decode``, ``kbest``, ``explain`` and ``predict_risk`` are there.
    search_ : LeaveOutSearch or None, the numbers tried with their left-out risks
    space_, outputs_, reduction_ : see :class:`~skstruct.learners.label_ranking.base.LabelRanker`

    References
    ----------
    .. [1] K. Brinker, E. Hüllermeier, "Case-based label ranking", ECML 2006.
    .. [2] S. Vembu, "Learning to predict combinatorial structures", 2010, section 3.7.

    Examples
    --------
    >>> X = [[0.0], [1.0], [2.0], [3.0]]
    >>> y = [["tea", "rum"], ["tea", "rum"], ["rum", "tea"], ["rum", "tea"]]
    >>> NeighborLabelRanker(n_neighbors=2).fit(X, y).predict([[0.4]])[0]
    ['tea', 'rum']
    """

    def __init__(
        self,
        space: Any = None,
        loss: Any = "kendall",
        *,
        n_neighbors: Any = "auto",
        weights: str = "distance",
        metric: Any = "minkowski",
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.space = space
        self.loss = loss
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.metric = metric
        self.n_jobs = n_jobs
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = isinstance(self.metric, str) and self.metric == "precomputed"
        return tags

    def _numbers(self, n: float) -> list[Any]:
        if isinstance(self.n_neighbors, str):
            if self.n_neighbors != "auto":
                raise ValueError(
                    f'n_neighbors is a whole number, several, or "auto"; got {self.n_neighbors!r}.'
                )
            return [k for k in NUMBERS if k < n] or [1]
        numbers = np.ravel(self.n_neighbors).tolist()
        if not numbers or not all(isinstance(k, int) and k > 0 for k in numbers):
            raise ValueError(
                f"n_neighbors must be a whole number of at least 1, or several; got "
                f"{self.n_neighbors!r}."
            )
        return sorted(numbers, reverse=True)  # ties go to the smoother model

    def _reduction(self, space: Rankings) -> Any:
        return RiskReduction(space, resolve_loss(self.loss), self.outputs_)

    @reported
    @all_or_nothing
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from inputs ``X`` (n, p) and rankings ``y`` in any format the space reads.

        Parameters
        ----------
        sample_weight : array of shape (n,), default=None
            A row of weight s counts as s rows among the neighbors.
        """
        n = self._begin(X, y).shape[0]
        rows, weight = self._weighed(sample_weight, n)
        self._check_accepted(self.outputs_[rows])
        numbers = self._numbers(weight.sum())
        self._announce()
        smoother = Neighbors(numbers[0], self.weights, self.metric, self.n_jobs)
        space = Rankings() if self.space is None else self.space
        self.model_ = ConditionalRiskMinimizer(space, self.loss, smoother=smoother)
        self.model_._halves_open_pairs = True  # its rankings are those of least mean loss
        self.model_.fit(X, y, sample_weight)
        del self.model_._halves_open_pairs
        self.search_ = self._search(numbers) if len(numbers) > 1 else None
        return self

    def _search(self, numbers: list[int]) -> LeaveOutSearch:
        """Left-out risks of several numbers of neighbors; the model takes the best."""
        model, search, weight = self.model_, LeaveOutSearch(), self.model_.smoother_.sample_weight_
        groups = twins(model.smoother_.X_fit_, self.outputs_)
        for k in track(numbers, "numbers of neighbors", self.verbose):
            left = model.smoother_.set_params(n_neighbors=k).loo(groups)
            search.add({"n_neighbors": k, "risk": model.problem_.realized(left, "1GB", weight)})
        assert search.best is not None
        model.smoother_.set_params(n_neighbors=search.best["n_neighbors"])
        return search

    @property
    def n_neighbors_(self) -> int:
        return self.model_.smoother_.n_neighbors

    def _scores(self, X: Any) -> Any:
        """Minus the mean position that the neighbors give each item."""
        return -self.model_.smoother_.with_targets(expected_ranks(self.outputs_)).predict(X)

    def _ranks(self, X: Any, restrict: dict[str, Any] | None = None, loss: Any = None) -> Any:
        problem, smoother = self.model_._prepared(loss, restrict)
        return self.model_._in_blocks(X, problem, smoother, problem.decode).outputs

    def predict(self, X: Any, *, loss: Any = None, restrict: dict[str, Any] | None = None) -> Any:
        """Rankings in the format in which ``y`` was given.

        Parameters
        ----------
        loss : str or loss, default=None
            Another loss than that of training; nothing is fitted again.
        restrict : dict, default=None
            Arguments of :meth:`skstruct.spaces.Rankings.restrict`, such as ``{"top": 3}``.
        """
        X, index = self._checked(X)
        return self.space_.restore(self._ranks(X, restrict, loss), index)


@savable
@dataclass(frozen=True)
class RiskReduction(PreferenceReduction):
    """Label ranking as regression of embedded rankings; their means are decoded.

    ``outputs`` are the training outputs, which a loss of any other kind chooses from.
    """

    loss: Any
    outputs: np.ndarray

    def apply(self, X: Any, Z: np.ndarray) -> Any:
        """Inputs, and targets (n, q + 1): psi of the outputs and a column of ones."""
        return X, risk_problem(self.space, self.loss, Z).targets()

    def invert(self, answers: np.ndarray) -> Any:
        """Rankings of least risk for conditional means of the targets."""
        return risk_problem(self.space, self.loss, self.outputs).decode(answers).outputs
