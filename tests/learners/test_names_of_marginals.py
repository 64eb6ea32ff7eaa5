# SPDX-License-Identifier: BSD-3-Clause
"""Names and numbers of marginals belong together, over every space and for every learner.

Whether a part is there is read off outputs as users write them.
"""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.special import softmax

from skstruct import (
    ConditionalRiskMinimizer,
    CountingRidge,
    ExponentialFamily,
    OutputKernelRegressor,
    StructuredSVM,
)
from skstruct.spaces import Marginals, Rankings
from space_cases import SMALL

SPACES = {name: case for name, case in SMALL.items() if Marginals.of(case[0]).losses}
PARTS = [(name, parts) for name, case in SPACES.items() for parts in Marginals.of(case[0]).losses]
# Inputs are noise, so all that learners can tell is how often each part is there in training.
X = pd.DataFrame(0.01 * np.random.default_rng(0).normal(size=(40, 2)), columns=["u", "v"])
ORDERS = [list("bca")] * 32 + [list("abc")] * 8


def is_there(kind, name, y):
    """Whether a part is there in an output, or how much of it."""
    if kind == "Assignments":  # the tasks of agents a and b
        return name[1] == y["ab".index(name[0])]
    if kind in ("BinaryPolytope", "Box", "Simplex", "Polytope"):
        return y[name]
    if kind == "Flows":
        return y[[("s", "t"), ("s", "a"), ("a", "t")].index(name)]
    if kind == "Interval":
        return y
    if kind == "Poset":  # an element, and all above it
        return name in {"a": "a", "b": "ab"}[y]
    if kind in ("Classes", "GraphNodes", "Candidates", "Ordinal"):
        return name == y
    if kind == "Sequences":
        return y[name[0]] == name[1]
    if kind == "ShortestPaths":
        return name in list(pairwise(y))
    if kind == "Cycles":
        return name in list(zip(y, [*y[1:], y[0]]))
    if kind == "PartialOrders" and isinstance(y[0], tuple):
        return name in y
    if kind == "Rankings" and name[0] == name[1]:
        return 0.5
    if kind in ("PartialOrders", "Rankings") and isinstance(name[1], str):
        return y.index(name[0]) < y.index(name[1])
    if kind == "Rankings":
        return y.index(name[0]) + 1 == name[1]
    return name in y


def frequency(kind, names, outputs):
    return [np.mean([is_there(kind, name, y) for y in outputs]) for name in names]


@pytest.mark.parametrize(("kind", "parts"), PARTS)
def test_names_are_those_of_the_numbers_over_every_space(kind, parts):
    space, outputs = SPACES[kind]
    rows = [i % len(outputs) for i in range(8)]
    told = [parts] if parts != next(iter(Marginals.of(space).losses)) else [parts, None]
    model = ConditionalRiskMinimizer(space, kernel="linear", alpha=1.0)
    model.set_output(transform="pandas").fit(X[:8], [outputs[i] for i in rows])
    for asked in told:
        predicted = model.predict_marginals(X[:1], parts=asked, calibrated=None)
        truth = model.true_marginals(outputs, asked).reshape(len(outputs), -1)
        expected = [frequency(kind, predicted.columns, [y]) for y in outputs]
        assert_allclose(truth, expected, atol=1e-12)
        assert_allclose(predicted.to_numpy()[0], np.mean(truth[rows], axis=0), atol=0.02)


@pytest.mark.parametrize("loss", [None, "kendall", "footrule"])
@pytest.mark.parametrize("parts", [None, "pairs", "positions"])
@pytest.mark.parametrize(
    "learner",
    [
        lambda loss: ConditionalRiskMinimizer(Rankings(), loss, kernel="linear", alpha=1.0),
        lambda loss: ExponentialFamily(Rankings(), loss, alpha=0.05, max_iter=30),
        lambda loss: StructuredSVM(Rankings(), loss or "kendall", alpha=0.1, max_iter=20),
        lambda loss: OutputKernelRegressor(Rankings(), alpha=1.0),
    ],
    ids=["risk", "family", "margin", "output kernel"],
)
def test_every_learner_of_rankings_tells_pairs_unless_asked_for_positions(learner, loss, parts):
    model = learner(loss).fit(X, ORDERS)
    if isinstance(model, StructuredSVM):
        model.calibrate(X, ORDERS)
    told = model.predict_marginals(X[:1], parts=parts)
    assert isinstance(told.columns[0][1], str) == (parts != "positions")
    assert_allclose(told.to_numpy()[0], frequency("Rankings", told.columns, ORDERS), atol=0.25)
    assert_allclose(
        model.true_marginals([list("bca")], parts).ravel(),
        frequency("Rankings", told.columns, [list("bca")]),
    )


def test_what_learns_positions_alone_refuses_pairs_with_advice():
    model = CountingRidge(Rankings()).fit(X, ORDERS)
    with pytest.raises(ValueError, match=r"parts='positions', or .* embedding='pairs'"):
        model.predict_marginals(X)
    told = model.predict_marginals(X[:1], parts="positions")
    assert_allclose(told.to_numpy()[0], frequency("Rankings", told.columns, ORDERS), atol=0.25)
    told = CountingRidge(Rankings(embedding="pairs")).fit(X, ORDERS).predict_marginals(X[:1])
    assert_allclose(told.to_numpy()[0], frequency("Rankings", told.columns, ORDERS), atol=0.25)


@pytest.mark.parametrize("embedding", ["positions", "pairs", "ranks"])
@pytest.mark.parametrize("parts", ["pairs", "positions"])
@pytest.mark.parametrize("limits", [None, {"before": [("a", "d")]}, {"top": 2}])
def test_a_family_of_rankings_tells_either_parts_exactly(embedding, parts, limits):
    space = Rankings(list("abcd"), embedding)
    rng = np.random.default_rng(0)
    x = rng.normal(size=(12, 2))
    model = ExponentialFamily(space, alpha=0.1, max_iter=5)
    model.fit(x, [list(rng.permutation(list("abcd"))) for _ in x])
    listed = (space if limits is None else space.restrict(**limits)).enumerate()
    scores = model.decision_function(x) @ np.asarray(_dense(space.embed(listed))).T
    each = model.true_marginals(listed, parts)
    expected = np.tensordot(softmax(scores, axis=1), each, axes=1)
    assert_allclose(model.predict_marginals(x, parts=parts, restrict=limits), expected, atol=1e-9)


def _dense(psi):
    return psi.toarray() if hasattr(psi, "toarray") else psi
