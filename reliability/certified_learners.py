# SPDX-License-Identifier: BSD-3-Clause
"""Predictions of learners, held against risks and scores of all outputs by definition.

Of a learner by weights, the risk of every output is summed over the training rows with the
learner's own weights and the loss by definition; of a learner of scores, every output is scored
with the learner's own scores and the embedding by definition.
"""

import warnings

import numpy as np
from certified_predictions import check, check_lists, given, inputs, places_of, training
from certified_rankers import by_neighbors, by_ranking
from certified_scores import by_approximate_scores, by_margins, by_network, by_scores
from certified_spaces import Wrong, dense
from drawn_losses import WHOLE, drawn_loss

from skstruct import ConditionalRiskMinimizer, learners, smoothing
from skstruct.kernels import RBF
from skstruct.losses import Deciding

NOT_OFFERED = "F measures are decoded exactly over label sets and over forests"  # and says so


SMOOTHERS = [
    lambda rng: {"kernel": RBF(0.3), "alpha": float(10 ** rng.uniform(-4, 1))},
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
    if hasattr(model.problem_.space, "kbest"):
        done += listed(rng, model, drawn, loss, at, new[:40], weights[:40])
    return done, "ConditionalRiskMinimizer"


def listed(rng, model, drawn, loss, at, new, weights):
    """k-best lists by risk, where the loss is one of sums over parts."""
    if loss.seen_only or Deciding.of(model.problem_.loss).needs_weights(model.problem_.space):
        return 0
    values = weights @ loss.matrix[:, at].T
    size = np.abs(weights).sum(axis=1) * (1 + np.abs(loss.matrix).max())
    found = model.kbest(new, int(rng.integers(1, 6)))
    check_lists(found, drawn, values, size, True, drawn.space.guarantee.kind == "exact")
    return len(new)


def decided(decoded, drawn, loss, at, weights, allowed=True):
    values = weights @ loss.matrix[:, at].T
    size = np.abs(weights).sum(axis=1) * (1 + np.abs(loss.matrix).max())
    if loss.seen_only:
        allowed = np.isin(np.arange(len(drawn.outputs)), at)[None]
    exact = drawn.space.guarantee.kind == "exact"
    check(decoded, places_of(drawn, decoded.outputs), values, size, allowed, exact)
    return len(values)


def by_kernel(rng, drawn, n_rows):
    """OutputKernelRegressor: least k(y, y) - 2 sum_i b_i k(y, y_i)."""
    at, X = training(rng, drawn)
    linear = drawn.name in ("LabelSets", "Hierarchy", "Knapsacks") and rng.random() < 0.7
    kernel, method = "linear" if linear else "dirac", "ridge"
    if rng.random() < 0.3:
        method = learners.PrincipalComponents()
    model = learners.OutputKernelRegressor(
        drawn.space, kernel=RBF(0.3), output_kernel=kernel, method=method, alpha=0.1
    ).fit(X, given(drawn, at))
    new = inputs(rng, n_rows, 3)
    weights = dense(model.explain(new).weights)
    K = drawn.psi @ drawn.psi.T if linear else np.eye(len(drawn.outputs))
    values = np.diag(K)[None] - 2 * weights @ K[at]
    whole = linear or drawn.name in WHOLE
    allowed = True if whole else np.isin(np.arange(len(K)), at)[None]
    decoded = model.decode(new)
    size = (1 + 2 * np.abs(weights).sum(axis=1)) * (1 + np.abs(K).max())
    check(decoded, places_of(drawn, decoded.outputs), values, size, allowed, True)
    return n_rows, "OutputKernelRegressor"


def learner_case(rng, families, n_rows):
    drawn = families[rng.integers(len(families))](rng)
    kinds = [by_risk, by_risk, by_risk, by_scores, by_scores, by_kernel, by_approximate_scores]
    kinds += [by_ranking] * 3 + [by_neighbors] * 2 if drawn.name == "Rankings" else []
    kinds += [by_network] * 3 if drawn.name == "LabelSets" else []
    if drawn.name == "SolverSpace":  # whose solutions nobody counts
        kinds = [by_risk, by_margins]
    kind = kinds[rng.integers(len(kinds))]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            done, name = kind(rng, drawn, n_rows)
            return done, f"{name} on {drawn.name.partition(',')[0]}"
        except Exception as error:
            if NOT_OFFERED in str(error):
                return 0, "not offered"
            what = f"{kind.__name__}, {drawn.name}"
            raise Wrong(f"{what}: {type(error).__name__}: {error}") from error
