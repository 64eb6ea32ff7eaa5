# SPDX-License-Identifier: BSD-3-Clause
"""Regressors of several numbers for papers/defaults.py: quantities, and ranks of items.

Targets are centred and divided by one common scale, in which the measures add up. Settings are
chosen by the measure itself: on out-of-bag predictions of forests, on three folds for all others.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from sklearn.ensemble import (
    ExtraTreesRegressor,
    HistGradientBoostingRegressor,
    RandomForestRegressor,
)
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold
from sklearn.multioutput import MultiOutputRegressor
from sklearn.neighbors import KNeighborsRegressor
from sklearn.neural_network import MLPRegressor
from sklearn.svm import SVR

N_TREES = 300


@dataclass(frozen=True)
class RegressionPeer:
    """``make(setting, n_columns, measure)`` gives a regressor of scikit-learn."""

    name: str
    settings: tuple[Any, ...]
    make: Callable[..., Any]
    out_of_bag: bool = False
    by_measure: bool = False  # another regressor for each measure
    largest: float = np.inf  # rows * columns of X * targets

    def fits(self, X, Y):
        return X.shape[0] * X.shape[1] * np.atleast_2d(Y.T).shape[0] <= self.largest

    def predictions(self, X, Y, X_test, measures, finish, clock):
        """Name of each measure, what is predicted, CPU seconds, and the setting chosen."""
        center, scale = Y.mean(axis=0), max(float(Y.std()), 1e-4)
        T, trials, shared = (Y - center) / scale, None, 0.0
        for measure in measures:
            start = clock()
            if trials is None or self.by_measure:
                trials = self.trials(X, T, measure.name)
                shared, start = clock() - start, clock()
            losses = [measure.value(finish(Z * scale + center), Y) for Z in trials]
            best = self.settings[int(np.argmin(losses))]
            model = self.fitted(X, T, best, measure.name)
            predicted = finish(model.predict(X_test) * scale + center)
            yield measure.name, predicted, shared + clock() - start, str(best)

    def fitted(self, X, T, setting, measure):
        make = self.make(setting, X.shape[1], measure)
        several = T.ndim == 2 and isinstance(make, (SVR, HistGradientBoostingRegressor))
        return (MultiOutputRegressor(make) if several else make).fit(X, T)

    def trials(self, X, T, measure):
        """Left-out predictions for each setting."""
        if self.out_of_bag:
            return [self.fitted(X, T, one, measure).oob_prediction_ for one in self.settings]
        found = [np.empty(T.shape) for _ in self.settings]
        for rows, held in KFold(3, shuffle=True, random_state=0).split(X):
            for Z, setting in zip(found, self.settings):
                Z[held] = self.fitted(X[rows], T[rows], setting, measure).predict(X[held])
        return found


def forest(kind):
    def make(leaf, n_columns, measure):
        return kind(
            N_TREES, min_samples_leaf=leaf, max_features=max(1, n_columns // 3),
            bootstrap=True, oob_score=True, random_state=0,
        )  # fmt: skip

    return make


def network(alpha, n_columns, measure):
    return MLPRegressor(alpha=alpha, max_iter=300, random_state=0)


def neighbors(k, n_columns, measure):
    return FewNeighbors(k, weights="distance")


class FewNeighbors(KNeighborsRegressor):
    """Neighbors, at most as many as there are rows."""

    def fit(self, X, y):
        self.n_neighbors = min(self.n_neighbors, len(X))
        return super().fit(X, y)


def machine(setting, n_columns, measure):
    C, epsilon = setting
    return SVR(C=C, epsilon=epsilon)


def kernel_ridge(setting, n_columns, measure):
    alpha, width = setting
    return KernelRidge(kernel="rbf", alpha=alpha, gamma=width / n_columns)


def boosting(rate, n_columns, measure):
    loss = "absolute_error" if measure == "absolute" else "squared_error"
    return HistGradientBoostingRegressor(loss=loss, learning_rate=rate, random_state=0)


SHARED = (
    RegressionPeer("random forest", (1, 3, 8), forest(RandomForestRegressor), out_of_bag=True),
    RegressionPeer("extra trees", (1, 3, 8), forest(ExtraTreesRegressor), out_of_bag=True),
    RegressionPeer("network", (1e-4, 1e-2, 1.0), network),
    RegressionPeer("neighbors", (3, 5, 10, 20, 40), neighbors),
)
RANK_PEERS = SHARED
REGRESSION_PEERS = (
    RegressionPeer("ridge", tuple(10.0 ** np.arange(-2, 4)), lambda a, n, m: Ridge(alpha=a)),
    RegressionPeer(
        "RBF ridge", tuple(product((0.01, 0.1, 1.0), (0.25, 1.0, 4.0))), kernel_ridge
    ),
    RegressionPeer(
        "SVR", tuple(product((0.3, 3.0, 30.0), (0.01, 0.2))), machine, largest=2e6
    ),
    RegressionPeer("boosting", (0.03, 0.1), boosting, by_measure=True, largest=2e6),
    *SHARED,
)  # fmt: skip
