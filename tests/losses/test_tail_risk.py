# SPDX-License-Identifier: BSD-3-Clause
"""Conditional values at risk against sorting, enumeration and grids."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from skstruct import ConditionalRiskMinimizer
from skstruct._arrays.rows import dense
from skstruct.exceptions import InfeasibleError
from skstruct.losses import (
    ConditionalValueAtRisk,
    Cost,
    Deciding,
    Observed,
    Regret,
    pair,
    resolve_loss,
)
from skstruct.losses import tail_risk as losses_tail_risk
from skstruct.model_selection import tail_cost
from skstruct.persistence import load_model, save_model
from skstruct.smoothing import KernelRidge, Neighbors
from skstruct.spaces import (
    BinaryPolytope,
    Box,
    Flows,
    Hierarchy,
    LabelSets,
    Polytope,
    Simplex,
    Solving,
    Targets,
)
from skstruct.spaces.solvers.tail_risk import TailRisk, probabilities

seeds = st.integers(0, 10**6)
TREE = [("a", "b"), ("a", "c"), ("c", "d"), ("e", "d")]
SETS = {
    "free": LabelSets(list("abcde")),
    "sized": LabelSets(list("abcde"), min_size=2, max_size=3),
    "exclusive": LabelSets(list("abcde"), min_size=1).restrict(exclusive=[["a", "b", "c"]]),
    "dag": Hierarchy(TREE, list("abcde")),
    "one path": Hierarchy(TREE[:3], list("abcd")).restrict(one_path=True),
    "known": Hierarchy(TREE, list("abcde")).restrict(include=["c"], min_size=3),
    "polytope": BinaryPolytope(A_ub=[[2, 1, 3, 1, 2]], b_ub=[4], A_eq=[[1, 1, 0, 0, 1]], b_eq=[1]),
}


def by_sorting(costs, weights, level):
    """The mean of the worst share, one scenario after the other."""
    left, total = 1.0 - level, 0.0
    for i in sorted(range(len(costs)), key=lambda i: -costs[i]):
        taken = min(left, weights[i])
        left, total = left - taken, total + taken * costs[i]
    return total / (1.0 - level)


def scenarios(seed, d, n=3, m=12):
    rng = np.random.default_rng(seed)
    C = rng.integers(-4, 5, size=(m, d)) / 2.0 + rng.choice([0.0, 0.3], size=(m, 1))
    W = rng.dirichlet(np.full(m, 0.5), size=n) * (rng.random((n, m)) < 0.8)
    return C, W / W.sum(axis=1, keepdims=True)


def decided(loss, space, W, C):
    view, bound = pair(loss, space, C)
    observed = Observed.of(bound).space_of(view).fit_validate(C)
    return bound.minimize(W, observed, view), bound, observed


@given(seeds, st.sampled_from([0.0, 0.25, 0.5, 0.9, 0.999]))
def test_the_definition(seed, level):
    C, W = scenarios(seed, 4)
    risks = TailRisk(level).of(np.repeat(C[:, :1].T, 3, axis=0), W)
    assert_allclose(risks, [by_sorting(C[:, 0], w, level) for w in W], atol=1e-12)
    t = np.append(C[:, 0], 0.0)[:, None]  # the minimum over t is at a cost
    least = [(t[:, 0] + np.maximum(C[:, 0] - t, 0) @ w / (1 - level)).min() for w in W]
    assert_allclose(risks, least, atol=1e-11)


@pytest.mark.parametrize("listed", [True, False])
@pytest.mark.parametrize("name", SETS)
@settings(max_examples=8)
@given(seed=seeds, level=st.sampled_from([0.0, 0.5, 0.8, 0.95]), share=st.sampled_from([0, 0.3]))
def test_sets_against_enumeration(name, listed, seed, level, share):
    space = SETS[name]
    Z = space.enumerate()
    C, W = scenarios(seed, Z.shape[1])
    few = losses_tail_risk.FEW
    losses_tail_risk.FEW = few if listed else 0
    try:
        loss = ConditionalValueAtRisk(level, mean_weight=share)
        found, bound, observed = decided(loss, space, W, C)
    finally:
        losses_tail_risk.FEW = few
    for w, output, value, low in zip(W, found.outputs, found.values, found.bounds):
        L = Z @ C.T
        risks = [share * (w @ row) + (1 - share) * by_sorting(row, w, level) for row in L]
        assert_allclose(value, min(risks), atol=1e-9)
        assert_allclose(low, min(risks), atol=1e-6)
        assert low <= value
        assert space.contains(output[None])[0]
    assert_allclose(Deciding.of(bound).risks(W, found.outputs, observed), found.values, atol=1e-12)


class Decoded(LabelSets):
    """Label sets of which nobody knows more than how to decode them."""

    def all_outputs(self, most):
        return None


Solving.at(Decoded, Solving)  # no program


@given(seeds, st.sampled_from([0.0, 0.5, 0.9]))
def test_any_space_has_bounds(seed, level):
    space = Decoded(list("abcde"), min_size=2)
    Z = LabelSets(list("abcde"), min_size=2).enumerate()
    C, W = scenarios(seed, 5)
    found, _, _ = decided(ConditionalValueAtRisk(level), space, W, C)
    least = np.array([min(by_sorting(z @ C.T, w, level) for z in Z) for w in W])
    assert (found.bounds <= least + 1e-9).all()
    assert (found.values >= least - 1e-9).all()
    if level == 0:
        assert_allclose(found.values, found.bounds)


GRID = np.array([[i, j, 12 - i - j] for i in range(13) for j in range(13 - i)]) / 12.0
QUANTITIES = {
    "simplex": (Simplex(labels=list("abc")), GRID),
    "polytope": (Polytope(A_eq=[[1, 1, 1]], b_eq=[1], bounds=(0, 0.5)), GRID[(GRID <= 0.5).all(1)]),
    "box": (Box([0, -1, 0], [1, 1, 2]), None),
    "flows": (Flows([("s", "t", 1), ("s", "u", 1), ("u", "t", 1)], supply={"s": 1, "t": -1}), None),
}


@pytest.mark.parametrize("name", QUANTITIES)
@settings(max_examples=10)
@given(seed=seeds, level=st.sampled_from([0.0, 0.6, 0.9]))
def test_quantities_against_grids(name, seed, level):
    space, grid = QUANTITIES[name]
    if grid is None:
        grid = space.sample(300, 0)
    C, W = scenarios(seed, 3)
    found, _, _ = decided(ConditionalValueAtRisk(level), space, W, C)
    assert space.contains(found.outputs).all()
    for w, output, value, low in zip(W, found.outputs, found.values, found.bounds):
        assert_allclose(value, by_sorting(C @ output, w, level), atol=1e-9)
        assert_allclose(low, value, atol=1e-6)
        assert value <= min(by_sorting(C @ z, w, level) for z in grid) + 1e-9


def test_signed_weights_are_moved_to_probabilities():
    W = np.array([[0.5, 0.8, -0.1], [0.25, 0.0, 0.75]])
    assert_allclose(probabilities(W), [[0.35, 0.65, 0.0], [0.25, 0.0, 0.75]])
    C = np.array([[1.0, -1.0], [-2.0, 1.0], [50.0, 50.0]])
    space = LabelSets(["a", "b"])
    signed, _, _ = decided(ConditionalValueAtRisk(0.5), space, W[:1], C)
    moved, _, _ = decided(ConditionalValueAtRisk(0.5), space, probabilities(W[:1]), C)
    assert_array_equal(signed.outputs, moved.outputs)
    assert_allclose(signed.values, moved.values)


def data(n=60, d=3):
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(n, 2))
    return X, X @ rng.normal(size=(2, d)) + rng.gumbel(size=(n, d))


@pytest.mark.parametrize("smoother", [Neighbors(15), KernelRidge(alpha=0.1)])
def test_one_model_decides_by_mean_regret_and_tail(smoother):
    X, C = data()
    space = LabelSets(min_size=1)
    losses = [Cost(), Regret(), ConditionalValueAtRisk(0.8)]
    models = [ConditionalRiskMinimizer(space, loss, smoother=smoother).fit(X, C) for loss in losses]
    for loss, own in zip(losses, models):
        for model in models:
            assert_array_equal(model.predict(X[:9], loss=loss), own.predict(X[:9]))
    tail = models[2].decode(X[:9])
    assert_allclose(tail.values, tail.bounds, atol=1e-6)
    mean = models[0].decode(X[:9], loss=ConditionalValueAtRisk(0.0))
    by_mean = probabilities(dense(models[0].smoother_.weights(X[:9]))) @ C
    assert_allclose(
        mean.values, np.minimum(Targets.of(space).fit_costs(C).argmin(by_mean).values, np.inf)
    )
    with pytest.raises(ValueError, match="same sense"):
        models[0].predict(X[:1], loss=ConditionalValueAtRisk(sense="max"))


def test_values_are_the_other_way_round():
    X, C = data()
    least = ConditionalRiskMinimizer(LabelSets(min_size=1), "cvar", smoother=Neighbors(15))
    most = ConditionalRiskMinimizer(
        LabelSets(min_size=1), ConditionalValueAtRisk(sense="max"), smoother=Neighbors(15)
    )
    assert_array_equal(least.fit(X, C).predict(X), most.fit(X, -C).predict(X))
    assert_allclose(least.predict_risk(X), most.predict_risk(X))
    assert_allclose(least.score(X, C), most.score(X, -C))


def test_rows_may_be_restricted_each():
    X, C = data()
    loss = ConditionalValueAtRisk(0.5)
    model = ConditionalRiskMinimizer(LabelSets(list("abc")), loss, smoother=Neighbors(9)).fit(X, C)
    include = np.eye(3, dtype=int)
    found = model.decode(X[:3], restrict={"include": include})
    assert (np.asarray(found.outputs) >= include).all()
    alone = [model.decode(X[[i]], restrict={"include": include[[i]]}).values[0] for i in range(3)]
    assert_allclose(found.values, alone)
    with pytest.raises(InfeasibleError, match="row 1"):
        model.predict(X[:2], restrict={"exclude": [[], ["a", "b", "c"]], "min_size": 1})


def test_penalties_are_chosen_by_expected_costs():
    X, C = data()
    loss = ConditionalValueAtRisk(0.8)
    tail = ConditionalRiskMinimizer(LabelSets(), loss, alpha=[1.0, 0.1]).fit(X, C)
    mean = ConditionalRiskMinimizer(LabelSets(), Cost(), alpha=[1.0, 0.1]).fit(X, C)
    assert tail.alpha_ == mean.alpha_


def test_the_tail_of_a_sample():
    X, C = data()
    model = ConditionalRiskMinimizer(LabelSets(min_size=1), "cvar", smoother=Neighbors(9))
    model.fit(X[:40], C[:40])
    paid = (np.asarray(model.predict(X[40:])) * C[40:]).sum(axis=1)
    worst = np.sort(paid)[::-1]
    assert_allclose(tail_cost(model, X[40:], C[40:], 0.75), worst[:5].mean())
    assert_allclose(tail_cost(model, X[40:], C[40:], 0.0), -model.score(X[40:], C[40:]))
    plain = model.predict(X[40:], loss="cost")
    costs = np.sort((np.asarray(plain) * C[40:]).sum(axis=1))[::-1]
    assert_allclose(tail_cost(model, X[40:], C[40:], 0.9, loss="cost"), costs[:2].mean())
    with pytest.raises(ValueError, match="level"):
        tail_cost(model, X, C, 1.0)


def test_models_are_saved(tmp_path):
    X, C = data()
    model = ConditionalRiskMinimizer(LabelSets(), ConditionalValueAtRisk(0.7), smoother=Neighbors())
    save_model(model.fit(X, C), tmp_path / "model")
    again = load_model(tmp_path / "model")
    assert repr(again.loss_) == "ConditionalValueAtRisk(level=0.7)"
    assert_array_equal(again.predict(X), model.predict(X))


def test_what_makes_no_sense_is_said():
    X, C = data()
    for loss in (ConditionalValueAtRisk(1.0), ConditionalValueAtRisk(0.5, mean_weight=2)):
        with pytest.raises(ValueError, match="from 0 to"):
            ConditionalRiskMinimizer(LabelSets(), loss, smoother=Neighbors()).fit(X, C)
    C[0, 0] = np.nan
    with pytest.raises(ValueError, match="all costs"):
        ConditionalRiskMinimizer(LabelSets(), "cvar", smoother=Neighbors()).fit(X, C)
    assert resolve_loss("cvar(level=0.5)").level == 0.5
