# SPDX-License-Identifier: BSD-3-Clause
"""Predicting: the share of decoding, memory on many rows, and what a second thread brings."""

from __future__ import annotations

import json
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from gene_ontology import load_gene_ontology, standardized
from harness import Table, at_most, compare, in_fresh_process, median, peak_bytes, ratio

from skstruct import ConditionalRiskMinimizer, config_context
from skstruct.datasets.hierarchical import load_hierarchical
from skstruct.exceptions import MissingDataError
from skstruct.kernels import RBF
from skstruct.spaces import Hierarchy

BUDGET = 200_000_000
N_ROWS = 100_000
DECODING = "decoding alone"


def share_of_decoding(table, title, model, X, target=None):
    """Time a fitted model's prediction, and its three steps by themselves."""
    problem = model.problem_
    smooth = model.smoother_.weights if problem.by_weights else model.smoother_.predict
    means = smooth(X)
    costs, _ = problem.costs(means.copy())
    calls = {
        "predict": lambda: model.predict(X),
        "conditional means alone": lambda: smooth(X),
        "costs of the loss alone": lambda: problem.costs(means.copy()),
        DECODING: lambda: problem.space.argmin(costs),
    }
    times = compare(calls, dict.fromkeys(calls, len(X)))
    for name in calls:
        share, bar = ratio(times, name, "predict"), target if name == DECODING else None
        table.add(f"{title}: {name}", median(times, name), share, bar)


def bench_gene_ontology(table):
    """All terms by the Hamming loss; the terms kept in papers by the hierarchical loss."""
    data = load_gene_ontology()
    model = ConditionalRiskMinimizer(data.space, "hamming", alpha=3.0, kernel=RBF(0.01))
    model.fit(data.X_train, data.terms_train)
    share_of_decoding(table, "all terms, Hamming", model, data.X_test[:400], at_most(0.03))

    data = load_hierarchical("spo_go")
    X_train, X_test = standardized(data.X_train, data.X_test)
    space = Hierarchy(data.edges, data.labels)
    model = ConditionalRiskMinimizer(space, "hierarchical", alpha=3.0, kernel=RBF(0.01))
    model.fit(X_train, data.Y_train)
    share_of_decoding(table, "trimmed, hierarchical", model, X_test)


def many_labels(**parameters):
    """A model of 2000 training rows and 100 labels, and a generator for more rows."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2000, 20))
    Y = (np.sin(X @ rng.standard_normal((20, 100))) > 0.5).astype(np.int8)
    return ConditionalRiskMinimizer(alpha=1.0, **parameters).fit(X, Y), rng


def memory_of_many_rows():
    """Bytes by which predicting many rows moves the peak, and those of the answer."""
    model, rng = many_labels()
    X = rng.standard_normal((N_ROWS, 20))
    model.predict(X[:10])
    before = peak_bytes()
    with config_context(memory=BUDGET):
        answer = model.predict(X)
    return {"growth": peak_bytes() - before, "answer": answer.nbytes}


def bench_many_rows(table):
    sizes = in_fresh_process(__file__, "memory")
    label = f"growth of the peak / budget of {BUDGET // 10**6} MB"
    table.add(label, None, sizes["growth"] / BUDGET, at_most(1.2))
    table.add("  of which the answer itself", None, sizes["answer"] / BUDGET)
    calls, rows = threads_alone(), {}
    for n_jobs in (1, 2):
        model, rng = many_labels(n_jobs=n_jobs)
        X = rng.standard_normal((N_ROWS // 5, 20))
        calls[n_jobs], rows[n_jobs] = lambda model=model, X=X: model.predict(X), len(X)
    with config_context(memory="50MB"):
        times = compare(calls, rows, clock=time.perf_counter)
    best = {name: min(seconds) for name, seconds in times.items()}
    for n_jobs in (1, 2):
        label = f"n_jobs = {n_jobs}: {1 / best[n_jobs]:,.0f} rows per second of wall time"
        table.add(label, best[n_jobs], best[n_jobs] / best[1])
    label = "for comparison: bare matrix products on two threads"
    table.add(label, best["two threads"], best["two threads"] / best["one thread"])


def threads_alone():
    """What two threads bring on this machine just now: half of the time when it is idle."""
    A = np.random.default_rng(0).random((700, 700))
    pool = ThreadPoolExecutor(2)

    def products(_):
        for _ in range(4):
            A @ A

    return {
        "one thread": lambda: [products(0), products(1)],
        "two threads": lambda: list(pool.map(products, range(2))),
    }


def main():
    table = Table("Predicting SPO_GO, CPU time per row on one thread", "this / predict")
    try:
        bench_gene_ontology(table)
    except MissingDataError as error:
        table.note(f"SPO_GO is left out. {error}")
    title = f"Predicting {N_ROWS:,} rows from 2000, 100 labels"
    bench_many_rows(Table(title, "as named, or this / one thread"))


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(memory_of_many_rows()))
    else:
        main()
