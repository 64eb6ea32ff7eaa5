# SPDX-License-Identifier: BSD-3-Clause
"""Predictions of learners, held against risks and scores of all outputs by definition.

Of a learner by weights, the risk of every output is summed over the training rows with the
learner's own weights and the loss by definition; of a learner of scores, every output is scored
with the learner's own scores and the embedding by definition.
"""

import warnings

import numpy as np
from certified_spaces import Wrong, dense
from drawn_losses import drawn_loss

from skstruct import ConditionalRiskMinimizer, learners, smoothing
from skstruct.kernels import RBF

ROUNDING = 1e-8  # of the sum of the terms of a risk


def inputs(rng, n, p):
    return rng.standard_normal((n, p)) * 10 ** rng.uniform(-1, 1, p)


def training(rng, drawn):
    """Numbers of outputs of training, and inputs for them; some outputs repeat."""
    n = int(rng.integers(6, 25))
    pool = rng.integers(len(drawn.outputs), size=max(2, n // 2))
    at = np.where(rng.random(n) < 0.5, rng.choice(pool, n), rng.integers(len(drawn.outputs), size=n))
    return at, inputs(rng, n, 3)


def given(drawn, at):
    outputs = [drawn.outputs[j] for j in at]
    return np.array(outputs) if isinstance(outputs[0], np.ndarray) else outputs


def places_of(drawn, outputs):
    number = {drawn.key(output): j for j, output in enumerate(drawn.outputs)}
    return np.array([number.get(drawn.key(output), -1) for output in outputs])


def check(decoded, at, values, size, allowed, exact):
    """Decisions against the values (n, m) of all outputs; size (n,) of what is summed."""
    rows, slack = np.arange(len(values)), ROUNDING * size + 1e-300
    best = np.where(allowed, values, np.inf).min(axis=1)
    if (at < 0).any():
        raise Wrong(f"row {(at < 0).argmax()}: the prediction is not in the space")
    if not np.broadcast_to(allowed, values.shape)[rows, at].all():
        raise Wrong("a prediction breaks the constraints")
    off = ~(np.abs(decoded.values - values[rows, at]) <= slack)
    if off.any():
        raise Wrong(f"row {off.argmax()}: the estimated risk is not that of the definition")
    if not (decoded.bounds <= best + slack).all():
        raise Wrong("a bound is above the least risk")
    if exact and not (decoded.values <= best + slack).all():
        raise Wrong("the prediction is not of least risk")
    if not (decoded.values <= decoded.bounds + slack).all() and exact:
        raise Wrong("an exact decision has a gap")


SMOOTHERS = [
    lambda rng: {"kernel": RBF(0.3), "alpha": float(10 ** rng.uniform(-6, 1))},
    lambda rng: {"kernel": RBF(0.3), "alpha": 0.1, "fit_intercept": False},
    lambda rng: {"kernel": "linear", "alpha": float(10 ** rng.uniform(-3, 1))},
    lambda rng: {"smoother": smoothing.NadarayaWatson()},
    lambda rng: {"smoother": smoothing.Neighbors(n_neighbors=int(rng.integers(1, 6)))},
    lambda rng: {"smoother": smoothing.Forest(n_estimators=5, random_state=0)},
    lambda rng: {"smoother": smoothing.LinearRidge(alpha=0.5)},
]


def by_risk(rng, drawn, n_rows):
    """ConditionalRiskMinimizer, with constraints and another loss at prediction."""
    at, X = training(rng, drawn)
    loss = drawn_loss(rng, drawn)
    settings = SMOOTHERS[rng.integers(len(SMOOTHERS))](rng)
    model = ConditionalRiskMinimizer(drawn.space, loss.loss, **settings).fit(X, given(drawn, at))
    new = inputs(rng, n_rows, 3)
    weights = dense(model.smoother_.weights(new))
    done = decided(model.decode(new), drawn, loss, at, weights)
    other = drawn_loss(rng, drawn)
    done += decided(model.decode(new, loss=other.loss), drawn, other, at, weights)
    limits, allowed = (None, None) if drawn.narrow is None else drawn.narrow(rng, n_rows)
    if limits and allowed.any(axis=1).all() and not loss.seen_only:
        decoded = model.decode(new, restrict=limits)
        done += decided(decoded, drawn, loss, at, weights, allowed)
    return done, "ConditionalRiskMinimizer"


def decided(decoded, drawn, loss, at, weights, allowed=True):
    values = weights @ loss.matrix[:, at].T
    size = (np.abs(weights) @ np.abs(loss.matrix[:, at].T)).max(axis=1)
    if loss.seen_only:
        allowed = np.isin(np.arange(len(drawn.outputs)), at)[None]
    exact = drawn.space.guarantee.kind == "exact"
    check(decoded, places_of(drawn, decoded.outputs), values, size, allowed, exact)
    return len(values)


def by_scores(rng, drawn, n_rows):
    """Learners of scores u(x): the output of the largest <u, psi(z)>."""
    at, X = training(rng, drawn)
    make = SCORED[rng.integers(len(SCORED))]
    model = make(drawn.space).fit(X, given(drawn, at))
    name = type(model).__name__
    new = inputs(rng, n_rows, 3)
    scores = model.decision_function(new)
    if scores.ndim == 1:  # of two classes: how far the second is ahead of the first
        scores = np.column_stack([-scores, scores]) / 2
        values = None
    elif hasattr(model, "coef_") and hasattr(model, "intercept_"):
        values = new @ model.coef_.T + model.intercept_
    else:
        values = scores
    if values is not None and not np.allclose(values, scores, rtol=1e-9, atol=1e-9 * np.abs(scores).max()):
        raise Wrong(f"{name}: decision_function is not X @ coef_.T + intercept_")
    return scored(rng, model, drawn, new, scores, values is not None), name


def scored(rng, model, drawn, new, scores, whole):
    costs = -scores @ drawn.psi.T
    size = (np.abs(scores) @ np.abs(drawn.psi).T).max(axis=1)
    exact = drawn.space.guarantee.kind == "exact"
    decoded = model.decode(new)
    if not whole:
        decoded = type(decoded)(decoded.outputs, costs.min(axis=1), costs.min(axis=1))
    check(decoded, places_of(drawn, decoded.outputs), costs, size, True, exact)
    done = len(new)
    limits, allowed = (None, None) if drawn.narrow is None else drawn.narrow(rng, len(new))
    if limits and whole and allowed.any(axis=1).all():
        decoded = model.decode(new, restrict=limits)
        check(decoded, places_of(drawn, decoded.outputs), costs, size, allowed, exact)
        done += len(new)
    return done


SCORED = [
    lambda space: learners.StructuredSVM(space, alpha=0.1, max_iter=20, tol=0.1, random_state=0),
    lambda space: learners.StructuredPerceptron(space, max_iter=3, random_state=0),
    lambda space: learners.ExponentialFamily(space, alpha=0.1, max_iter=10),
    lambda space: learners.CountingRidge(space, alpha=0.1, kernel=RBF(0.3)),
]


def learner_case(rng, families, n_rows):
    drawn = families[rng.integers(len(families))](rng)
    kind = by_risk if rng.random() < 0.6 else by_scores
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            done, name = kind(rng, drawn, n_rows)
            return done, f"{name} on {drawn.name.partition(',')[0]}"
        except Exception as error:
            raise Wrong(f"{kind.__name__}, {drawn.name}: {type(error).__name__}: {error}") from error
