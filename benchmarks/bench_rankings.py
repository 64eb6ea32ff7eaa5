# SPDX-License-Identifier: BSD-3-Clause
"""Decoding rankings: assignments, exact Kendall, and the order of 1,682 items."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
from harness import Table, at_least, at_most, compare, median, ratio
from ranking_peers import (
    TriangleProgram,
    assignments_by_scipy,
    order_by_table,
    place_votes,
    weighted_votes,
)

from skstruct.spaces import Rankings
from skstruct.spaces.solvers.assignment import min_cost_assignments
from skstruct.spaces.solvers.linear_ordering import linear_orders, pair_matrix

ROWS = {10: 1000, 50: 100, 200: 10}


def halves(solve, costs, pool):
    """The same rows in two threads."""
    middle = len(costs) // 2
    return list(pool.map(solve, [costs[:middle], costs[middle:]]))


def bench_assignments():
    table = Table("Batched assignment, per row", "scipy.linear_sum_assignment loop / ours")
    rng, pool = np.random.default_rng(0), ThreadPoolExecutor(2)
    for d, n in ROWS.items():
        for kind, costs in (("uniform", rng.random((n, d, d))), ("votes", place_votes(n, d, rng))):
            space, flat = Rankings(range(d)), costs.reshape(n, d * d)
            values = space.argmin(flat).values
            np.testing.assert_allclose(values, assignments_by_scipy(costs), atol=1e-8)
            peer = partial(assignments_by_scipy, costs)
            calls = {"ours": partial(space.argmin, flat), "scipy": peer}
            rows = dict.fromkeys(("ours", "scipy"), n)
            times = compare(calls, rows, budget=8.0)
            table.add(f"d = {d}, {kind}: Rankings.argmin, one thread", median(times, "ours"))
            factor = ratio(times, "scipy", "ours")
            table.add(f"d = {d}, {kind}: loop / ours", median(times, "scipy"), factor, at_least(1))
            calls = {"ours": partial(halves, min_cost_assignments, costs, pool), "scipy": peer}
            times = compare(calls, rows, budget=8.0, clock=time.perf_counter)
            bar = at_least(2) if d <= 50 else at_least(1)
            table.add(f"d = {d}, {kind}: loop / ours on two threads (wall)",
                      median(times, "ours"), ratio(times, "scipy", "ours"), bar)  # fmt: skip


def bench_kendall():
    table = Table("Exact Kendall, CPU time per row on one thread", "peer / Rankings.argmin")
    rng = np.random.default_rng(0)
    for d in (8, 10, 12, 14, 16):
        for noise in (0.3, 3.0):
            n, few = (1000, 4) if d <= 10 else (50, 2)
            costs = weighted_votes(n, d, rng, noise)
            space, program = Rankings(range(d), "pairs"), TriangleProgram(d)
            decoded = space.argmin(costs)
            assert (decoded.bounds == decoded.values).all()
            np.testing.assert_allclose(program(costs[:few]), decoded.values[:few], atol=1e-5)
            calls = {"ours": partial(space.argmin, costs), "milp": partial(program, costs[:few])}
            rows = {"ours": n, "milp": few, "python": 1}
            if d <= 12:
                pair = pair_matrix(costs[:1], d)[0]
                np.testing.assert_allclose(order_by_table(pair), decoded.values[0])
                calls["python"] = partial(order_by_table, pair)
            times = compare(calls, rows, budget=8.0)
            bar = at_most(1e-3) if d == 10 else None
            name = f"{d} items, noise {noise:g}"
            table.add(f"{name}: Rankings.argmin", median(times, "ours"), target=bar)
            for peer in ("milp", "python"):
                if peer in times:
                    what = {"milp": "HiGHS, integer program", "python": "plain Python table"}[peer]
                    table.add(f"{name}: {what}", median(times, peer), ratio(times, peer, "ours"))


def bench_many_items():
    table = Table("Orders of many items, one row", "gap / (sum of all |pair costs|)")
    rng = np.random.default_rng(0)
    for d in (40, 100, 400, 1682):
        for noise in (0.3, 3.0):
            costs = weighted_votes(1, d, rng, noise)
            size = np.abs(costs).sum()
            start = time.perf_counter()
            _, values, bounds = linear_orders(costs, d)
            seconds = time.perf_counter() - start
            gap = (values - bounds)[0] / size
            table.add(f"{d} items, noise {noise:g}: search and bound", seconds, gap)
            start = time.perf_counter()
            order = np.argsort(pair_matrix(costs, d)[0].sum(axis=1))
            seconds = time.perf_counter() - start
            pair = pair_matrix(costs, d)[0]
            above = np.triu(pair[np.ix_(order, order)], 1).sum() - bounds[0]
            table.add(f"{d} items, noise {noise:g}: Borda, above our bound", seconds, above / size)
            min_cost = (values + size)[0] / size
            table.add(f"{d} items, noise {noise:g}: above all pairs at their best", None, min_cost)


if __name__ == "__main__":
    bench_assignments()
    bench_kendall()
    bench_many_items()
