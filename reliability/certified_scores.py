# SPDX-License-Identifier: BSD-3-Clause
"""Learners of scores u(x): the output of the largest <u, psi(z)>, by the learner's own scores."""

import numpy as np
from certified_predictions import ROUNDING, check, check_lists, given, inputs, places_of, training
from certified_spaces import Wrong
from drawn import Drawn
from drawn_sets import drawn_edges, names_of
from oracle_distributions import family
from oracle_sets import binary_vectors, excluding, including, with_products

from skstruct import learners, spaces
from skstruct.kernels import RBF

SOME = {"max_iter": 20, "tol": 0.1, "random_state": 0}
SCORED = [
    lambda space: learners.StructuredSVM(space, alpha=0.1, **SOME),
    lambda space: learners.StructuredPerceptron(space, max_iter=3, random_state=0),
    lambda space: learners.ExponentialFamily(space, alpha=0.1, max_iter=10),
    lambda space: learners.CountingRidge(space, alpha=0.1, kernel=RBF(0.3)),
]
APPROXIMATE = [  # other ways to the scores; what is predicted from these is exact all the same
    lambda space: _family(space, learners.Perturbations(3)),
    lambda space: _family(space, learners.PersistentChains(3, 1, n_draws=50, n_warmup=5)),
    lambda space: _family(space, learners.AnnealedChains(3, 1, n_draws=50, n_warmup=5)),
    lambda space: _ridge(space, learners.NewtonCG(tol=0.1)),
    lambda space: _ridge(space, learners.ExponentialLoss(tol=0.1)),
]


def _family(space, solver):
    return learners.ExponentialFamily(space, alpha=0.1, solver=solver, max_iter=3, random_state=0)


def _ridge(space, solver):
    return learners.CountingRidge(space, alpha=0.1, kernel=RBF(0.3), solver=solver, random_state=0)


def by_scores(rng, drawn, n_rows):
    return checked(rng, SCORED[rng.integers(len(SCORED))](drawn.space), drawn, n_rows)


def by_margins(rng, drawn, n_rows):
    """Learners that need a decoder alone."""
    return checked(rng, SCORED[rng.integers(2)](drawn.space), drawn, n_rows)


def by_approximate_scores(rng, drawn, n_rows):
    model = APPROXIMATE[rng.integers(len(APPROXIMATE))](drawn.space)
    done, name = checked(rng, model, drawn, n_rows)
    return done, f"{name}, {type(model.solver).__name__}"


def checked(rng, model, drawn, n_rows):
    at, X = training(rng, drawn)
    model.fit(X, given(drawn, at))
    name, new, psi = type(model).__name__, inputs(rng, n_rows, 3), embedding_of(model, drawn)
    scores = model.decision_function(new)
    if scores.ndim == 2 and hasattr(model, "intercept_"):
        check_linear(model, new, scores)
    if scores.ndim == 1:  # of two classes: how far the second is ahead of the first
        return ahead(model, drawn, new, scores), name
    done = scored(rng, model, drawn, new, scores, psi)
    if model_tells(model):
        done += check_probabilities(model, drawn, new[:50], scores[:50], psi)
    return done, name


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
    """psi of all outputs by which a learner scores, by definition."""
    if hasattr(model, "edge_coef_"):
        return with_products(drawn.psi, model.space_.edges_)
    name = getattr(model.problem_, "scored", model.problem_.space).embedding
    known = {**drawn.facts.get("embeddings", {}), drawn.space.embedding: drawn.psi}
    if "Z" in drawn.facts:
        known.setdefault("indicators", drawn.facts["Z"])
    if name not in known:
        raise Wrong(f"no oracle of the embedding {name!r}")
    return known[name]


def scored(rng, model, drawn, new, scores, psi):
    costs = -scores @ psi.T
    size = (np.abs(scores) @ np.abs(psi).T).max(axis=1)
    exact = model.space_.guarantee.kind == "exact"
    decoded = model.decode(new)
    check(decoded, places_of(drawn, decoded.outputs), costs, size, True, exact)
    done, few = len(new), slice(0, 40)
    if hasattr(model.space_, "kbest"):
        k = int(rng.integers(1, 6))
        check_lists(model.kbest(new[few], k), drawn, costs[few], size[few], True, exact)
        done += len(new[few])
    limits, allowed = (None, None) if drawn.narrow is None else drawn.narrow(rng, len(new))
    if limits and allowed.any(axis=1).all():
        decoded = model.decode(new, restrict=limits)
        check(decoded, places_of(drawn, decoded.outputs), costs, size, allowed, exact)
        done += len(new)
    return done


def model_tells(model):
    """Whether probabilities of a model are those of its scores."""
    return type(model).__name__ == "ExponentialFamily" and model.solver == "auto"


def check_probabilities(model, drawn, new, scores, psi):
    """ln Z and means of psi, of spaces that know their distributions."""
    found = model.partition(new)
    if not (np.asarray(found.upper) - np.asarray(found.lower) <= 0).all():
        return 0  # an estimate, and says so
    log_partition, p = family(scores, psi)
    slack = ROUNDING * (1 + (np.abs(scores) @ np.abs(psi).T).max(axis=1))
    if not (np.abs(found.values - log_partition) <= slack).all():
        raise Wrong("partition() is not ln of the sum over all outputs")
    means = np.asarray(model.predict_marginals(new, raw=True))
    if means.shape == scores.shape:
        size = 1 + np.abs(psi).max(initial=0)
        if not np.allclose(means, p @ psi, atol=10 * ROUNDING * size, rtol=0):
            raise Wrong("predict_marginals(raw=True) is not the mean of psi")
    return len(new)


# Networks over labels, which are scored alone and in pairs. Labels that are not given are those of
# training: what no row has is never predicted.


def by_network(rng, drawn, n_rows):
    names, outputs = drawn.facts["names"], drawn.outputs
    at, X = training(rng, drawn)
    edges = drawn_edges(rng, len(names), forest=bool(rng.random() < 0.5))
    graph = [(names[u], names[v]) for u, v in edges] or "empty"
    methods = ["crank", "greedy", "project", "mst", "chow-liu", "empty", "full",
               learners.CircuitRank()]  # fmt: skip
    model = [
        lambda: learners.MaxMarginNetwork(alpha=0.1, **SOME),
        lambda: learners.MaxMarginNetwork(spaces.PairwiseLabels(graph, names), alpha=0.1, **SOME),
        lambda: learners.MaxMarginTree(method=methods[rng.integers(8)], alpha=0.1, **SOME),
    ][rng.integers(3)]().fit(X, [outputs[j] for j in at])
    known = list(model.space_.labels_)
    Z = binary_vectors(len(known))

    def narrow(rng, n):
        numbers = rng.permutation(len(known))
        first, second = numbers[:1].tolist(), numbers[1:2].tolist()
        told = {"include": [known[j] for j in first], "exclude": [known[j] for j in second]}
        return told, (including(Z, first) & excluding(Z, second))[None]

    labels = Drawn("labels", model.space_, names_of(Z, known), Z, frozenset, narrow)
    new = inputs(rng, n_rows, 3)
    scores = model.decision_function(new)
    check_linear(model, new, scores)
    done = scored(rng, model, labels, new, scores, with_products(Z, model.space_.edges_))
    return done, type(model).__name__
