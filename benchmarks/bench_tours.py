# SPDX-License-Identifier: BSD-3-Clause
"""Decoding cycles, spanning trees and matchings: gaps, times, and other solvers."""

from __future__ import annotations

import sys
import time
from functools import partial

import numpy as np
from counting_peers import (
    TOUR_PEERS,
    distances,
    least_of_list,
    matchings_by_networkx,
    pairings_by_scipy,
    prized_distances,
    trees_by_networkx,
    trees_by_scipy,
)
from harness import Table, at_least, at_most, compare, median, ratio
from sklearn.base import clone

from skstruct.spaces import Cycles, Matchings, SpanningTrees

QUICK = "--quick" in sys.argv
BUDGET = 0.5 if QUICK else 4.0  # seconds for the rounds of a case
NODES = ((10, 200), (50, 40)) if QUICK else ((10, 1000), (50, 100), (200, 20))  # with rows
GAP = 0.02  # of the value, left without proof


def gaussian(n, width, rng):
    return rng.standard_normal((n, width))


def cases(N):
    """Name, space and costs of n rows, for every kind of cycle."""
    pairs = N * (N - 1) // 2
    arcs = Cycles(N, embedding="indicators")
    edges = Cycles(N, directed=False)
    return {
        "signed pairs": (Cycles(N), lambda n, rng: gaussian(n, pairs, rng)),
        "directed arcs": (arcs, lambda n, rng: gaussian(n, 2 * pairs, rng)),
        "undirected edges": (edges, lambda n, rng: gaussian(n, pairs, rng)),
        "distances less prizes": (edges, lambda n, rng: prized_distances(n, N, rng)),
        "through all": (edges.restrict(min_size=N), lambda n, rng: rng.random((n, pairs))),
    }


def timed(call):
    """CPU seconds of one call, and what it returns."""
    start = time.process_time()
    answer = call()
    return time.process_time() - start, answer


def relative_gaps(decoded):
    return (decoded.values - decoded.bounds) / np.abs(decoded.values)


# ---------------------------------------------------------------------- cycles
def bench_gaps():
    """The least cycle through any number of places, with the gap that is left."""
    table = Table("Minimum-cost cycles, CPU time per row", "mean (value - bound) / |value|")
    sizes = {10: 500, 15: 20, 16: 20, 20: 20, 30: 20, 50: 20, 100: 5}
    if QUICK:
        sizes = {10: 100, 16: 10, 20: 5, 30: 5}
    for space, draw in [*cases(5).values(), *cases(17).values()]:  # compiles
        space.argmin(draw(1, np.random.default_rng(0)))
    for N, n in sizes.items():
        for name, (space, draw) in cases(N).items():
            seconds, decoded = timed(partial(space.argmin, draw(n, np.random.default_rng(N))))
            gaps = relative_gaps(decoded)
            proven, places = np.mean(gaps <= 1e-9), decoded.outputs.sum(axis=1).mean()
            title = f"{N} places, {name}: {proven:.0%} proven, {places:.0f} visited"
            table.add(title, seconds / n, gaps.mean(), at_most(GAP if N > 16 else 1e-9))


def bench_lists():
    table = Table("Against the list of all cycles, per row", "one product with the list / argmin")
    for N in (7, 8) if QUICK else (7, 8, 9):
        for name, (space, draw) in cases(N).items():
            costs = draw(200, np.random.default_rng(0))
            few = costs[:20]  # the table of products fits into memory
            psi = space.embed(space.enumerate())
            np.testing.assert_allclose(space.argmin(few).values, least_of_list(psi, few), atol=1e-9)
            calls = {"ours": partial(space.argmin, costs), "list": partial(least_of_list, psi, few)}
            times = compare(calls, {"ours": len(costs), "list": len(few)}, rounds=3, budget=BUDGET)
            table.add(f"{N} places, {name}: argmin", median(times, "ours"))
            title = f"{N} places, {name}: list of {len(psi):,}"
            table.add(title, median(times, "list"), ratio(times, "list", "ours"))


def bench_proofs():
    """How long integer programs take to close the gap, with the first answer beside."""
    table = Table("Proven optima by HiGHS, per row", "time with prove=True / without")
    for N, n in ((20, 3),) if QUICK else ((20, 10), (30, 10), (50, 3)):
        for name, (space, draw) in cases(N).items():
            costs = draw(n, np.random.default_rng(N))
            seconds, decoded = timed(partial(space.argmin, costs))
            longer, best = timed(partial(clone(space).set_params(prove=True).argmin, costs))
            assert (best.values >= decoded.bounds - 1e-9).all()
            assert (best.bounds <= decoded.values + 1e-9).all()
            left, missed = relative_gaps(best).max(), np.mean(decoded.values > best.values + 1e-9)
            title = f"{N} places, {name}: gap {left:.0e}, first off in {missed:.0%}"
            table.add(title, longer / n, longer / seconds)


def bench_whole_tours():
    table = Table("Tours through all places, per row", "length / our lower bound")
    for N, n in ((10, 3), (20, 3)) if QUICK else ((10, 10), (20, 10), (50, 5), (100, 3)):
        costs = distances(n, N, np.random.default_rng(N))
        space = Cycles(N, directed=False)
        seconds, decoded = timed(partial(space.restrict(min_size=N).argmin, costs))
        title = f"{N} places: Cycles.restrict(min_size={N})"
        table.add(title, seconds / n, np.mean(decoded.values / decoded.bounds), at_most(1 + GAP))
        for name, peer in TOUR_PEERS.items():
            longer, lengths = timed(partial(peer, costs, space.edges_))
            table.add(f"{N} places: {name}, {longer / seconds:.2g} x our time", longer / n,
                      np.mean(lengths / decoded.bounds))  # fmt: skip


# ---------------------------------------------------------------------- trees and matchings
def race(table, case, space, costs, peers):
    """A space's argmin and other solvers in turn, once their values agree."""
    few = costs[: max(2, len(costs) // 20)]  # others are slower
    calls = {"ours": partial(space.argmin, costs)}
    rows = {"ours": len(costs)}
    for name, peer in peers.items():
        np.testing.assert_allclose(peer(few), space.argmin(few).values, atol=1e-8)
        calls[name], rows[name] = partial(peer, few), len(few)
    times = compare(calls, rows, rounds=3, budget=BUDGET)
    table.add(f"{case}: argmin", median(times, "ours"))
    for name in peers:
        figure = ratio(times, name, "ours")
        table.add(f"{case}: {name}", median(times, name), figure, at_least(1))


def bench_trees():
    table = Table("Minimum-cost spanning trees, per row", "peer / SpanningTrees.argmin")
    for N, n in NODES:
        space = SpanningTrees(N)
        costs = gaussian(n, N * (N - 1) // 2, np.random.default_rng(0))
        peers = {
            "networkx minimum_spanning_tree": partial(trees_by_networkx, ends=space.edges_),
            "scipy minimum_spanning_tree": partial(trees_by_scipy, ends=space.edges_),
        }
        race(table, f"{N} nodes", space, costs, peers)


def bench_matchings():
    table = Table("Minimum-cost matchings, per row", "peer / Matchings.argmin")
    rng = np.random.default_rng(0)
    for N, n in NODES:
        space = Matchings(N)
        peers = {"networkx max_weight_matching": partial(matchings_by_networkx, ends=space.edges_)}
        race(table, f"{N} nodes", space, gaussian(n, N * (N - 1) // 2, rng), peers)
        half = N // 2
        peers = {"scipy linear_sum_assignment": partial(pairings_by_scipy, shape=(half, half))}
        costs = gaussian(n, half * half, rng)
        race(table, f"{half} with {half} nodes", Matchings(half, half), costs, peers)


if __name__ == "__main__":
    bench_gaps()
    bench_lists()
    bench_proofs()
    bench_whole_tours()
    bench_trees()
    bench_matchings()
