# SPDX-License-Identifier: BSD-3-Clause
"""Decisions that are numbers, against many other numbers."""

import numpy as np
import oracle_quantities as oracle
from certified_spaces import Wrong, dense

from skstruct import ConditionalRiskMinimizer, losses, smoothing, spaces
from skstruct.kernels import RBF

ROUNDING = 1e-8  # of the sum of the terms of a risk


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
