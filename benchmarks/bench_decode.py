# SPDX-License-Identifier: BSD-3-Clause
"""Decoding label sets in forests and acyclic graphs, against general solvers."""

from __future__ import annotations

import numpy as np
from closure_peers import Highs, by_linprog, by_maximum_flow, by_node_loop
from gene_ontology import load_gene_ontology
from harness import Table, at_least, at_most, compare, median, ratio

from skstruct.exceptions import MissingDataError
from skstruct.kernels import RBF
from skstruct.losses import F1, pair
from skstruct.smoothing import KernelRidge
from skstruct.spaces import Hierarchy, LabelSets, Solving
from skstruct.spaces.solvers.dags import dag_closed_sets, forest_closed_sets

OURS = "Hierarchy.argmin"
KERNEL = "its compiled solver alone"
NODE_LOOP = "numpy, a loop over nodes"
HIGHS = "HiGHS, one model kept"
FLOW = "scipy maximum_flow, 32-bit costs"
LINPROG = "scipy linprog"
BY_SIZES, BY_COSTS = "branch and bound over sizes", "costs of all sizes"
SOLVERS = {NODE_LOOP: by_node_loop, FLOW: by_maximum_flow, LINPROG: by_linprog}


def random_tree(d, rng) -> Hierarchy:
    """Every node hangs below any one before it."""
    parents = rng.integers(0, np.arange(1, d))
    return Hierarchy([(int(p), v) for v, p in enumerate(parents, 1)], labels=range(d))


def random_dag(d, rng) -> Hierarchy:
    """Every node has 1.5 parents on average, most of them not far before it."""
    children = np.repeat(np.arange(1, d), 1 + rng.poisson(0.5, size=d - 1))
    parents = (children * np.sqrt(rng.random(len(children)))).astype(int)
    return Hierarchy(np.column_stack([parents, children]).tolist(), labels=range(d))


def gene_ontology_costs():
    """All terms, and the Hamming costs of test rows by kernel ridge regression."""
    data = load_gene_ontology()
    Y = data.space.validate(data.terms_train)
    means = KernelRidge(RBF(0.01), alpha=3.0).fit(data.X_train, Y).predict(data.X_test[:200])
    return data.space, 1.0 - 2.0 * means


def bench(table, title, space, costs, peers, bars) -> dict[str, float]:
    """Time all solvers; returns how far each peer's values are from ours, relative.

    Parameters
    ----------
    peers : dict from name to the number of rows that this peer is given
    bars : dict from name to the least ratio
    """
    dag, values = space.dag_, space.argmin(costs).values
    bare = forest_closed_sets if dag.is_forest else dag_closed_sets
    calls = {OURS: lambda: space.argmin(costs), KERNEL: lambda: bare(costs, dag)}
    rows, gaps = {OURS: len(costs), KERNEL: len(costs)}, {}
    for name, n in peers.items():
        try:
            solve = Highs(dag) if name == HIGHS else lambda c, s=SOLVERS[name]: s(c, dag)
        except ImportError:
            table.note('HiGHS is left out: pip install "skstruct[bench]"')
            continue
        few = costs[:n]
        calls[name], rows[name] = lambda solve=solve, few=few: solve(few), n
        difference = (few * solve(few)).sum(axis=1) - values[:n]
        gaps[name] = float(np.max(np.abs(difference) / np.abs(few).sum(axis=1)))
    times = compare(calls, rows, budget=12.0)
    for name in calls:
        target = at_least(bars[name]) if name in bars else None
        table.add(f"{title}: {name}", median(times, name), ratio(times, name, OURS), target)
    outside = 1.0 - ratio(times, KERNEL, OURS)
    table.add(f"{title}: share of argmin outside its solver", None, outside)
    return gaps


def bench_f1(table, title, space, rng, n, bar) -> float:
    """F1 of sets by branch and bound over sizes, against the costs of sets of all sizes.

    Means are weighted sums of a thousand true sets, with weights of both signs. Returns the
    largest difference of values.
    """
    d, n_few = len(space.labels_), max(2, n // 20)
    truths = (rng.random((1000, d)) < rng.beta(0.5, 12.0, d)).astype(np.int8)
    truths = (truths @ space.dag_.ancestors > 0).astype(np.int8)
    view, loss = pair(F1(independent=False), space, truths)
    psi = view.embed(truths)
    columns = np.unique(psi.indices)
    weights = rng.dirichlet(np.full(1000, 0.02), n) + 0.3 * rng.standard_normal((n, 1000)) / 1000
    means, scale = weights @ psi[:, columns], np.ones(n)

    def by_costs():
        full = np.zeros((n_few, psi.shape[1]))
        full[:, columns] = means[:n_few]
        return view.argmin(loss.cost(full, np.ones((n_few, 1))))

    def by_means():
        return Solving.of(view).argmin_of_means(means, columns, 1.0, scale)

    calls = {BY_SIZES: by_means, BY_COSTS: by_costs}
    times = compare(calls, {BY_SIZES: n, BY_COSTS: n_few}, budget=8.0)
    title = f"{title}, sets of up to {truths.sum(axis=1).max()}"
    table.add(f"{title}: {BY_SIZES}", median(times, BY_SIZES), 1.0)
    slower = ratio(times, BY_COSTS, BY_SIZES)
    table.add(f"{title}: {BY_COSTS}", median(times, BY_COSTS), slower, at_least(bar))
    return float(np.abs(by_costs().values - by_means().values[:n_few]).max())


def main():
    rng = np.random.default_rng(0)
    table = Table("Decoding, CPU time per row on one thread", "peer / Hierarchy.argmin")
    gaps = []
    for d, n in ((50, 200), (500, 20), (5000, 4)):
        peers = {NODE_LOOP: 1000, HIGHS: n, LINPROG: n // 2}
        bars = {HIGHS: 300, NODE_LOOP: 2} if d == 500 else {}
        costs = rng.standard_normal((1000, d)) + 0.3
        gaps.append(bench(table, f"tree of {d}", random_tree(d, rng), costs, peers, bars))

    peers = {FLOW: 20, HIGHS: 10, LINPROG: 2}
    space, costs = random_dag(4000, rng), rng.standard_normal((100, 4000)) + 0.3
    gaps.append(bench(table, "noise on 4000", space, costs, peers, {FLOW: 3, HIGHS: 12}))
    try:
        space, costs = gene_ontology_costs()
    except MissingDataError as error:
        table.note(f"SPO_GO is left out. {error}")
    else:
        gaps.append(bench(table, "SPO_GO, all terms", space, costs, peers, {FLOW: 40, HIGHS: 150}))

    f1 = [
        bench_f1(table, f"F1, {d} labels", LabelSets(range(d)).fit(np.zeros((1, d))), rng, n, bar)
        for d, n, bar in ((100, 400, 3), (200, 200, 6), (500, 60, 10))
    ]
    tree = random_tree(200, rng).fit(np.zeros((1, 200)))
    f1.append(bench_f1(table, "F1, tree of 200", tree, rng, 100, 20))
    table.add("F1 against that of all costs, largest difference", None, max(f1), at_most(1e-6))
    exact = max(gap for case in gaps for name, gap in case.items() if name != FLOW)
    rounded = max(case[FLOW] for case in gaps if FLOW in case)
    table.add("values against the exact peers', largest difference", None, exact, at_most(1e-9))
    table.add("values against maximum_flow's, largest difference", None, rounded, at_most(1e-6))


if __name__ == "__main__":
    main()
