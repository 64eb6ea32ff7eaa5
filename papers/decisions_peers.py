# SPDX-License-Identifier: BSD-3-Clause
"""Peers of papers/decisions.py: each is given (X, C, X_test, problem, seed), and returns decisions
for the rows of test and the CPU seconds of learning, predicting and deciding.

*Two stages*: costs are predicted by least squares or a forest (scikit-learn's, as it is), and the
prediction is optimised.

*PyEPO* (Tang and Khalil, 2024; tried with 2.2.7): a linear predictor that is trained through the
problem, as in its notebook and the recipes of its manual: Adam with steps of .01, batches of 32
rows, 20 epochs, but as many steps for fewer than 1,000 rows (200 epochs of 100). Costs are divided
by their mean size on the training rows, which changes no decision: a step then means the same for
costs of one and of hundreds (on knapsacks and tours SPO+ is nearly the same without). Problems are
solved by this library's exact solvers, which answer single rows, as PyEPO asks for them, 2 times
(paths) to 18 times (two capacities) faster than its own models with OR-tools; those are taken
instead with solver="ortools", where there are any (paths, knapsacks). Its methods have the settings
that its manual shows.
"""

import logging
import time
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from io import StringIO

import numpy as np
from decisions_problems import GridPaths, Knapsack
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression

EPOCHS, ROWS, BATCH, RATE = 20, 1000, 32, 0.01
HIDDEN = 32
INSTALL = "pip install pyepo ortools"


@dataclass(frozen=True)
class Peer:
    """How costs are predicted, and which decisions that ends in."""

    name: str
    linear: bool
    decide: object  # of X, C, X_test, problem, seed; decisions
    needs: str = "sklearn"
    only: tuple = ()  # names of the problems that it is tried on; all where there are none

    @property
    def is_installed(self):
        return find_spec(self.needs) is not None

    def __call__(self, X, C, X_test, problem, seed):
        problem.decide(np.asarray(C[:2]))  # compiled before the clock starts
        if self.needs == "pyepo":
            import pyepo  # noqa: F401
        start = time.process_time()
        decisions = self.decide(X, C, X_test, problem, seed)
        return decisions, time.process_time() - start


# ---------------------------------------------------------------------- two stages
def two_stages(make, X, C, X_test, problem, seed):
    """Of costs with features of their own, one model predicts all."""
    model = make(seed)
    if X.ndim == 2:
        predicted = model.fit(X, C).predict(X_test)
    else:
        model.fit(X.reshape(-1, X.shape[2]), C.ravel())
        predicted = model.predict(X_test.reshape(-1, X.shape[2])).reshape(len(X_test), -1)
    return problem.decide(predicted)[0]


def least_squares(seed):
    return LinearRegression()


def forest(seed):
    return RandomForestRegressor(random_state=seed)


# ---------------------------------------------------------------------- PyEPO
def pyepo_model(problem, solver):
    """A problem as PyEPO knows them."""
    if solver == "ortools":
        from pyepo.model.ort import knapsackModel, shortestPathModel

        if isinstance(problem, GridPaths):
            return shortestPathModel((problem.height, problem.width))
        if isinstance(problem, Knapsack):
            return knapsackModel(problem.weights, problem.capacities)
        raise ValueError("PyEPO has no model of tours for OR-tools.")
    return _own_model()(problem)


def _own_model():
    from pyepo import EPO
    from pyepo.model.opt import optModel

    class OwnSolver(optModel):
        """Rows one by one, as PyEPO asks for them."""

        def __init__(self, problem):
            self.decider = problem  # PyEPO has another meaning for self.problem
            super().__init__()
            self.modelSense = EPO.MINIMIZE if problem.sense > 0 else EPO.MAXIMIZE

        def _getModel(self):
            return None, range(self.decider.n_costs)

        def setObj(self, c):
            self.costs = np.asarray(c, dtype=np.float64)[None]

        def solve(self):
            decisions, values = self.decider.decide(self.costs)
            return decisions[0].astype(np.float32), float(values[0])

    return OwnSolver


def trained(method, X, C, X_test, problem, seed, *, network=False, solver="own", scaled=True):
    """Decisions for new rows of a predictor that was trained through the problem."""
    import torch
    from pyepo.data.dataset import optDataset
    from torch.utils.data import DataLoader

    torch.set_num_threads(1)
    torch.manual_seed(seed)
    C = np.asarray(C, dtype=np.float32) / (np.abs(C).mean() if scaled else 1)
    model = pyepo_model(problem, solver)
    logging.getLogger("pyepo").setLevel(logging.WARNING)
    with redirect_stdout(StringIO()), redirect_stderr(StringIO()):  # bars of progress
        rows = optDataset(model, np.asarray(X, dtype=np.float32), C)
    loss = METHODS[method](model, rows)
    predictor = _predictor(X, C, network)
    optimizer = torch.optim.Adam(predictor.parameters(), lr=RATE)
    for _ in range(EPOCHS * max(1, ROWS // len(X))):
        for x, c, w, z in DataLoader(rows, batch_size=BATCH, shuffle=True):
            value = loss(predictor(x), c, w, z)
            optimizer.zero_grad()
            value.backward()
            optimizer.step()
    with torch.no_grad():
        predicted = predictor(torch.as_tensor(X_test, dtype=torch.float32)).numpy()
    return problem.decide(predicted)[0]


def _predictor(X, C, network):
    from torch import nn

    n_features, n_outputs = X.shape[-1], C.shape[1] if X.ndim == 2 else 1
    layers = [nn.Linear(n_features, n_outputs)]
    if network:
        layers = [nn.Linear(n_features, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, n_outputs)]
    if X.ndim == 3:
        layers.append(nn.Flatten(1))
    return nn.Sequential(*layers)


def _of_costs_and_solutions(name, **settings):
    return lambda model, rows: _function(name, model, settings)


def _of_costs(name, **settings):
    def make(model, rows):
        loss = _function(name, model, _pooled(settings, rows))
        return lambda predicted, c, w, z: loss(predicted, c)

    return make


def _of_solutions(name, **settings):
    def make(model, rows):
        loss = _function(name, model, _pooled(settings, rows))
        return lambda predicted, c, w, z: loss(predicted, w)

    return make


def _imitating(name, distance, **settings):
    """Distance of an expected decision to the best one: "mse" or "l1"."""

    def make(model, rows):
        layer, far = _function(name, model, settings), _distance(distance)
        return lambda predicted, c, w, z: far(layer(predicted), w)

    return make


def _priced(name, **settings):
    """Distance of what a decision costs to the least cost."""

    def make(model, rows):
        layer, far = _function(name, model, settings), _distance("l1")
        return lambda predicted, c, w, z: far((layer(predicted) * c).sum(1, keepdim=True), z)

    return make


def _function(name, model, settings):
    import pyepo.func

    return getattr(pyepo.func, name)(model, processes=1, **settings)


def _pooled(settings, rows):
    return {**settings, "dataset": rows} if "solve_ratio" in settings else settings


def _distance(name):
    from torch import nn

    return {"mse": nn.MSELoss, "l1": nn.L1Loss}[name]()


POOL = 0.05  # of batches whose decisions are found anew; others are the best known ones
METHODS = {
    "SPO+": _of_costs_and_solutions("SPOPlus"),
    "PG": _of_costs("PG", sigma=0.1),
    "PFY": _of_solutions("PFY", n_samples=10, sigma=0.5),
    "RFY": _of_solutions("RFY", lambd=1.0, max_iter=20),
    "NCE": _of_solutions("NCE", solve_ratio=POOL),
    "CMAP": _of_solutions("CMAP", solve_ratio=POOL),
    "LTR list": _of_costs("lsLTR", solve_ratio=POOL),
    "LTR pair": _of_costs("prLTR", solve_ratio=POOL),
    "LTR point": _of_costs("ptLTR", solve_ratio=POOL),
    "DBB": _priced("DBB", lambd=10),
    "NID": _priced("NID"),
    "DPO": _imitating("DPO", "mse", n_samples=10, sigma=0.5),
    "IMLE": _imitating("IMLE", "l1", n_samples=10, sigma=1.0, lambd=10),
    "AIMLE": _imitating("AIMLE", "l1", n_samples=2, sigma=1.0),
    "RFWO": _imitating("RFWO", "mse", lambd=1.0, max_iter=20),
}
NETWORKS = ("SPO+", "PFY")

PEERS = [
    Peer("two stages, least squares", True, partial(two_stages, least_squares)),
    *(Peer(name, True, partial(trained, name), "pyepo") for name in METHODS),
    Peer("two stages, forest", False, partial(two_stages, forest)),
    *(
        Peer(f"{name}, network", False, partial(trained, name, network=True), "pyepo")
        for name in NETWORKS
    ),
]
