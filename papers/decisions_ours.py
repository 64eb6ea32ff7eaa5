# SPDX-License-Identifier: BSD-3-Clause
"""Learners of this library in papers/decisions.py, all with their defaults.

Linear in the features: smoothing by ridge regression of the costs, its penalty chosen by left-out
regret; the structured support vector machine under the regret, which is SPO+ with a penalty; the
exponential family of best decisions, exact (paths alone: sums over knapsacks take long) or by
perturbed maxima. Nonlinear: what ``ConditionalRiskMinimizer`` does when nobody says how to smooth.

Electricity has features of each half hour, and one model of all: a regression of single values
stands in for the smoother, least squares or gradient boosting as scikit-learn has it, and SPO+ is
trained by the layer of ``skstruct.torch``, in as many steps as the peers take.
"""

from functools import partial

import numpy as np
from decisions_peers import Peer
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import LinearRegression

from skstruct import ConditionalRiskMinimizer, ExponentialFamily, StructuredSVM
from skstruct.losses import Cost, Regret

EPOCHS, BATCH, RATE = 20, 32, 0.01  # of SPO+ on electricity, as of the peers


class PerItem(RegressorMixin, BaseEstimator):
    """One regression of a single cost for all items, each with features of its own.

    Rows of X are the features of all items, one after the other; targets are a column per item and
    one of ones, whose mean is one.
    """

    def __init__(self, regressor, n_items):
        self.regressor = regressor
        self.n_items = n_items

    def fit(self, X, T):
        items = X.reshape(len(X) * self.n_items, -1)
        self.regressor_ = clone(self.regressor).fit(items, T[:, : self.n_items].ravel())
        return self

    def predict(self, X):
        items = X.reshape(len(X) * self.n_items, -1)
        costs = self.regressor_.predict(items).reshape(len(X), self.n_items)
        return np.hstack([costs, np.ones((len(X), 1))])


def decided(make, X, C, X_test, problem, seed):
    """Decisions of a learner, in canonical form."""
    sense = "min" if problem.sense > 0 else "max"
    model = make(problem.space, sense, seed)
    model.fit(X, np.asarray(C, dtype=np.float64))
    return problem.space.embed(problem.space.validate(model.predict(X_test))).astype(np.int8)


def smoothed(space, sense, seed, **options):
    return ConditionalRiskMinimizer(space, Regret(sense), random_state=seed, **options)


def margins(space, sense, seed):
    return StructuredSVM(space, Regret(sense), random_state=seed)


def family(space, sense, seed, solver):
    return ExponentialFamily(space, Regret(sense), solver=solver, random_state=seed)


def per_item(regressor, X, C, X_test, problem, seed):
    """Decisions by one regression of all items."""
    n_items = X.shape[1]
    smoother = PerItem(regressor, n_items)
    model = ConditionalRiskMinimizer(problem.space, Cost("max"), smoother=smoother)
    flat, flat_test = X.reshape(len(X), -1), X_test.reshape(len(X_test), -1)
    return np.asarray(model.fit(flat, C).predict(flat_test), dtype=np.int8)


def layer(X, C, X_test, problem, seed):
    """SPO+ by ``skstruct.torch``: one linear layer for the features of every item."""
    import torch

    from skstruct.torch import SPOPlusLoss

    torch.set_num_threads(1)
    torch.manual_seed(seed)
    C = np.asarray(C, np.float32) / np.abs(C).mean()
    rows = [torch.as_tensor(np.asarray(part, np.float32)) for part in (X, C)]
    predictor = torch.nn.Sequential(torch.nn.Linear(X.shape[2], 1), torch.nn.Flatten(1))
    loss = SPOPlusLoss(problem.space, sense="min" if problem.sense > 0 else "max")
    optimizer = torch.optim.Adam(predictor.parameters(), lr=RATE)
    for _ in range(EPOCHS * max(1, 1000 // len(X))):
        for part in torch.randperm(len(X)).split(BATCH):
            optimizer.zero_grad()
            loss(predictor(rows[0][part]), rows[1][part]).backward()
            optimizer.step()
    with torch.no_grad():
        predicted = predictor(torch.as_tensor(np.asarray(X_test, np.float32))).numpy()
    return problem.decide(predicted)[0]


def by_features(whole, items):
    """One way for features of a row, and another for features of every item."""

    def decide(X, *others):
        return (whole if X.ndim == 2 else items)(X, *others)

    return decide


linear = partial(smoothed, smoother="kernel_ridge", kernel="linear")
OURS = [
    Peer(
        "skstruct, smoothing", True,
        by_features(partial(decided, linear), partial(per_item, LinearRegression())),
    ),
    Peer("skstruct, SPO+", True, by_features(partial(decided, margins), layer)),
    Peer(
        "skstruct, likelihood", True, partial(decided, partial(family, solver="exact")),
        only=("grid",),
    ),
    Peer(
        "skstruct, perturbed", True, partial(decided, partial(family, solver="perturbed")),
        only=("grid", "knapsack", "knapsack2", "tours"),
    ),
    Peer(
        "skstruct, default", False,
        by_features(partial(decided, smoothed), partial(per_item, HistGradientBoostingRegressor())),
    ),
]  # fmt: skip
