# SPDX-License-Identifier: BSD-3-Clause
"""Decisions within capacities and assignments per second, beside loops over SciPy's solvers."""

from __future__ import annotations

import sys
from functools import partial

import numpy as np
from harness import Table, at_least, compare, median, ratio
from scipy.optimize import Bounds, LinearConstraint, linear_sum_assignment, milp

from skstruct.spaces import Assignments, BinaryPolytope, Knapsacks

QUICK = "--quick" in sys.argv
BUDGET = 1.0 if QUICK else 8.0  # seconds for the rounds of a case
ROWS = 200 if QUICK else 2000


def by_milp(costs, weights, capacity):
    """Values by one integer program per row, proven."""
    weights = np.atleast_2d(weights)
    rules = LinearConstraint(weights, -np.inf, capacity)
    whole, unit = np.ones(weights.shape[1]), Bounds(0, 1)
    options = {"mip_rel_gap": 0.0}
    return np.array([
        milp(cost, integrality=whole, bounds=unit, constraints=rules, options=options).fun
        for cost in costs
    ])  # fmt: skip


def by_scipy(costs, shape):
    """Values by one assignment problem per row."""
    tables = costs.reshape(-1, *shape)
    return np.array([table[linear_sum_assignment(table)].sum() for table in tables])


def race(table, case, space, costs, name, peer, target):
    """A space's argmin and a loop over another solver in turn, once their values agree."""
    few = costs[: max(2, len(costs) // 100)] if name.startswith("milp") else costs
    np.testing.assert_allclose(peer(few), space.argmin(few).values, atol=1e-6)
    calls = {"ours": partial(space.argmin, costs), name: partial(peer, few)}
    times = compare(calls, {"ours": len(costs), name: len(few)}, rounds=3, budget=BUDGET)
    per_second = 1 / median(times, "ours")
    table.add(f"{case}: argmin, {per_second:,.0f} a second", median(times, "ours"))
    table.add(f"{case}: {name}", median(times, name), ratio(times, name, "ours"), target)


def costs_of(kind, weights, rng):
    """Gaussian costs, of which about half matter; or minus values near what items weigh."""
    shape = ROWS, np.shape(weights)[-1]
    if kind == "any sign":
        return rng.standard_normal(shape)
    return -np.atleast_2d(weights).mean(axis=0) * rng.uniform(0.8, 1.2, shape)


def bench_knapsacks():
    table = Table("Knapsacks, CPU time per row", "loop over milp / Knapsacks.argmin")
    rng = np.random.default_rng(0)
    few = rng.integers(1, 9, 32)
    many = rng.choice([3, 5, 7], 48)
    cases = {"32 items, capacity 20": (few, 20)}
    cases |= {f"48 items of 3, 5, 7, capacity {c}": (many, c) for c in (60, 120, 180)}
    cases["32 items, two capacities"] = rng.integers(1, 9, (2, 32)), np.array([40, 45])
    cases["32 items, two capacities, floats"] = rng.random((2, 32)), np.array([5.0, 6.0])
    for case, (weights, capacity) in cases.items():
        for kind in ("any sign", "near weights"):
            costs = costs_of(kind, weights, rng)
            peer = partial(by_milp, weights=weights, capacity=capacity)
            space = Knapsacks(weights, capacity)
            race(table, f"{case}, {kind}", space, costs, "milp", peer, at_least(100))


def bench_polytopes():
    table = Table("BinaryPolytope, CPU time per row", "loop over milp / BinaryPolytope.argmin")
    rng = np.random.default_rng(0)
    for d in (10, 20, 40):
        rules = rng.integers(-3, 6, (4, d)).astype(float)
        right = np.full(4, d / 2.0)
        costs = rng.standard_normal((ROWS, d))
        peer = partial(by_milp, weights=rules, capacity=right)
        race(table, f"{d} items", BinaryPolytope(rules, right), costs, "milp", peer, at_least(10))


def bench_assignments():
    table = Table("Assignments, CPU time per row", "loop over SciPy / Assignments.argmin")
    rng = np.random.default_rng(0)
    for shape in ((10, 10), (10, 20), (30, 30)):
        costs = rng.standard_normal((ROWS, shape[0] * shape[1]))
        peer, name = partial(by_scipy, shape=shape), "linear_sum_assignment"
        case = f"{shape[0]} x {shape[1]}"
        race(table, case, Assignments(*shape), costs, name, peer, at_least(1))


if __name__ == "__main__":
    bench_knapsacks()
    bench_polytopes()
    bench_assignments()
