# SPDX-License-Identifier: BSD-3-Clause
"""Spaces of numbers: linear costs against all vertices, other costs against many points.

Points can only disprove: none of them may cost less than a bound, and where a space promises an
optimum, its value is its bound.
"""

import numpy as np
import oracle_polytopes
import oracle_quantities as oracle
from certified_predictions import ROUNDING
from certified_spaces import Wrong, dense
from drawn_costs import costs as drawn_costs
from drawn_quantities import REGIONS, box, flows, polytope, simplex, sphere

from skstruct import ConditionalRiskMinimizer, losses, smoothing
from skstruct.kernels import RBF

SOLVED = 1e-6  # of the terms of a risk: what solvers of programs promise
NEAR = 20  # rows around whose decisions points are tried, too


def check_region(decoded, region, costs_at, slack, exact, near=NEAR):
    """Decisions (n, d) against ``costs_at(Z)``, what points (m, d) cost in all rows: (n, m)."""
    Z = np.reshape(decoded.outputs, (len(decoded.values), -1))
    if not region.inside(Z).all():
        raise Wrong(f"row {(~region.inside(Z)).argmax()}: the decision is not in the space")
    rows = np.arange(len(Z))
    own = costs_at(Z)[rows, rows]
    off = ~(np.abs(decoded.values - own) <= slack)
    if off.any():
        raise Wrong(f"row {off.argmax()}: the value is not what the decision costs")
    best = np.minimum(own, costs_at(region.points).min(axis=1))
    V = region.points[:60] if region.vertices is None else region.vertices
    around = oracle_polytopes.towards(Z[:near], V)
    for row, points in enumerate(around):
        if region.vertices is None:  # back to length one
            lengths = np.linalg.norm(points, axis=1, keepdims=True)
            points = points / np.where(lengths > 0, lengths, 1.0)
        points = points[region.inside(points)]
        best[row] = min(best[row], costs_at(points)[row].min(initial=np.inf))
    above = ~(decoded.bounds <= best + slack)
    if above.any():
        row = int(above.argmax())
        raise Wrong(f"row {row}: the bound is {decoded.bounds[row] - best[row]:.3g} above a point")
    if exact is not None and (exact & (decoded.values > decoded.bounds + slack)).any():
        raise Wrong("there is a gap where an optimum is promised")


def check_linear(rng, region, space, n):
    d = region.points.shape[1]
    S, most = region.facts or (np.zeros((d, d)), np.inf)
    width = d + (region.facts is not None)
    costs = drawn_costs(rng, n, width)
    if region.facts is not None:
        region = risk_limited(region, S, most)
    decoded = space.argmin(costs)

    def costs_at(Z):
        psi = np.column_stack([Z, 0.5 * np.einsum("ij,jk,ik->i", Z, S, Z)])[:, :width]
        return costs @ psi.T

    sizes = np.column_stack([np.abs(region.points), np.full(len(region.points), np.abs(S).max())])
    size = (np.abs(costs) @ sizes[:, :width].T).max(axis=1)
    exact = np.ones(n, bool)
    if region.facts is not None:  # where risk is rewarded, a bound is all that is promised
        exact = (costs[:, -1] >= 0) | (space.guarantee.kind == "exact")
    check_region(decoded, region, costs_at, SOLVED * size + 1e-300, exact)
    if region.vertices is not None and region.facts is None:
        best = (costs @ region.vertices.T).min(axis=1)
        if not (np.abs(decoded.values - best) <= SOLVED * size + 1e-300).all():
            raise Wrong("a linear cost is less at a vertex")
    return n


def risk_limited(region, S, most):
    """The same with the points that have no larger deviation."""
    if most == np.inf:
        return region

    def inside(Z):
        variances = np.einsum("ij,jk,ik->i", Z, S, Z)
        return was(Z) & (variances <= most**2 * (1 + oracle_polytopes.INSIDE))

    was, kept = region.inside, type(region)(**vars(region))
    kept.inside, kept.points = inside, region.points[inside(region.points)]
    return kept


def region_case(rng, n_rows):
    """A space of numbers by itself, with constraints and without."""
    region = REGIONS[rng.integers(len(REGIONS))](rng)
    try:
        if not np.asarray(region.space.contains(region.points)).all() and region.facts is None:
            raise Wrong("a point of the definition is not in the space")
        done = check_linear(rng, region, region.space, n_rows)
        if region.narrow is not None:
            limits, left = region.narrow(rng)
            if len(left.vertices):
                done += check_linear(rng, left, region.space.restrict(**limits), n_rows)
    except Exception as error:
        raise Wrong(f"{region.name}, {type(error).__name__}: {error}") from error
    return done, region.name


# Risks of losses, under the weights of a smoother


def drawn_rho(rng, region):
    """A loss and its definition as a function of points and outputs: arrays [point, output]."""
    d, kind = region.Y.shape[1], rng.integers(4)
    if region.name == "Sphere":
        kind = [0, 3][rng.integers(2)]
    if kind == 1:
        under, over = np.round(rng.random((2, d)) * 3, 1)
        return losses.Newsvendor(under, over), lambda P, Y: oracle.newsvendor(P, Y, under, over)
    if kind == 2:
        breaks = np.sort(rng.choice(np.arange(-4, 5), int(rng.integers(1, 5)), replace=False)) / 2
        slopes = np.round(rng.standard_normal(len(breaks) + 1) * 2, 1)
        slopes[0], slopes[-1] = -abs(slopes[0]), abs(slopes[-1])

        def lines(P, Y):
            return oracle.broken_line(P[:, None] - Y[None], slopes, breaks).sum(axis=2)

        return losses.PiecewiseLinear(slopes, breaks), lines
    if kind == 3:
        kernel, g = sorted(oracle.KERNELS)[rng.integers(4)], float(rng.choice([0.1, 1.0, 5.0]))
        loss = losses.KernelLoss(kernel, g, degree=2, coef0=1)
        return loss, lambda P, Y: oracle.feature_distance(P, Y, kernel, g)
    names = sorted(set(oracle.LOSSES) - (oracle.NOT_NEGATIVE if region.Y.min() < 0 else set()))
    name = "Squared" if region.name == "Sphere" else names[rng.integers(len(names))]
    c = float(np.round(0.05 + 0.9 * rng.random(), 2))
    loss = getattr(losses, name)(*([c] if name in oracle.SCALED else []))
    return loss, lambda P, Y: oracle.LOSSES[name](P[:, None], Y[None], c).sum(axis=2)


def smoother(rng):
    if rng.random() < 0.5:
        return {"kernel": RBF(0.3), "alpha": float(10 ** rng.uniform(-3, 1))}
    return {"smoother": smoothing.Neighbors(n_neighbors=int(rng.integers(1, 6)))}


def region_risk_case(rng, n_rows):
    """ConditionalRiskMinimizer over a space of numbers, under losses of all kinds."""
    region = [box, simplex, polytope, flows, sphere][rng.integers(5)](rng)
    loss, rho = drawn_rho(rng, region)
    X = rng.standard_normal((len(region.Y), 2))
    Y = region.Y[:, 0] if region.name == "Interval" else region.Y
    try:
        model = ConditionalRiskMinimizer(region.space, loss, **smoother(rng)).fit(X, Y)
        done = check_risks(rng, model, region, rho, n_rows, None)
        if region.narrow is not None and rng.random() < 0.5:
            limits, left = region.narrow(rng)
            left.Y = region.Y
            if len(left.vertices):
                done += check_risks(rng, model, left, rho, n_rows, limits)
    except Exception as error:
        what = f"{region.name}, {loss}"
        raise Wrong(f"{what}: {type(error).__name__}: {error}") from error
    return done, f"{type(loss).__name__} on {region.name}"


def check_risks(rng, model, region, rho, n, limits):
    new = rng.standard_normal((n, 2))
    weights = dense(model.smoother_.weights(new))
    decoded = model.decode(new, restrict=limits)
    size = np.abs(weights).sum(axis=1) * (1 + rho(region.points, region.Y).max())

    def costs_at(Z):
        return weights @ rho(Z, region.Y).T

    slack = SOLVED * size if region.name in ("Polytope", "Flows") else ROUNDING * size
    exact = None
    if type(model.loss).__name__ == "Squared":
        exact = weights.sum(axis=1) > 0
    check_region(decoded, region, costs_at, slack, exact)
    return n
