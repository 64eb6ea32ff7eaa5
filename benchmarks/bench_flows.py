# SPDX-License-Identifier: BSD-3-Clause
"""Flows of 30, 300 and 3,000 arcs: projections, linear costs, the absolute loss."""

from __future__ import annotations

from functools import partial

import numpy as np
from flow_peers import (
    absolute_by_linprog,
    by_clarabel,
    by_highs,
    by_osqp,
    linear_by_linprog,
    random_network,
)
from harness import Table, at_least, at_most, compare, median, ratio

from skstruct.losses import Absolute
from skstruct.spaces import Flows

SIZES = {30: (12, 100, 1000), 300: (120, 100, 100), 3000: (1000, 50, 4)}  # nodes, flows, rows
PEER_ROWS = {30: 20, 300: 5, 3000: 1}


def problem(n_arcs, rng):
    n_nodes, n_flows, n_rows = SIZES[n_arcs]
    arcs, supply, Y = random_network(n_nodes, n_arcs, n_flows, rng)
    space = Flows(arcs, dict(enumerate(supply))).fit(Y)
    system = space.constraints_
    # One conservation distribution follows from the others: solvers that mind are given one less.
    reduced = system.constraints.A_eq[:-1], space.supply_[:-1], system.range.high[0]
    return space, Y, n_rows, reduced


def bench_projections():
    table = Table("Squared loss: the nearest flow, CPU time per row", "peer / ours")
    rng = np.random.default_rng(0)
    for n_arcs in SIZES:
        space, Y, n_rows, reduced = problem(n_arcs, rng)
        W = rng.dirichlet(np.full(len(Y), 0.05), n_rows)
        targets = W @ Y + rng.normal(0, 0.3, (n_rows, n_arcs))
        few = PEER_ROWS[n_arcs]
        ours = partial(space._quadratic, np.ones(targets.shape), -2 * targets)
        decoded = ours()
        gap = ((decoded.values - decoded.bounds) / np.abs(decoded.values)).max()
        calls, rows = {"ours": ours}, {"ours": n_rows}
        for name, peer in (("OSQP", by_osqp), ("Clarabel", by_clarabel), ("HiGHS", by_highs)):
            if name == "HiGHS" and n_arcs == 3000:
                continue  # minutes
            calls[name], rows[name] = partial(peer, *reduced, targets[:few]), few
            error = np.abs(calls[name]() - decoded.outputs[:few]).max()
            assert error < 1e-2, (name, error)
        times = compare(calls, rows, budget=10)
        bar = at_most(25e-6) if n_arcs == 30 else None
        table.add(f"{n_arcs} arcs: Flows, largest gap {gap:.1e}", median(times, "ours"), target=bar)
        for name in calls:
            if name != "ours":
                goal = at_least(5 if n_arcs == 30 else 1)
                table.add(f"{n_arcs} arcs: {name}", median(times, name),
                          ratio(times, name, "ours"), goal)  # fmt: skip


def bench_linear():
    table = Table("Linear costs: min-cost flows, CPU time per row", "linprog loop / ours")
    rng = np.random.default_rng(1)
    for n_arcs in SIZES:
        space, _, n_rows, reduced = problem(n_arcs, rng)
        costs = rng.exponential(size=(n_rows, n_arcs))
        few = PEER_ROWS[n_arcs]
        peer = partial(linear_by_linprog, *reduced, costs[:few])
        np.testing.assert_allclose(space.argmin(costs[:few]).values, peer(), rtol=1e-7)
        calls = {"ours": partial(space.argmin, costs), "linprog": peer}
        times = compare(calls, {"ours": n_rows, "linprog": few}, budget=8)
        table.add(f"{n_arcs} arcs: Flows", median(times, "ours"))
        table.add(f"{n_arcs} arcs: linprog, row by row", median(times, "linprog"),
                  ratio(times, "linprog", "ours"), at_least(1))  # fmt: skip


def bench_absolute():
    table = Table("Absolute loss, CPU time per row", "linprog loop / ours")
    rng = np.random.default_rng(2)
    for n_arcs in SIZES:
        space, Y, n_rows, reduced = problem(n_arcs, rng)
        positive = rng.dirichlet(np.full(len(Y), 0.3), n_rows)
        signed = positive + rng.normal(0, 0.1 / len(Y) ** 0.5, positive.shape)
        few = 2 if n_arcs < 3000 else 1
        ours = partial(Absolute().minimize, positive, Y, space)
        decoded = ours()
        calls, rows = {"ours": ours}, {"ours": n_rows, "linprog": few}
        if n_arcs < 3000:  # 150,000 segments are too many for the peer
            peer = partial(absolute_by_linprog, *reduced, positive[:few], Y)
            np.testing.assert_allclose(decoded.values[:few], peer(), rtol=1e-6)
            calls["linprog"] = peer
        times = compare(calls, rows, budget=8)
        table.add(
            f"{n_arcs} arcs, {len(Y)} flows, no weight negative: Flows", median(times, "ours")
        )
        if "linprog" in times:
            goal = at_least(60) if n_arcs == 30 else at_least(1)
            table.add(f"{n_arcs} arcs: linprog of all segments", median(times, "linprog"),
                      ratio(times, "linprog", "ours"), goal)  # fmt: skip
        ours = partial(Absolute().minimize, signed, Y, space)
        decoded = ours()
        gaps = (decoded.values - decoded.bounds) / np.abs(decoded.values)
        share = (signed < 0).mean()
        times = compare({"ours": ours}, {"ours": n_rows}, budget=8)
        table.add(f"{n_arcs} arcs, {share:.0%} of weights negative: Flows", median(times, "ours"))
        table.note(f"mean gap {gaps.mean():.1e} of the value, largest {gaps.max():.1e}")


if __name__ == "__main__":
    bench_projections()
    bench_linear()
    bench_absolute()
