# SPDX-License-Identifier: BSD-3-Clause
"""Draws per second on every kind of space, ln Z by draws and from counts, marginals of trees."""

from __future__ import annotations

import sys
import time
import warnings
from functools import partial

import numpy as np
from harness import Table, at_least, at_most, compare, median, ratio
from sampling_peers import (
    closed_sets_node_by_node,
    closed_sets_row_by_row,
    pairwise_node_by_node,
    pairwise_row_by_row,
    random_tree,
)

from skstruct.exceptions import SamplingError
from skstruct.sampling import Metropolis, coupling_from_the_past, log_partition, rejection_sample
from skstruct.spaces import (
    Cycles,
    Hierarchy,
    Inference,
    LabelSets,
    Matchings,
    PairwiseLabels,
    Rankings,
    Sequences,
    SpanningTrees,
)

QUICK = "--quick" in sys.argv
BUDGET = 0.1 if QUICK else 2.0  # seconds for the rounds of a case
TRIALS = (
    13 if QUICK else 17
)  # powers of two: trials, or steps into the past, after which a draw is given up
N_CHAINS = 64
FLOOR = "floor"


def tree_of_labels(d, kind, rng):
    """A space of label sets on a random tree, and its parents; labels are 0 .. d - 1."""
    parent = random_tree(d, rng)
    edges = [(int(parent[v]), v) for v in range(1, d)]
    if kind is Hierarchy:
        return Hierarchy(edges, labels=list(range(d))), parent
    return PairwiseLabels(edges, labels=list(range(d))), parent


def spaces(rng):
    """Small and large ones, by name."""
    found = {
        "LabelSets, 20": LabelSets(range(20)),
        "Hierarchy, 50 labels": tree_of_labels(50, Hierarchy, rng)[0],
        "Sequences, 20 of 10 symbols": Sequences(range(10), length=20),
        "PairwiseLabels, tree of 50": tree_of_labels(50, PairwiseLabels, rng)[0],
        "Rankings, 10": Rankings(range(10)),
        "SpanningTrees, 20 nodes": SpanningTrees(20),
        "Matchings, 10 nodes": Matchings(10),
        "Cycles, 8 places": Cycles(8),
    }
    larger = {
        "LabelSets, 1,000": LabelSets(range(1000)),
        "Hierarchy, 1,000 labels": tree_of_labels(1000, Hierarchy, rng)[0],
        "Rankings, 50": Rankings(range(50)),
        "SpanningTrees, 50 nodes": SpanningTrees(50),
        "Matchings, 30 nodes": Matchings(30),
        "Cycles, 50 places": Cycles(50),
    }
    return found if QUICK else dict(sorted((found | larger).items()))


def width(space):
    return space.embed(space.sample(1, 0)).shape[1]


# ---------------------------------------------------------------------- draws
def bench_draws(n=1000):
    """All ways to a draw, of scores with standard deviation 1/2; a sweep of a chain is no draw."""
    table = Table("Draws, per output", "time / as many uniform random numbers as it is wide")
    rng = np.random.default_rng(0)
    for name, space in spaces(rng).items():
        scores = 0.5 * rng.standard_normal(width(space))
        distribution = Inference.of(space).distribution(scores)
        chains = Metropolis(space, scores, n_chains=N_CHAINS, rng=0).chains
        calls = {"uniform": partial(space.sample, n, rng)}
        rows = {"uniform": n, f"sweep of {chains.proposals.sweep:,} proposals": 4 * N_CHAINS}
        if distribution is not None:
            calls["exact distribution"] = partial(distribution.sample, n, rng)
            rows["exact distribution"] = n
        calls[f"sweep of {chains.proposals.sweep:,} proposals"] = partial(chains.advance, 4)
        for way, (call, n_few) in exact_ways(space, scores, rng).items():
            calls[way], rows[way] = call, n_few
        calls[FLOOR] = partial(rng.random, (n, np.size(space.sample(1, rng))))
        rows[FLOOR] = n
        times = compare(calls, rows, rounds=3, budget=BUDGET)
        for way in calls:
            if way != FLOOR:
                seconds = median(times, way)
                title = f"{name}: {way}, {1 / seconds:,.0f} per second"
                table.add(title, seconds, ratio(times, way, FLOOR))


def exact_ways(space, scores, rng, n=100):
    """Rejection and coupling from the past, where one draw comes at all, with draws per call."""
    few = 2**TRIALS
    ways = {
        "coupling": partial(coupling_from_the_past, space, scores, max_doublings=TRIALS),
        "rejection": partial(rejection_sample, space, scores, max_trials=few),
    }
    found = {}
    for way, call in ways.items():
        try:
            call(n=n, rng=rng)
        except SamplingError:
            continue
        found[way] = (partial(call, n=n, rng=rng), n)
    return found


# ---------------------------------------------------------------------- distributions
def marginals(space, scores):
    return Inference.of(space).distribution(scores).marginals()


def bench_distributions(n=100):
    """What a step of training takes: ln Z and marginals of rows of scores."""
    table = Table(
        "Distributions with marginals, per row", "time / exp of as many numbers as scores"
    )
    rng = np.random.default_rng(0)
    for name, space in spaces(rng).items():
        scores = rng.standard_normal((n, width(space)))
        if Inference.of(space).distribution(scores[:1]) is None:
            table.note(f"{name}: no exact distribution")
            continue
        calls = {"distribution": partial(marginals, space, scores), FLOOR: partial(np.exp, scores)}
        times = compare(calls, dict.fromkeys(calls, n), rounds=3, budget=BUDGET)
        seconds = median(times, "distribution")
        title = f"{name}: {1 / seconds:,.0f} rows per second"
        table.add(title, seconds, ratio(times, "distribution", FLOOR))


# ---------------------------------------------------------------------- partition functions
def bench_partition(n_rows=5):
    """Annealed estimates with ever more draws, and with a promise; quick ones from counts."""
    table = Table(
        f"ln Z of {n_rows} rows, per row", "root of the mean of (estimate - ln Z)^2"
    )  # fmt: skip
    rng = np.random.default_rng(0)
    cases = {
        "LabelSets, 20": (LabelSets(range(20)), 1.0),
        "PairwiseLabels, tree of 20": (tree_of_labels(20, PairwiseLabels, rng)[0], 1.0),
        "Rankings, 12": (Rankings(range(12)), 1.0),
        "Cycles, 10 places": (Cycles(10), 1.0),
    }
    for name, (space, spread) in cases.items():
        scores = spread * rng.standard_normal((n_rows, width(space)))
        exact = timed(table, f"{name}: exact", partial(log_partition, space, scores))
        annealed = partial(log_partition, space, scores, method="annealed", rng=0)
        for n_draws in (10, 100) if QUICK else (10, 100, 1000, 10_000):
            title = f"{name}: annealed, {n_draws:,} draws a level"
            timed(table, title, partial(annealed, n_draws=n_draws), exact)
        for eps in (0.5,) if QUICK else (0.5, 0.2, 0.1):
            title, start = f"{name}: annealed, promise 1 +- {eps}", time.process_time()
            timed(table, title, partial(annealed, eps=eps), exact, at_most(eps))
            if time.process_time() - start > 30:  # a smaller eps takes much longer
                break
        for way in ("cumulant", "taylor"):
            timed(table, f"{name}: {way}", partial(log_partition, space, scores, method=way), exact)


def timed(table, title, call, exact=None, target=None):
    """A line with the CPU time of one call, a second one, and its error; the values it found."""
    call()
    start = time.process_time()
    values = call()
    seconds = (time.process_time() - start) / len(values)
    error = None if exact is None else float(np.sqrt(np.mean((values - exact) ** 2)))
    table.add(title, seconds, error, target)
    return values


# ---------------------------------------------------------------------- trees
def bench_trees():
    """Marginals of trees of labels against the same sums in NumPy."""
    table = Table("Exact marginals of trees, per row", "NumPy / ours")
    rng = np.random.default_rng(0)
    peers = {
        Hierarchy: (closed_sets_row_by_row, closed_sets_node_by_node),
        PairwiseLabels: (pairwise_row_by_row, pairwise_node_by_node),
    }
    for kind, (by_row, by_node) in peers.items():
        for d, n in ((50, 200),) if QUICK else ((50, 1000), (1000, 1000)):
            space, parent = tree_of_labels(d, kind, rng)
            scores, order = rng.standard_normal((n, width(space))), order_of_pairs(space, parent)
            many = np.ascontiguousarray(scores[:, order])
            few = many[: max(2, n // 50)]
            found = marginals(space, scores)[:, order]
            np.testing.assert_allclose(found[: len(few)], by_row(few, parent), atol=1e-12)
            np.testing.assert_allclose(found, by_node(many, parent), atol=1e-12)
            calls = {
                "ours": partial(marginals, space, scores),
                "rows": partial(by_row, few, parent),
                "nodes": partial(by_node, many, parent),
            }
            rows = {"ours": n, "rows": len(few), "nodes": n}
            times = compare(calls, rows, rounds=5, budget=2 * BUDGET)
            name = f"{kind.__name__}, {d:,} labels"
            table.add(f"{name}: distribution(scores).marginals()", median(times, "ours"))
            bar = at_least(100)
            table.add(f"{name}: NumPy, row by row and node by node", median(times, "rows"),
                      ratio(times, "rows", "ours"), bar)  # fmt: skip
            table.add(f"{name}: NumPy, node by node, all rows at once", median(times, "nodes"),
                      ratio(times, "nodes", "ours"))  # fmt: skip


def order_of_pairs(space, parent):
    """Where labels and then the pairs (v, parent of v), v = 1, 2, ... stand among the scores."""
    edges, d = getattr(space, "edges_", np.empty((0, 2), int)), len(parent)
    assert tuple(space.labels_) == tuple(range(d))
    return np.argsort(np.concatenate([np.arange(d), d + edges[:, 1] - 1]))


if __name__ == "__main__":
    warnings.simplefilter("ignore", category=UserWarning)
    bench_draws()
    bench_distributions()
    bench_partition()
    bench_trees()
