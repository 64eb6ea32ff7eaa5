# SPDX-License-Identifier: BSD-3-Clause
"""Boosting for label ranking: regression trees on the gradient of a loss of preference graphs,
which are cut into subgraphs.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from skstruct._arrays.progress import track
from skstruct.learners.label_ranking.base import LabelRanker, weight_argument
from skstruct.learners.label_ranking.subgraphs import (
    SubgraphReduction,
    Subgraphs,
    check_decomposition,
)
from skstruct.saving import check_trees, savable
from skstruct.tolerances import BOOSTED_TARGET

MOST_HALVINGS = 30  # of a step that does not lower the loss


@savable
class LabelRankingBoosting(LabelRanker):
    r"""Rank items by a sum of regression trees, one score per item.

    The preferences of a row are cut into subgraphs: every pair by itself, all pairs with the
    same better item, all with the same worse item, or not at all. Of these a share is wrong (a
    subgraph is wrong if one of its pairs is), and

    .. math:: \frac1n \sum_i \frac{1}{S_i} \sum_{s \le S_i} \log_2 \Bigl(1 + \sum_{(p, q) \in
              E_{is}} e^{f(x_i, q) - f(x_i, p)} \Bigr)

    bounds it from above [1]_ [2]_. Boosting lowers the bound: every round fits a
    multi-output regressor to the negative gradient, finds the length of the step by
    Newton's rule, and goes a part of it.

    Parameters
    ----------
    space : Rankings, default=None
    estimator : regressor, default=None
        With several outputs. A tree of depth 4 when None.
    n_estimators : int, default=200
        Rounds at most; fewer when no step lowers the loss.
    learning_rate : float, default=0.1
        Part of every step that is gone.
    decomposition : "pairs", "better-items", "worse-items" or "whole", default="pairs"
        What is right or wrong as a whole: a pair; an item with all items that come after it, or
        with all that come before it; a ranking. "items" is "better-items".
    random_state : int or RandomState, default=None
        Passed to an estimator that takes one and has none.
    verbose : int, default=0
        Progress on stderr, of what takes longer than two seconds.

    Attributes
    ----------
    estimators_ : list of fitted regressors
    steps_ : list of float, the factor of each
    train_loss_ : array, the bound before the first round and after each; it falls
    space_, outputs_, reduction_ : see :class:`~skstruct.learners.label_ranking.base.LabelRanker`

    References
    ----------
    .. [1] O. Dekel, C. Manning, Y. Singer, "Log-linear models for label ranking", NIPS 2003.
    .. [2] S. Vembu, "Learning to predict combinatorial structures", 2010, section 3.3.

    Examples
    --------
    >>> X = [[0.0], [1.0], [2.0], [3.0]]
    >>> y = [[1, 2, 3], [2, 1, 3], [3, 2, 1], [1, 3, 2]]
    >>> model = LabelRankingBoosting(n_estimators=30).fit(X, y)
    >>> model.predict(X).tolist() == y, bool(model.train_loss_[-1] < model.train_loss_[0])
    (True, True)
    """

    def __init__(
        self,
        space: Any = None,
        *,
        estimator: Any = None,
        n_estimators: int = 200,
        learning_rate: float = 0.1,
        decomposition: str = "pairs",
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.space = space
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.decomposition = decomposition
        self.verbose = verbose
        self.random_state = random_state

    def _reduction(self, space: Any) -> Any:
        check_decomposition(self.decomposition)
        if not isinstance(self.n_estimators, Integral) or self.n_estimators < 1:
            raise ValueError(f"n_estimators is a whole number from 1; got {self.n_estimators!r}.")
        if not 0 < self.learning_rate <= 1:
            raise ValueError(f"learning_rate is in (0, 1]; got {self.learning_rate!r}.")
        return SubgraphReduction(space, self.decomposition)

    # ------------------------------------------------------------------ fitting
    def _learn(self, reduced: Any, weight: np.ndarray) -> None:
        reduced = replace(reduced, row_weight=weight)
        scores = np.zeros((reduced.X.shape[0], reduced.n_items))
        loss, shares = reduced.evaluate(scores)
        self.estimators_, self.steps_, losses = [], [], [loss]
        base, rng = self._base(), check_random_state(self.random_state)
        given = weight_argument(base, weight)
        takes_seed = base.get_params(deep=False).get("random_state", 0) is None
        for _ in track(range(self.n_estimators), "boosting", self.verbose):
            seed = {"random_state": rng.randint(2**31 - 1)} if takes_seed else {}
            # As large for any number of rows; a row of weight two is fitted twice.
            gradient = weight.sum() / weight[:, None] * reduced.gradient(shares)
            # Trees take any split that is better by a bit: last bits must not decide.
            targets = -BOOSTED_TARGET * np.rint(gradient / BOOSTED_TARGET)
            estimator = clone(base).set_params(**seed).fit(reduced.X, targets, **given)
            direction = _outputs(estimator, reduced.X, reduced.n_items)
            step, loss, shares = self._step(reduced, scores, direction, loss, shares)
            if step == 0.0:
                break
            scores += step * direction
            self.estimators_.append(estimator)
            self.steps_.append(step)
            losses.append(loss)
        self.train_loss_ = np.array(losses)

    def _check_saved(self) -> None:
        check_trees(self)

    def _base(self) -> Any:
        if self.estimator is not None:
            return self.estimator
        from sklearn.tree import DecisionTreeRegressor  # slow to import

        return DecisionTreeRegressor(max_depth=4)

    def _step(
        self,
        reduced: Subgraphs,
        scores: np.ndarray,
        direction: np.ndarray,
        loss: Any,
        shares: np.ndarray,
    ) -> tuple[float, float, np.ndarray]:
        """Part of a Newton step, halved until the loss falls; 0 where it does not."""
        slope, curvature = reduced.derivatives(shares, direction)
        step = -self.learning_rate * slope / curvature if curvature > 0.0 > slope else 0.0
        for _ in range(MOST_HALVINGS if step else 0):
            new_loss, new_shares = reduced.evaluate(scores + step * direction)
            if new_loss < loss:
                return step, new_loss, new_shares
            step /= 2
        return 0.0, loss, shares

    # ------------------------------------------------------------------ predicting
    def _staged(self, X: Any) -> Iterator[np.ndarray]:
        """Scores after 0, 1, 2, ... rounds, in one array that changes."""
        scores = np.zeros((X.shape[0], self.outputs_.shape[1]))
        yield scores
        for step, estimator in zip(self.steps_, self.estimators_):
            scores += step * _outputs(estimator, X, scores.shape[1])
            yield scores

    def _scores(self, X: Any) -> np.ndarray:
        return deque(self._staged(X), maxlen=1)[0]  # the last of them

    def staged_predict(self, X: Any) -> Iterator[np.ndarray]:
        """Predictions after 1, 2, ... rounds, one after another."""
        X, index = self._checked(X)
        for number, scores in enumerate(self._staged(X)):
            if number:
                yield self.space_.restore(self._inverted(scores), index)


def _outputs(estimator: Any, X: Any, d: int) -> np.ndarray:
    return np.asarray(estimator.predict(X), dtype=np.float64).reshape(X.shape[0], d)
