# SPDX-License-Identifier: BSD-3-Clause
"""Outputs of training that are one of a few, or numbers between limits.

What may be true is what was listed; what the learner decides for a row of training is among it;
predictions are of least risk under what was decided.
"""

import warnings

import numpy as np
from certified_learners import decided
from certified_predictions import inputs
from certified_regions import check_region
from certified_spaces import Wrong, dense, places
from drawn_losses import drawn_loss
from drawn_orders import rankings, sequences
from drawn_quantities import box
from drawn_sets import candidates, classes, hierarchy, label_sets, ordinal
from oracle_quantities import LOSSES
from sklearn.base import clone

from skstruct import ConditionalRiskMinimizer, losses
from skstruct.kernels import RBF
from skstruct.spaces import Censored, Known, OneOf

FAMILIES = [label_sets, hierarchy, classes, candidates, ordinal, rankings, sequences]
SYMMETRIC = ("Hamming", "ZeroOne", "Kendall", "Footrule", "Spearman", "SequenceHamming")


def lists_of(rng, drawn, n):
    """Lists of numbers of outputs, of which one is true; at least one has a single one."""
    sizes = rng.integers(1, min(4, len(drawn.outputs)) + 1, n)
    sizes[0] = 1
    return [rng.choice(len(drawn.outputs), size, replace=False) for size in sizes]


def one_of_case(rng, n_rows):
    drawn = FAMILIES[rng.integers(len(FAMILIES))](rng)
    if len(drawn.outputs) < 2:
        return 0, "OneOf"
    n = int(rng.integers(8, 20))
    lists, X = lists_of(rng, drawn, n), inputs(rng, n, 3)
    Y = [drawn.outputs[at[0]] if len(at) == 1 else OneOf([drawn.outputs[j] for j in at])
         for at in lists]  # fmt: skip
    if all(len(at) == 1 for at in lists):
        return 0, "OneOf"
    try:
        done = check_read(rng, drawn, Y, lists)
        return done + check_decided(rng, drawn, X, Y, lists, n_rows), f"OneOf on {drawn.name}"
    except Exception as error:
        raise Wrong(f"OneOf, {drawn.name}: {type(error).__name__}: {error}") from error


def check_read(rng, drawn, Y, lists):
    """Each row allows its list, and the cheapest of it is found."""
    space = clone(drawn.space)
    partial, Z = Known.of(space).read(Y), drawn.canonical()
    if (partial.complete != [len(at) == 1 for at in lists]).any():
        raise Wrong("rows of one output are not those that are known")
    for i, at in enumerate(lists):
        allowed = partial.allowed.rows([i])
        met = np.array([allowed.contains(z[None])[0] for z in Z])
        if sorted(np.flatnonzero(met)) != sorted(at):
            raise Wrong(f"row {i} allows other outputs than its list")
    costs = rng.standard_normal((len(Y), drawn.psi.shape[1]))
    found = partial.allowed.argmin(costs)
    values, at = costs @ drawn.psi.T, places(found.outputs, Z)
    for i, listed in enumerate(lists):
        if at[i] not in listed or values[i, at[i]] > values[i, listed].min() + 1e-9:
            raise Wrong(f"row {i}: not the cheapest of its list")
    return len(Y)


def check_decided(rng, drawn, X, Y, lists, n_rows):
    loss = drawn_loss(rng, drawn)
    while type(loss.loss).__name__ not in SYMMETRIC or (loss.matrix != loss.matrix.T).any():
        loss = drawn_loss(rng, drawn)
    model = ConditionalRiskMinimizer(clone(drawn.space), loss.loss, kernel=RBF(0.3), alpha=0.1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, Y)
    at = places(model.outputs_, drawn.canonical())
    if any(j not in listed for j, listed in zip(at, lists)):
        raise Wrong("an output that was decided is not on the list of its row")
    new = inputs(rng, n_rows, 3)
    weights = dense(model.smoother_.weights(new))
    return decided(model.decode(new), drawn, loss, at, weights)


def censored_case(rng, n_rows):
    """Numbers between limits: what is decided for a row lies between its own."""
    region = box(rng)
    n = len(region.Y)
    below, above = (rng.exponential(size=region.Y.shape) * (rng.random(region.Y.shape) < 0.4)
                    for _ in range(2))  # fmt: skip
    ends = region.vertices.min(axis=0), region.vertices.max(axis=0)
    low, high = np.maximum(region.Y - below, ends[0]), np.minimum(region.Y + above, ends[1])
    low[0] = high[0] = np.clip(region.Y[0], *ends)
    low = np.minimum(low, high)  # vertices are rounded
    if (low == high).all():
        return 0, "Censored"
    X = rng.standard_normal((n, 2))
    told = Censored(low[:, 0], high[:, 0]) if low.shape[1] == 1 else Censored(low, high)
    name = ["Squared", "Absolute"][rng.integers(2)]
    try:
        model = ConditionalRiskMinimizer(
            region.space, getattr(losses, name)(), kernel=RBF(0.3), alpha=0.1
        ).fit(X, told)
        Y = np.reshape(np.asarray(model.outputs_, dtype=float), low.shape)
        if not ((low - 1e-9 <= Y) & (high + 1e-9 >= Y)).all():
            raise Wrong("a number that was decided is not between its limits")
        new = rng.standard_normal((n_rows, 2))
        weights = dense(model.smoother_.weights(new))

        def costs_at(Z):
            return weights @ LOSSES[name](Z[:, None], Y[None], 1.0).sum(axis=2).T

        largest = 1 + 2 * np.abs(Y).max() + np.abs(region.points).max()
        size = np.abs(weights).sum(axis=1) * largest**2
        check_region(model.decode(new), region, costs_at, 1e-8 * size, None)
    except Exception as error:
        raise Wrong(f"Censored, {region.name}: {type(error).__name__}: {error}") from error
    return n_rows, f"Censored on {region.name}"
