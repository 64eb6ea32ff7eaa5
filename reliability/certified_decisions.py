# SPDX-License-Identifier: BSD-3-Clause
"""Decisions learned from costs and from scenarios, against the list of all decisions."""

import numpy as np
import oracle_losses
from certified_quantities import smoother
from certified_regions import SOLVED, check_region, risk_limited
from certified_spaces import Wrong, dense
from drawn_edges import assignments, matchings, shortest_paths, spanning_trees
from drawn_quantities import box, flows, polytope, portfolios, simplex
from drawn_sets import binary_polytope, knapsack, label_sets
from drawn_solvers import solver_space
from oracle_quantities import nearest_probabilities

from skstruct import ConditionalRiskMinimizer, losses
from skstruct.spaces import Targets

DECIDED = [knapsack, assignments, shortest_paths, spanning_trees, label_sets, matchings,
           binary_polytope, solver_space]  # fmt: skip
FEW = 25  # rows, of what takes a program each


def tail(rng, sense):
    """A loss of the worst, and its risks (m,) of shares (n,) and costs (m, n) by definition."""
    level = float(rng.choice([0.0, 0.5, 0.9, np.round(rng.random() * 0.99, 2)]))
    mean_weight = float(rng.choice([0.0, 0.3, 1.0]))
    loss = losses.ConditionalValueAtRisk(level, sense, mean_weight=mean_weight)

    def risks(shares, costs):
        worst = oracle_losses.tail_means(costs, shares, level)
        return mean_weight * costs @ shares + (1 - mean_weight) * worst

    return loss, risks


def drawn_decision(rng):
    """A loss of observed costs, its sense, and risks by definition from weights and costs."""
    sense, kind = ("max" if rng.random() < 0.3 else "min"), rng.integers(3)
    if kind == 2:
        loss, risks = tail(rng, sense)
        return loss, sense, lambda weights, costs: risks(nearest_probabilities(weights), costs)
    if kind == 1:
        return losses.Regret(sense), sense, lambda w, costs: (costs - costs.min(axis=0)) @ w
    return losses.Cost(sense), sense, lambda w, costs: costs @ w


def decision_case(rng, n_rows):
    """Cost, regret and tail risk of decisions, learned from rows of costs."""
    drawn = DECIDED[rng.integers(len(DECIDED))](rng)
    n, d = int(rng.integers(6, 20)), drawn.psi.shape[1]
    C, X = np.round(rng.standard_normal((n, d)) * 2, 1), rng.standard_normal((n, 3))
    loss, sense, risks = drawn_decision(rng)
    n_rows = FEW if isinstance(loss, losses.ConditionalValueAtRisk) else n_rows
    model = ConditionalRiskMinimizer(drawn.space, loss, **smoother(rng)).fit(X, C)
    costs = drawn.psi @ (-C if sense == "max" else C).T
    what = f"{drawn.name}, {loss}"
    return listed_decisions(rng, model, drawn, costs, risks, n_rows, what), (
        f"{type(loss).__name__} on {drawn.name}"
    )


def listed_decisions(rng, model, drawn, costs, risks, n_rows, what):
    """Decisions with constraints and without, against the risks of all; costs [decision, row]."""
    new, done = rng.standard_normal((n_rows, 3)), 0
    weights = dense(model.smoother_.weights(new))
    values = np.array([risks(row, costs) for row in weights])
    slack = SOLVED * np.maximum(np.abs(weights).sum(axis=1), 1) * (1 + np.abs(costs).max())
    limits, allowed = (None, None) if drawn.narrow is None else drawn.narrow(rng, n_rows)
    asked = [(None, np.ones((1, 1), bool))]
    if limits and allowed.any(axis=1).all():
        asked.append((limits, allowed))
    for restrict, met in asked:
        decoded = model.decode(new, restrict=restrict)
        check_listed(decoded, numbers_of(drawn, decoded.outputs), values, met, slack, what)
        done += n_rows
    return done


def check_listed(decoded, at, values, met, slack, what):
    met, rows = np.broadcast_to(met, values.shape), np.arange(len(values))
    if (at < 0).any() or not met[rows, at].all():
        raise Wrong(f"{what}: a decision is not in the space, or breaks constraints")
    own, best = values[rows, at], np.where(met, values, np.inf).min(axis=1)
    if not (np.abs(decoded.values - own) <= slack).all():
        raise Wrong(f"{what}: the value is not the risk of the decision")
    if not (own <= best + slack).all():
        raise Wrong(f"{what}: not the decision of least risk")
    if not (decoded.bounds <= best + slack).all():
        raise Wrong(f"{what}: a bound is above the least risk")


def scenario_case(rng, n_rows):
    """Any cost of a decision under observed rows, by comparing all and by a solver."""
    drawn = DECIDED[rng.integers(len(DECIDED) - 1)](rng)
    n, m = int(rng.integers(6, 20)), len(drawn.outputs)
    seen, X = np.round(rng.standard_normal((n, 2)), 1), rng.standard_normal((n, 3))
    slopes, places = np.round(rng.standard_normal((2, m)), 2)

    def table(Y):
        return slopes[:, None] * Y[:, 0] + np.abs(places[:, None] - Y[:, 1])

    def cost(z, Y):
        one = z[None] if isinstance(z, np.ndarray) else [z]
        return table(Y)[numbers_of(drawn, one)[0]]

    def solve(weights, Y):
        values = table(Y) @ weights
        return drawn.outputs[int(values.argmin())], float(values.min())

    loss = losses.Scenarios(cost, solve if rng.random() < 0.4 else None)
    model = ConditionalRiskMinimizer(drawn.space, loss, **smoother(rng)).fit(X, seen)
    if loss.solve is not None:
        drawn.narrow = None  # the solver knows of no constraints
    what = f"{drawn.name}, Scenarios"
    done = listed_decisions(
        rng, model, drawn, table(seen), lambda w, costs: costs @ nearest_probabilities(w),
        min(n_rows, 50), what,
    )  # fmt: skip
    return done, f"Scenarios on {drawn.name}"


def region_decision_case(rng, n_rows):
    """The same of decisions that are numbers."""
    region = [box, simplex, polytope, flows, portfolios][rng.integers(5)](rng)
    n, d = int(rng.integers(6, 20)), region.points.shape[1]
    C, X = np.round(rng.standard_normal((n, d)) * 2, 1), rng.standard_normal((n, 3))
    loss, sense, risks = drawn_decision(rng)
    is_tail, signed = isinstance(loss, losses.ConditionalValueAtRisk), -C if sense == "max" else C
    n_rows = FEW if is_tail else min(n_rows, 100)
    own = np.zeros((d, d))
    if region.facts is not None:
        S, most = region.facts
        own, region = (
            S * float(Targets.of(region.space).own_costs()[0]),
            risk_limited(region, S, most),
        )
    what = f"{region.name}, {loss}"
    try:
        model = ConditionalRiskMinimizer(region.space, loss, **smoother(rng)).fit(X, C)
        new = rng.standard_normal((n_rows, 3))
        weights = dense(model.smoother_.weights(new))
        optima = best_of(region, signed, own) if isinstance(loss, losses.Regret) else 0.0

        def costs_at(Z):
            table = Z @ signed.T + 0.5 * np.einsum("ij,jk,ik->i", Z, own, Z)[:, None] - optima
            if isinstance(loss, losses.Regret):
                return weights @ table.T
            return np.array([risks(row, table) for row in weights])

        largest = 1 + np.abs(costs_at(region.points)).max()
        size = np.maximum(np.abs(weights).sum(axis=1), 1) * largest
        check_region(model.decode(new), region, costs_at, SOLVED * size, None, near=5)
    except Exception as error:
        raise Wrong(f"{what}: {type(error).__name__}: {error}") from error
    return n_rows, f"{type(loss).__name__} on {region.name}"


def best_of(region, C, own):
    """What the best costs in every row of training; of portfolios, as the space says."""
    if region.facts is None:
        return (region.vertices @ C.T).min(axis=0)
    costs = np.column_stack([C, np.tile(Targets.of(region.space).own_costs(), (len(C), 1))])
    return region.space.argmin(costs).values


def numbers_of(drawn, outputs):
    """The numbers of decisions among all outputs, in names or as rows of psi; -1 for others."""
    if isinstance(outputs, np.ndarray) and outputs.ndim == 2 and outputs.dtype.kind in "iuf":
        number = {tuple(psi): j for j, psi in enumerate(drawn.psi.tolist())}
        return np.array([number.get(tuple(z), -1) for z in outputs.astype(float).tolist()])
    number = {drawn.key(output): j for j, output in enumerate(drawn.outputs)}
    return np.array([number.get(drawn.key(output), -1) for output in outputs])
