# SPDX-License-Identifier: BSD-3-Clause
"""Counting learners: training against bare arithmetic, both solvers, memory, samples."""

from __future__ import annotations

import json
import sys
from functools import partial

import numpy as np
from harness import Table, at_least, compare, in_fresh_process, median, peak_bytes, ratio
from scipy.linalg import lapack
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.metrics.pairwise import rbf_kernel

from skstruct import CountingRidge
from skstruct.learners import NewtonCG, StochasticGradient
from skstruct.spaces import Cycles, LabelSets, Matchings, Rankings, SpanningTrees

QUICK = "--quick" in sys.argv
BUDGET = 0.2 if QUICK else 6.0  # seconds for the rounds of a case
N_FEATURES = 15
TOL = 1e-6  # of newton-cg
OURS, NEWTON, PEER, FLOOR = "closed form", "newton-cg", "scikit-learn", "floor"
MORE_PLACES = (10, 20) if QUICK else (10, 20, 50, 100)
MORE_ROWS = {
    "linear": (100, 1000) if QUICK else (100, 1000, 10_000),
    "rbf": (100, 1000) if QUICK else (100, 1000, 3000),
}
SAMPLED = (10, 50) if QUICK else (10, 50, 200)


def data(m, N):
    """Inputs, and cycles through N places that nobody searched for: drawn uniformly."""
    rng, space = np.random.default_rng(0), Cycles(N)
    return rng.standard_normal((m, N_FEATURES)), space.sample(m, rng), space


def learner(space, kernel, **options):
    return CountingRidge(space, kernel=kernel, **({"alpha": 1.0} | options))


# ---------------------------------------------------------------------- training
def fits(kernel, X, Z, space):
    """Both solvers, ridge regression of the embeddings, and what no exact method avoids.

    The floor is one Cholesky factor of m x m numbers, or the products X'X and X' psi.
    """
    psi = space.embed(Z)
    if kernel == "rbf":
        K = rbf_kernel(X) + np.eye(len(X))
        floor = partial(lapack.dpotrf, K.T, lower=1, clean=0)
        peer = KernelRidge(kernel=kernel, alpha=1.0)
    else:
        floor = partial(products, X, psi)
        peer = Ridge(alpha=1.0, solver="cholesky")
    return {
        OURS: partial(learner(space, kernel).fit, X, Z),
        NEWTON: partial(learner(space, kernel, solver=NewtonCG(tol=TOL)).fit, X, Z),
        PEER: partial(peer.fit, X, psi),
        FLOOR: floor,
    }


def products(X, psi):
    return X.T @ X, X.T @ psi


def add_case(table, case, calls):
    """A case's lines: each call, what it is of the floor, and how well both solvers agree."""
    times = compare(calls, rounds=3, budget=BUDGET)
    for name in (OURS, NEWTON, PEER):
        table.add(f"{case}: {name}", median(times, name), ratio(times, name, FLOOR))
    closed, newton = calls[OURS](), calls[NEWTON]()
    apart = (newton.objective_ - closed.objective_) / abs(closed.objective_)
    title = f"  newton-cg, {newton.n_iter_} steps, objective +{apart:.0e} / closed form"
    table.add(title, None, ratio(times, NEWTON, OURS), at_least(1))
    table.add("  closed form / scikit-learn", None, ratio(times, OURS, PEER))


def bench_places():
    for kernel in ("linear", "rbf"):
        what = "X'X and X' psi" if kernel == "linear" else "one Cholesky factor of m x m"
        table = Table(f"Training, {kernel}, 300 rows, directed cycles", f"time / {what}")
        for N in MORE_PLACES:
            case = f"{N} places, d = {N * (N - 1) // 2:,}"
            add_case(table, case, fits(kernel, *data(300, N)))


def bench_rows():
    for kernel, sizes in MORE_ROWS.items():
        what = "X'X and X' psi" if kernel == "linear" else "one Cholesky factor of m x m"
        table = Table(f"Training, {kernel}, cycles through 10 places", f"time / {what}")
        for m in sizes:
            add_case(table, f"{m:,} rows", fits(kernel, *data(m, 10)))


def bench_search():
    """The penalty by closed-form leave-one-out, 13 of them."""
    table = Table("Choosing alpha, rbf", "time / one fit")
    for m, N in ((60, 8),) if QUICK else ((60, 8), (150, 10), (1000, 10)):
        X, Z, space = data(m, N)
        calls = {
            "one": partial(learner(space, "rbf").fit, X, Z),
            "auto": partial(learner(space, "rbf", alpha="auto").fit, X, Z),
        }
        times = compare(calls, rounds=2, budget=BUDGET)
        way = "single rows" if m <= 500 else "5 groups"
        title = f"{m:,} rows, {N} places: 13 alphas, {way} left out"
        table.add(title, median(times, "auto"), ratio(times, "auto", "one"))


# ---------------------------------------------------------------------- memory
def memory(kernel, solver, m, N):
    """Growth of the peak by one fit, in MiB, and in doubles of embeddings or of the kernel."""
    X, Z, space = data(int(m), int(N))
    model = learner(space, kernel, solver=solver)
    model.fit(X[:50], Z[:50])  # what is loaded and compiled once does not count
    before = peak_bytes()
    model.fit(X, Z)
    grown = peak_bytes() - before
    psi = len(X) * int(N) * (int(N) - 1) // 2
    return grown / 2**20, grown / 8 / max(psi, len(X) ** 2 if kernel == "rbf" else 0)


def bench_memory():
    table = Table(
        "Peak memory of a fit", "growth of the peak / doubles of psi (m x d), or of K (m x m)"
    )
    cases = [("linear", 10_000, 10), ("linear", 300, 100), ("rbf", 2000, 10), ("rbf", 300, 100)]
    for kernel, m, N in cases[:1] if QUICK else cases:
        for solver in (OURS.replace(" ", "-"), NEWTON):
            grown, share = in_fresh_process(__file__, "memory", kernel, solver, m, N)
            title = f"{kernel}, {m:,} rows, {N} places, {solver}: {grown:.0f} MiB"
            table.add(title, None, share)


# ---------------------------------------------------------------------- online, predicting
def bench_online(n=2000):
    """partial_fit; below it the products of its batches alone, batch by batch."""
    table = Table(f"partial_fit on {n:,} rows, per row", "time / the bare products of its batches")
    for N in MORE_PLACES[: 1 if QUICK else 3]:
        X, Z, space = data(n, N)
        for kernel, size in (("linear", 4), ("linear", 16), ("rbf", 4), ("rbf", 16)):
            steps = StochasticGradient(batch_size=size, budget=500)
            model = learner(space, kernel).partial_fit(X[:600], Z[:600], steps=steps)
            weights = model.function_.weights_.copy()
            calls = {
                OURS: partial(model.partial_fit, X, Z),
                FLOOR: partial(bare_steps, model.function_.basis(X), weights, size),
            }
            times = compare(calls, dict.fromkeys(calls, n), rounds=3, budget=BUDGET / 2)
            seconds = median(times, OURS)
            name = f"{kernel}{', budget 500' if kernel == 'rbf' else ''}, batches of {size}"
            title = f"{N} places, {name}: {1 / seconds:,.0f} rows/s"
            table.add(title, seconds, ratio(times, OURS, FLOOR))


def bare_steps(basis, weights, size):
    """Scores of every batch, and weights that shrink and change."""
    for start in range(0, len(basis), size):
        batch = basis[start : start + size]
        scores = batch @ weights
        weights *= 0.999
        if weights.shape[0] < 100:  # features; an expansion has its new rows in place
            weights -= 1e-6 * batch.T @ scores


def bench_scores(n=10_000):
    table = Table(f"decision_function of {n:,} rows, per row", "time / one product")
    for N in MORE_PLACES[: 1 if QUICK else 3]:
        X, Z, space = data(300, N)
        many = np.random.default_rng(1).standard_normal((n, N_FEATURES))
        for kernel in ("linear", "rbf"):
            model = learner(space, kernel).fit(X, Z)
            basis, weights = model.function_.basis(many), model.function_.weights_
            calls = {
                OURS: partial(model.decision_function, many),
                FLOOR: partial(np.matmul, basis, weights),
            }
            times = compare(calls, dict.fromkeys(calls, n), rounds=5, budget=BUDGET / 2)
            seconds = median(times, OURS)
            title = f"{N} places, {kernel}, 300 rows trained: {1 / seconds:,.0f} rows/s"
            table.add(title, seconds, ratio(times, OURS, FLOOR))


# ---------------------------------------------------------------------- samples
def bench_samples():
    """Draws as rows of 0/1 numbers or of places; beside them uniform numbers as wide."""
    table = Table("Uniform samples, per output", "time / as many uniform random numbers")
    rng = np.random.default_rng(0)
    for N in SAMPLED:
        spaces = {
            "Cycles": Cycles(N),
            "Cycles, undirected": Cycles(N, directed=False),
            "SpanningTrees": SpanningTrees(N),
            "Matchings": Matchings(N),
            "Matchings, perfect": Matchings(N, perfect=True),
            "Rankings": Rankings(range(N)),
            "LabelSets": LabelSets(range(N)),
        }
        n = 1000 if N <= 50 else 200
        for name, space in spaces.items():
            width = space.sample(1, rng).shape[1]
            calls = {
                OURS: partial(space.sample, n, rng),
                FLOOR: partial(rng.random, (n, width)),
            }
            times = compare(calls, dict.fromkeys(calls, n), rounds=3, budget=BUDGET / 4)
            seconds = median(times, OURS)
            title = f"{name}, {N} places: {1 / seconds:,.0f} per second"
            table.add(title, seconds, ratio(times, OURS, FLOOR))


if __name__ == "__main__":
    if sys.argv[1:2] == ["memory"]:
        print(json.dumps(memory(*sys.argv[2:])))
        sys.exit()
    bench_places()
    bench_rows()
    bench_search()
    bench_memory()
    bench_online()
    bench_scores()
    bench_samples()
