# SPDX-License-Identifier: BSD-3-Clause
"""Predict, then optimise: whole calls, and decisions, beside PyEPO with OR-tools.

PyEPO (MIT) and OR-tools are looked for; what needs them is left out where they are not installed
(pip install pyepo ortools). Its linear predictor is trained by SPO+ as in its notebook: Adam, steps
of .01, batches of 32, 20 epochs.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from harness import Table, compare, median, ratio

from skstruct import ConditionalRiskMinimizer, StructuredSVM
from skstruct.losses import Regret

sys.path.insert(0, str(Path(__file__).parents[1] / "papers"))

from decisions_data import generated
from decisions_peers import pyepo_model, trained
from sklearn.linear_model import LinearRegression

QUICK = "--quick" in sys.argv
BUDGET = 0.5 if QUICK else 20.0
ROWS = 100 if QUICK else 1000
HAS_PYEPO = find_spec("pyepo") is not None and find_spec("ortools") is not None


def main():
    for name in ("grid", "knapsack", "knapsack2"):
        train, test = generated(name, ROWS, 4, 0.5, seed=0)
        decisions(name, test)
        whole_calls(name, train, test)
    if not HAS_PYEPO:
        print("PyEPO with OR-tools is not installed: pip install pyepo ortools")


def decisions(name, test):
    """Time of one decision, all rows in one call and row by row."""
    costs, sign = np.asarray(test.C, dtype=np.float64), test.problem.sense
    calls = {"ours": lambda: test.problem.space.argmin(sign * costs)}
    rows = {"ours": len(costs)}
    if HAS_PYEPO:
        model, few = pyepo_model(test.problem, "ortools"), costs[:50]
        calls["PyEPO, OR-tools"] = lambda: [_solved(model, row) for row in few]
        rows["PyEPO, OR-tools"] = len(few)
    found = compare(calls, rows, budget=BUDGET)
    table = Table(f"{name}: one decision, CPU time", "peer / ours")
    seconds = median(found, "ours")
    table.add(f"ours, 1,000 rows at once: {1 / seconds:,.0f} a second", seconds)
    for peer in list(calls)[1:]:
        table.add(f"{peer}, row by row", median(found, peer), ratio(found, peer, "ours"))


def _solved(model, costs):
    model.setObj(costs)
    return model.solve()


def whole_calls(name, train, test):
    """Learning from the rows of training, and deciding for those of test."""
    X, C = train.X, np.asarray(train.C, dtype=np.float64)
    sense = "min" if train.problem.sense > 0 else "max"
    space, loss = train.problem.space, Regret(sense)
    linear = {"smoother": "kernel_ridge", "kernel": "linear"}
    models = {
        "default": ConditionalRiskMinimizer(space, loss, random_state=0),
        "linear smoothing": ConditionalRiskMinimizer(space, loss, **linear),
        "SPO+ by margins": StructuredSVM(space, loss, random_state=0),
    }
    calls = {
        title: lambda model=model: model.fit(X, C).predict(test.X)
        for title, model in models.items()
    }
    calls["least squares, then ours"] = lambda: test.problem.decide(
        LinearRegression().fit(X, C).predict(test.X)
    )
    if HAS_PYEPO:
        calls["PyEPO's SPO+, OR-tools"] = lambda: trained(
            "SPO+", X, train.C, test.X, train.problem, 0, solver="ortools"
        )
    found = compare(calls, rounds=1, budget=BUDGET)
    table = Table(f"{name}: fit to {len(X):,} rows and decide 1,000", "call / default")
    for title in calls:
        table.add(title, median(found, title), ratio(found, title, "default"))


if __name__ == "__main__":
    main()
