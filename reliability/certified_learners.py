# SPDX-License-Identifier: BSD-3-Clause
"""Predictions of learners, held against risks and scores of all outputs by definition.

Of a learner by weights, the risk of every output is summed over the training rows with the
learner's own weights and the loss by definition; of a learner of scores, every output is scored
with the learner's own scores and the embedding by definition.
"""

import warnings

import numpy as np
from certified_spaces import Wrong, dense
from drawn_losses import WHOLE, drawn_loss
from oracle_sets import with_products

from skstruct import ConditionalRiskMinimizer, learners, smoothing
from skstruct.kernels import RBF

ROUNDING = 1e-8  # of the sum of the terms of a risk
NOT_OFFERED = "F measures are decoded exactly over label sets and over forests"  # and says so


def inputs(rng, n, p):
    return rng.standard_normal((n, p)) * 10 ** rng.uniform(-1, 1, p)


def training(rng, drawn):
    """Numbers of outputs of training, and inputs for them; some outputs repeat."""
    n = int(rng.integers(6, 25))
    pool = rng.integers(len(drawn.outputs), size=max(2, n // 2))
    at = np.where(
        rng.random(n) < 0.5, rng.choice(pool, n), rng.integers(len(drawn.outputs), size=n)
    )
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
    return done, "ConditionalRiskMinimizer"


def decided(decoded, drawn, loss, at, weights, allowed=True):
    values = weights @ loss.matrix[:, at].T
    size = np.abs(weights).sum(axis=1) * (1 + np.abs(loss.matrix).max())
    if loss.seen_only:
        allowed = np.isin(np.arange(len(drawn.outputs)), at)[None]
    exact = drawn.space.guarantee.kind == "exact"
    check(decoded, places_of(drawn, decoded.outputs), values, size, allowed, exact)
    return len(values)


def by_scores(rng, drawn, n_rows):
    """Learners of scores u(x): the output of the largest <u, psi(z)>."""
    at, X = training(rng, drawn)
    makers = SCORED + (NETWORKS if drawn.name == "LabelSets" else [])
    model = makers[rng.integers(len(makers))](drawn.space).fit(X, given(drawn, at))
    name = type(model).__name__
    new = inputs(rng, n_rows, 3)
    psi = embedding_of(model, drawn)
    if psi is None:  # such as outputs of training, for losses without an embedding
        return 0, name
    scores = model.decision_function(new)
    if scores.ndim == 2 and hasattr(model, "intercept_"):
        check_linear(model, new, scores)
    if scores.ndim == 1:  # of two classes: how far the second is ahead of the first
        return ahead(model, drawn, new, scores), name
    return scored(rng, model, drawn, new, scores, psi), name


def check_linear(model, new, scores):
    linear = new @ model.coef_.T + model.intercept_
    constant = getattr(model, "edge_coef_", np.zeros(0))  # pairs of labels do not see inputs
    linear = np.hstack([linear, np.tile(constant, (len(new), 1))])
    if not np.abs(linear - scores).max() <= ROUNDING * (1 + np.abs(scores).max()):
        raise Wrong("decision_function is not X @ coef_.T + intercept_")


def ahead(model, drawn, new, scores):
    right = [drawn.outputs[int(score > 0)] for score in scores]
    if (np.asarray(model.predict(new)) != np.asarray(right)).any():
        raise Wrong("of two classes, another one than that of the larger score")
    return len(new)


def embedding_of(model, drawn):
    """psi of all outputs by which a learner scores, by definition; None where it is another one."""
    if hasattr(model, "edge_coef_"):
        return with_products(drawn.psi, model.space_.edges_)
    name = getattr(model.problem_, "scored", model.problem_.space).embedding
    known = {**drawn.facts.get("embeddings", {}), drawn.space.embedding: drawn.psi}
    if "Z" in drawn.facts:
        known.setdefault("indicators", drawn.facts["Z"])
    return known.get(name)


def scored(rng, model, drawn, new, scores, psi):
    costs = -scores @ psi.T
    size = (np.abs(scores) @ np.abs(psi).T).max(axis=1)
    exact = drawn.space.guarantee.kind == "exact"
    decoded = model.decode(new)
    check(decoded, places_of(drawn, decoded.outputs), costs, size, True, exact)
    done = len(new)
    limits, allowed = (None, None) if drawn.narrow is None else drawn.narrow(rng, len(new))
    network = hasattr(model, "edge_coef_")  # whose space has no sizes and groups
    if limits and not network and allowed.any(axis=1).all():
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


NETWORKS = [
    lambda space: learners.MaxMarginNetwork(alpha=0.1, max_iter=20, tol=0.1, random_state=0),
    lambda space: learners.MaxMarginTree(alpha=0.1, max_iter=20, tol=0.1, random_state=0),
]


def by_kernel(rng, drawn, n_rows):
    """OutputKernelRegressor: least k(y, y) - 2 sum_i b_i k(y, y_i)."""
    at, X = training(rng, drawn)
    linear = drawn.name in ("LabelSets", "Hierarchy", "Knapsacks") and rng.random() < 0.7
    model = learners.OutputKernelRegressor(
        drawn.space, kernel=RBF(0.3), output_kernel="linear" if linear else "dirac", alpha=0.1
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


RANKERS = [
    lambda space: learners.LabelRankingSVM(space, alpha=0.1, max_iter=50, random_state=0),
    lambda space: learners.LabelRankingBoosting(space, n_estimators=5, random_state=0),
    lambda space: learners.OnlineLabelRanker(space, alpha=0.1, max_iter=3, random_state=0),
    lambda space: learners.PairwiseComparison(space),
    lambda space: learners.ConstraintClassification(space, random_state=0),
]


def by_ranking(rng, drawn, n_rows):
    """Label rankers: the ranking of least sum of scores times ranks, which is a sort."""
    at, X = training(rng, drawn)
    model = RANKERS[rng.integers(len(RANKERS))](drawn.space).fit(X, given(drawn, at))
    new = inputs(rng, n_rows, 3)
    scores, ranks = model.decision_function(new), drawn.facts["ranks"]
    limits, allowed = drawn.narrow(rng, n_rows)
    limits = limits if limits and allowed.any(axis=1).all() else None
    found = places_of(drawn, model.predict(new, restrict=limits))
    if (found < 0).any():
        raise Wrong("a prediction is no ranking of the items")
    values, rows = scores @ ranks.T, np.arange(n_rows)
    met = np.broadcast_to(True if limits is None else allowed, values.shape)
    if not met[rows, found].all():
        raise Wrong("a prediction breaks the constraints")
    least = np.where(met, values, np.inf).min(axis=1)
    slack = ROUNDING * (np.abs(scores) @ ranks.T).max(axis=1) + 1e-300
    if not (values[rows, found] <= least + slack).all():
        raise Wrong("another ranking agrees better with the scores")
    return n_rows, type(model).__name__


def learner_case(rng, families, n_rows):
    drawn = families[rng.integers(len(families))](rng)
    kinds = [by_risk, by_risk, by_risk, by_scores, by_scores, by_kernel]
    kinds += [by_ranking] * 3 if drawn.name == "Rankings" else []
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
