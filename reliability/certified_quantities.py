# SPDX-License-Identifier: BSD-3-Clause
"""Decisions that are numbers, and decisions learned from costs, against definitions."""

import numpy as np
import oracle_losses
import oracle_quantities as oracle
from certified_spaces import Wrong, dense
from drawn_edges import assignments, matchings, shortest_paths, spanning_trees
from drawn_sets import binary_polytope, knapsack, label_sets

from skstruct import ConditionalRiskMinimizer, losses, smoothing, spaces
from skstruct.kernels import RBF

ROUNDING = 1e-8  # of the sum of the terms of a risk
DECIDED = [knapsack, assignments, shortest_paths, spanning_trees, label_sets, matchings,
           binary_polytope]  # fmt: skip


def smoother(rng):
    if rng.random() < 0.7:
        return {"kernel": RBF(0.3), "alpha": float(10 ** rng.uniform(-3, 1))}
    return {"smoother": smoothing.NadarayaWatson()}


def drawn_quantities(rng):
    """A space, outputs of training and many other points of the space."""
    n = int(rng.integers(6, 20))
    kind = rng.choice(["Interval", "Interval", "Box", "Simplex"])
    if kind == "Simplex":
        d = int(rng.integers(2, 4))
        Y = rng.dirichlet(np.ones(d), n)
        return spaces.Simplex(), Y, oracle.simplex_points(d, 300, rng), {"Squared"}
    Y = np.round(rng.random((n, 1 if kind == "Interval" else 2)) * 4, 1)
    Y = Y - 2 if rng.random() < 0.5 else Y
    low, high = Y.min(axis=0), Y.max(axis=0)
    known = set(oracle.LOSSES) - (oracle.NOT_NEGATIVE if low.min() < 0 else set())
    if kind == "Interval":
        points = np.vstack([oracle.line_points(low[0], high[0], 401), Y])
        return spaces.Interval(), Y[:, 0], points, known
    points = low + (high - low) * rng.random((400, 2))
    return spaces.Box(), Y, np.vstack([points, Y]), known


def quantity_case(rng, n_rows):
    """No point is better than a bound says, and every value is the risk of its decision."""
    space, Y, points, known = drawn_quantities(rng)
    name = sorted(known)[rng.integers(len(known))]
    c = float(np.round(0.05 + 0.9 * rng.random(), 2))
    loss = getattr(losses, name)(*([c] if name in oracle.SCALED else []))
    X = rng.standard_normal((len(Y), 2))
    model = ConditionalRiskMinimizer(space, loss, **smoother(rng)).fit(X, Y)
    new = rng.standard_normal((n_rows, 2))
    weights, outputs = dense(model.smoother_.weights(new)), np.reshape(Y, (len(Y), -1))
    decoded = model.decode(new)
    found = np.reshape(decoded.outputs, (n_rows, -1))
    check_within(type(space).__name__, found, outputs)

    def rho(z, y):
        return oracle.LOSSES[name](z, y, c)

    own = np.einsum("ni,ni->n", weights, rho(found[:, None], outputs[None]).sum(axis=2))
    others = oracle.risks(points, outputs, weights, rho)
    size = np.abs(weights).sum(axis=1) * (1 + rho(points[:, None], outputs[None]).sum(axis=2).max())
    slack = ROUNDING * size
    if not (np.abs(decoded.values - own) <= slack).all():
        raise Wrong(f"{name} on {space}: values are not the risks of decisions")
    if not (decoded.bounds <= np.minimum(own, others.min(axis=1)) + slack).all():
        raise Wrong(f"{name} on {space}: a point is better than a bound")
    return n_rows, f"ConditionalRiskMinimizer on {type(space).__name__}"


def check_within(name, Z, Y):
    if name == "Simplex":
        inside = (Z >= -1e-9).all(axis=1) & (np.abs(Z.sum(axis=1) - 1) <= 1e-9)
    else:
        inside = (Y.min(axis=0) - 1e-9 <= Z).all(axis=1) & (Y.max(axis=0) + 1e-9 >= Z).all(axis=1)
    if not inside.all():
        raise Wrong(f"{name}: a decision is not in the space")


def decision_case(rng, n_rows):
    """Cost and regret of decisions, learned from rows of costs."""
    drawn = DECIDED[rng.integers(len(DECIDED))](rng)
    n, d = int(rng.integers(6, 20)), drawn.psi.shape[1]
    C, X = np.round(rng.standard_normal((n, d)) * 2, 1), rng.standard_normal((n, 3))
    by_regret, most = rng.random() < 0.5, rng.random() < 0.3
    sense, signed = ("max", -C) if most else ("min", C)
    loss = (losses.Regret if by_regret else losses.Cost)(sense)
    model = ConditionalRiskMinimizer(drawn.space, loss, **smoother(rng)).fit(X, C)
    new = rng.standard_normal((n_rows, 3))
    weights = dense(model.smoother_.weights(new))
    matrix = (oracle_losses.regret if by_regret else oracle_losses.cost)(drawn.psi, signed)
    decoded, values = model.decode(new), weights @ matrix.T
    at = numbers_of(drawn, decoded.outputs)
    slack = ROUNDING * np.abs(weights).sum(axis=1) * (1 + np.abs(drawn.psi @ signed.T).max())
    best = values.min(axis=1)
    if (at < 0).any():
        raise Wrong(f"{drawn.name}, {loss}: a decision is not in the space")
    own = values[np.arange(n_rows), at]
    if not ((np.abs(decoded.values - own) <= slack) & (own <= best + slack)).all():
        raise Wrong(f"{drawn.name}, {loss}: not the decision of least expected cost, or its value")
    if not (decoded.bounds <= best + slack).all():
        raise Wrong(f"{drawn.name}, {loss}: a bound is above the least expected cost")
    return n_rows, f"{type(loss).__name__} on {drawn.name}"


def numbers_of(drawn, outputs):
    """The numbers of decisions among all outputs, in names or as rows of psi; -1 for others."""
    if isinstance(outputs, np.ndarray) and outputs.ndim == 2 and outputs.dtype.kind in "iuf":
        number = {tuple(psi): j for j, psi in enumerate(drawn.psi.tolist())}
        return np.array([number.get(tuple(z), -1) for z in outputs.astype(float).tolist()])
    number = {drawn.key(output): j for j, output in enumerate(drawn.outputs)}
    return np.array([number.get(drawn.key(output), -1) for output in outputs])
