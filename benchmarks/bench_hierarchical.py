# SPDX-License-Identifier: BSD-3-Clause
"""The hierarchical loss where labels have several parents: searching, deciding, the whole default.

``--default`` adds a fit with all defaults to 2,400 rows and all terms of a gene ontology, minutes.
"""

from __future__ import annotations

import sys
from functools import partial
from time import process_time

import numpy as np
from bench_decode import random_dag
from gene_ontology import load_gene_ontology
from harness import Table, at_least, at_most, compare, median, ratio

from skstruct import ConditionalRiskMinimizer
from skstruct.exceptions import MissingDataError
from skstruct.kernels import RBF
from skstruct.learners.problem import risk_problem
from skstruct.losses import HierarchicalLoss
from skstruct.smoothing import KernelRidge
from skstruct.spaces import Solving

BY_CUTS, QUICK, PROGRAMS = "cuts and branches", "the same, quick", "integer programs"


def labels_in_a_dag(d, n, rng):
    """A graph, inputs, and closed sets of some leaves that depend on them."""
    space, X = random_dag(d, rng), rng.standard_normal((n, 10))
    scores = X @ rng.standard_normal((10, d)) + rng.standard_normal((n, d))
    chosen = scores > np.quantile(scores, 1 - 5.0 / d, axis=1, keepdims=True)
    return space, X, (chosen @ space.dag_.ancestors > 0).astype(np.int8)


def bench_costs(table, title, view, costs, n_programs):
    """Decide rows of costs; by integer programs as well, for some of them."""
    few, constraints = costs[:n_programs], view.space.constraints_
    calls = {
        BY_CUTS: partial(view.argmin, costs),
        QUICK: partial(Solving.of(view).quick().argmin, costs),
        PROGRAMS: partial(view._by_program, few, constraints),
    }
    rows = {BY_CUTS: len(costs), QUICK: len(costs), PROGRAMS: n_programs}
    times = compare(calls, rows, rounds=2)
    target = {BY_CUTS: at_most(5e-3), PROGRAMS: at_least(10)}
    for name in calls:
        by = ratio(times, name, BY_CUTS) if name != BY_CUTS else None
        table.add(f"{title}: {name}, a row", median(times, name), by, target.get(name))
    found, quick = view.argmin(costs), Solving.of(view).quick().argmin(costs)
    value = view._by_program(few, constraints)[1]
    size = np.abs(costs).sum(axis=1)
    gap = ((found.values - found.bounds) / size).max()
    table.add(f"{title}: largest gap, of the size of costs", None, gap, at_most(1e-9))
    worse = ((found.values[:n_programs] - value) / size[:n_programs]).max()
    table.add(f"{title}: worse than integer programs", None, worse, at_most(1e-9))
    open_ = float(np.mean(quick.values - quick.bounds > 1e-9 * size))
    table.add(f"{title}: share of rows that quick leaves open", None, open_)


def costs_of(space, X, Y, X_new):
    """Costs of labels and products by kernel ridge regression, and the view that decides them."""
    problem = risk_problem(space, HierarchicalLoss(), Y)
    smoother = KernelRidge(RBF(1.0 / X.shape[1]), alpha=1.0).fit(X, problem.targets())
    return problem.space, problem.costs(smoother.predict(X_new))[0]


def bench_search(table, d, n, rng):
    """Choosing alpha by the hierarchical loss and by Hamming."""
    space, X, Y = labels_in_a_dag(d, n, rng)
    losses = ("hierarchical", "hamming")
    models = {
        loss: ConditionalRiskMinimizer(space, loss, smoother="kernel_ridge") for loss in losses
    }
    times = compare({loss: partial(model.fit, X, Y) for loss, model in models.items()}, rounds=3)
    target = at_most(0.5) if d == 100 else None
    table.add(f"choosing alpha, {d} labels, {n} rows", median(times, losses[0]), None, target)
    table.add("  beside Hamming", median(times, losses[1]), ratio(times, *losses))


def bench_default(table, data):
    """All defaults, on the whole ontology."""
    began = process_time()
    model = ConditionalRiskMinimizer(data.space).fit(data.X_train, data.terms_train)
    table.add("gene ontology, default fit", process_time() - began, None, at_most(60.0))
    began = process_time()
    found = model.decode(data.X_test)
    each = (process_time() - began) / len(data.X_test)
    table.add("  decode, a row, smoothing and risks included", each)
    table.add("  largest gap", None, float((found.values - found.bounds).max()), at_most(1e-6))


def main(arguments):
    rng = np.random.default_rng(0)
    table = Table("The hierarchical loss on acyclic graphs, CPU time", "to cuts, or as named")
    for d, n in ((100, 60), (1000, 200)):
        bench_search(table, d, n, rng)
    for d, n_programs in ((100, 20), (3000, 5)):
        space, X, Y = labels_in_a_dag(d, 400, rng)
        view, costs = costs_of(space, X[:200], Y[:200], X[200:])
        bench_costs(table, f"random graph of {d}", view, costs, n_programs)
    try:
        data = load_gene_ontology()
    except MissingDataError as error:
        table.note(f"SPO_GO is left out. {error}")
        return
    Y = data.space.validate(data.terms_train)
    view, costs = costs_of(data.space, data.X_train, Y, data.X_test[:200])
    bench_costs(table, "gene ontology", view, costs, 5)
    if "--default" in arguments:
        bench_default(table, data)


if __name__ == "__main__":
    main(sys.argv[1:])
