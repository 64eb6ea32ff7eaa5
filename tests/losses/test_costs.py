# SPDX-License-Identifier: BSD-3-Clause
"""Costs of misses and false alarms against their definition and the list of all outputs."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from skstruct import ConditionalRiskMinimizer
from skstruct.learners.problem import risk_problem
from skstruct.losses import F1, Hamming, HierarchicalLoss, Levels, Listed, SequenceHamming, pair
from skstruct.smoothing import NadarayaWatson
from skstruct.spaces import (
    BinaryPolytope,
    Cliques,
    Graphs,
    Hierarchy,
    LabelSets,
    Matchings,
    Ordinal,
    PairwiseLabels,
    PairwiseStates,
    Poset,
    Sequences,
    SpanningTrees,
    Tournaments,
)
from skstruct.testing import check_loss
from strategies import closed_sets, dags, forests, subsets

NUMBERS = st.sampled_from([0.0, 0.25, 1.0, 1.0, 2.0, 5.0])


@st.composite
def costs_of(draw, d):
    """A Hamming loss of d labels with any of its parameters given."""
    several = st.one_of(NUMBERS, st.lists(NUMBERS, min_size=d, max_size=d))
    miss, alarm = draw(several), draw(several)
    weights = draw(st.none() | st.lists(NUMBERS, min_size=d, max_size=d))
    loss = Hamming(weights, miss=miss, alarm=alarm)
    largest = np.sum(np.maximum(*numbers(loss, d)))
    return loss.set_params(normalize=draw(st.booleans()) and largest > 0)


def numbers(loss, d):
    """Weighted costs of misses and of false alarms, before they are divided."""
    weights = np.ones(d) if loss.weights is None else np.array(loss.weights)
    return weights * np.broadcast_to(loss.miss, d), weights * np.broadcast_to(loss.alarm, d)


def by_hand(loss, z, y):
    """The definition, label by label."""
    miss, alarm = numbers(loss, len(y))
    total = 0.0
    for j in range(len(y)):
        total += miss[j] * (y[j] == 1 and z[j] == 0) + alarm[j] * (y[j] == 0 and z[j] == 1)
    return total / (np.maximum(miss, alarm).sum() if loss.normalize else 1.0)


def check_definition(loss, space, outputs):
    bound = pair(loss, space, outputs)[1]
    expected = [[by_hand(loss, z, y) for y in outputs] for z in outputs]
    assert_allclose(bound.pairwise(outputs, outputs), expected, atol=1e-12)
    assert_allclose(loss.pairwise(outputs, outputs), expected, atol=1e-12)  # not bound
    assert np.max(expected) <= Levels.of(bound).largest(space) + 1e-12
    assert bound.range() == (0.0, 1.0) or bound.range()[1] == Levels.of(bound).largest(space)
    step, least = Levels.of(bound).steps(outputs)
    for y, row in zip(least, np.transpose(expected)):
        assert ((row <= 1e-12) | (row >= y - 1e-12)).all()
        assert step == 0 or np.allclose(row / step, np.round(row / step))


@pytest.mark.slow
@settings(max_examples=60)
@given(st.integers(1, 4), st.data())
def test_label_sets(d, data):
    loss, space = data.draw(costs_of(d)), LabelSets(range(d))
    check_definition(loss, space, subsets(d))
    check_loss(loss, space, subsets(d), n_weights=10)


@pytest.mark.slow
@given(forests(5), st.data())
def test_forests(space, data):
    loss = data.draw(costs_of(space.dag_.n_nodes))
    check_definition(loss, space, closed_sets(space))
    check_loss(loss, space, closed_sets(space), n_weights=10)


@pytest.mark.slow
@given(dags(5), st.data())
def test_dags(space, data):
    loss = data.draw(costs_of(space.dag_.n_nodes))
    check_definition(loss, space, closed_sets(space))
    check_loss(loss, space, closed_sets(space), n_weights=10)
    check_loss(Listed(loss), space, closed_sets(space), n_weights=10)


def best_is_found(loss, space, everything, seed):
    """Decisions of a narrowed space are the best of its list; so are the three best."""
    view, bound = pair(loss, space, everything)
    weights = np.random.default_rng(seed).standard_normal((8, len(everything)))
    g, total = weights @ everything.astype(float), weights.sum(axis=1, keepdims=True)
    costs, offset = bound.cost(g, total), bound.offset(g, total)
    risk = weights @ bound.pairwise(space.enumerate(), everything).T
    decoded = view.argmin(costs)
    assert space.contains(decoded.outputs).all()
    assert_allclose(decoded.values + offset, risk.min(axis=1), atol=1e-9)
    k = min(3, risk.shape[1])
    best = view.kbest(costs, k).values + offset[:, None]
    assert_allclose(best, np.sort(risk, axis=1)[:, :k], atol=1e-9)


@pytest.mark.slow
@settings(max_examples=40)
@given(st.data(), st.integers(0, 10**6))
def test_restricted_label_sets(data, seed):
    limits = [{"include": [1], "max_size": 3}, {"exclude": [0]}, {"exclusive": [[0, 2]]}]
    space = LabelSets(range(4)).restrict(**data.draw(st.sampled_from(limits)))
    best_is_found(data.draw(costs_of(4)), space, subsets(4), seed)


@pytest.mark.slow
@given(dags(5), st.data(), st.integers(0, 10**6))
def test_restricted_hierarchies(space, data, seed):
    limits = [{"one_path": True}, {"max_size": 2}, {"include": [0]}, {"exclude": [0]}]
    narrowed = space.restrict(**data.draw(st.sampled_from(limits)))
    best_is_found(data.draw(costs_of(space.dag_.n_nodes)), narrowed, closed_sets(space), seed)


@pytest.mark.slow
@given(st.lists(st.tuples(st.floats(0.1, 9), st.floats(0.1, 9)), min_size=1, max_size=5), st.data())
def test_labels_are_taken_above_a_threshold(costs, data):
    """alarm / (miss + alarm), whatever the weights of the labels and the total of a row."""
    miss, alarm = np.transpose(costs)
    d, total = len(miss), data.draw(st.floats(0.1, 5))
    weights = data.draw(st.lists(st.floats(0.1, 3), min_size=d, max_size=d))
    p = np.array(data.draw(st.lists(st.floats(0, 1), min_size=d, max_size=d)))
    threshold = alarm / (miss + alarm)
    p = np.where(np.abs(p - threshold) < 1e-6, threshold / 2, p)  # no ties
    space = LabelSets(range(d))
    loss = Hamming(weights, miss=miss, alarm=alarm).bind(space)
    found = space.argmin(loss.cost(total * p[None], np.full((1, 1), total))).outputs[0]
    assert_array_equal(found, p > threshold)


SPACES = [
    Ordinal(["low", "middle", "high"]),
    Poset([("a", "b"), ("a", "c"), ("c", "d")]),
    BinaryPolytope([[1, 1, 1]], [2], labels=["a", "b", "c"]),
    PairwiseLabels("full", ["a", "b", "c"]),
    Graphs(["a", "b", "c"]),
    SpanningTrees(["a", "b", "c", "d"]),
    Matchings(["a", "b", "c", "d"]),
    Cliques(["a", "b", "c", "d"]),
]


@pytest.mark.slow
@pytest.mark.parametrize("space", SPACES, ids=lambda space: type(space).__name__)
def test_every_space_of_indicators(space):
    outputs = space.enumerate()
    space = space.fit(space.restore(outputs))
    d = len(space.labels_)
    rng = np.random.default_rng(0)
    check_loss(Hamming(miss=rng.random(d), alarm=3 * rng.random(d)), space, outputs)
    check_loss(Hamming(class_weight="balanced"), space, outputs, observed=outputs[::2])


def test_levels_of_a_scale_may_cost_more_upwards():
    """On ordered classes a miss is a level too low, a false alarm one too high."""
    space = Ordinal(["low", "middle", "high"]).fit(["low", "high"])
    Z = space.validate(["low", "middle", "high"])
    loss = Hamming(miss=3, alarm=1).bind(space)
    assert_array_equal(loss.pairwise(Z, Z), [[0, 3, 6], [1, 0, 3], [2, 1, 0]])


def test_costs_by_name_by_position_and_by_series():
    space = LabelSets(["x", "rare", "y"])
    Z, Y = np.zeros((1, 3), int), np.ones((1, 3), int)
    for miss in ([1, 5, 1], (1, 5, 1), np.array([1.0, 5, 1]), {"rare": 5}, pd.Series({"rare": 5}),
                 pd.Series([1, 5, 1], index=["x", "rare", "y"])):  # fmt: skip
        loss = Hamming(miss=miss).bind(space)
        assert loss(Z, Y).tolist() == [7.0]
        assert loss(Y, Z).tolist() == [3.0]
    both = Hamming({"x": 2.0, "rare": 1.0, "y": 0.0}, miss={"rare": 5}, alarm={"x": 3}).bind(space)
    assert both(Z, Y).tolist() == [2 + 5 + 0]
    assert both(Y, Z).tolist() == [6 + 1 + 0]
    shares = Hamming([2, 1, 0], miss={"rare": 5}, alarm={"x": 3}, normalize=True).bind(space)
    assert_allclose(shares(Z, Y), [7 / 11])
    assert shares.range() == (0.0, 1.0)
    np.testing.assert_allclose(Levels.of(shares).largest(space), 1.0)


def test_costs_that_are_none():
    space = LabelSets(["a", "b"])
    with pytest.raises(ValueError, match="miss names 'c'; known are 'a', 'b'"):
        Hamming(miss={"c": 2}).bind(space)
    with pytest.raises(ValueError, match=r"alarm of 'b' is -1\.0; costs are finite"):
        Hamming(alarm=[1, -1]).bind(space)
    with pytest.raises(ValueError, match="miss of 'a' is nan"):
        Hamming(miss=float("nan")).bind(space)
    with pytest.raises(ValueError, match=r"2 numbers, one per label; got shape \(3,\)"):
        Hamming(miss=[1, 2, 3]).bind(space)
    with pytest.raises(ValueError, match="miss is made of numbers; got 'much'"):
        Hamming(miss="much").bind(space)
    with pytest.raises(ValueError, match=r"call bind\(space\) first; costs are by name"):
        Hamming(miss={"a": 2})([[1, 0]], [[0, 1]])
    with pytest.raises(ValueError, match="nothing to normalize by"):
        Hamming(miss=0, alarm=0, normalize=True).bind(space)
    with pytest.raises(ValueError, match="a miss and a false alarm at once"):
        Hamming(miss=2).bind(PairwiseStates("full", ["p", "q", "r"], ["x", "y"]))
    with pytest.raises(ValueError, match="a label of Tournaments is in one of several states"):
        pair(Hamming(class_weight="balanced"), Tournaments(["a", "b"]), np.array([[1], [-1]]))


# ---------------------------------------------------------------------- sequences
TEXTS = ["".join(z) for k in range(4) for z in product("ab", repeat=k)]


def sequence_by_hand(z, y, miss, alarm, bigrams):
    total = 0.0
    for t in range(max(len(z), len(y))):
        predicted, true = z[t : t + 1], y[t : t + 1]
        if predicted != true:
            total += miss.get(true, 1.0) * alarm.get(predicted, 1.0)
    grams = [{(t, x[t : t + 2]) for t in range(len(x) - 1)} for x in (z, y)]
    return total + bigrams * (sum(map(len, grams)) / 2 - len(grams[0] & grams[1]))


@pytest.mark.slow
@settings(max_examples=30)
@given(st.tuples(*[NUMBERS] * 4), st.sampled_from([0.0, 0.5]))
def test_sequences(costs, bigrams):
    miss, alarm = dict(zip("ab", costs[:2])), dict(zip("ab", costs[2:]))
    space = Sequences("ab", length=(0, 3)).fit(TEXTS)
    Z = space.validate(TEXTS)
    loss = SequenceHamming(bigrams, miss=miss, alarm=alarm)
    bound = pair(loss, space, Z)[1]
    expected = [[sequence_by_hand(z, y, miss, alarm, bigrams) for y in TEXTS] for z in TEXTS]
    assert_allclose(bound.pairwise(Z, Z), expected)
    assert np.max(expected) <= Levels.of(bound).largest(space) + 1e-12
    check_loss(loss, space, Z, n_weights=8)
    if not bigrams:
        by_name = pair(Hamming(miss=miss, alarm=alarm), space, Z)[1]
        assert_allclose(by_name.pairwise(Z, Z), expected)


def test_balanced_symbols():
    space = Sequences().fit(["aab", "ab", "aaaa"])
    Z = space.validate(["aab", "ab", "aaaa"])
    weights = {"a": 9 / (2 * 7), "b": 9 / (2 * 2)}
    found = pair(Hamming(class_weight="balanced", miss={"b": 3}), space, Z)[1]
    by_hand = pair(SequenceHamming(miss={"a": weights["a"], "b": 3 * weights["b"]}), space, Z)[1]
    assert_allclose(found.pairwise(Z, Z), by_hand.pairwise(Z, Z))
    with pytest.raises(ValueError, match="needs outputs of training"):
        SequenceHamming(class_weight="balanced").bind(space)
    with pytest.raises(ValueError, match="miss names 'c'"):
        pair(Hamming(miss={"c": 1}), space, Z)
    with pytest.raises(ValueError, match=r"call bind\(space\) first"):
        SequenceHamming(miss={"a": 2})([[0]], [[1]])


# ---------------------------------------------------------------------- in learners
def rows(seed=0, n=80):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 2))
    Y = (X @ rng.standard_normal((2, 3)) + rng.standard_normal((n, 3)) > 0.8).astype(int)
    return X, Y


def test_expensive_misses_find_more_labels_and_alarms_fewer():
    X, Y = rows()
    model = ConditionalRiskMinimizer(LabelSets(["a", "b", "c"]), alpha=1.0).fit(X, Y)
    plain = model.predict(X)
    more, fewer = model.predict(X, loss=Hamming(miss=5)), model.predict(X, loss=Hamming(alarm=5))
    assert (fewer <= plain).all()
    assert (plain <= more).all()
    assert fewer.sum() < plain.sum() < more.sum()
    rare = model.predict(X, loss="hamming(miss={'b': 5})")
    assert_array_equal(rare[:, [0, 2]], plain[:, [0, 2]])
    assert_array_equal(rare[:, 1], more[:, 1])
    assert_allclose(model.score(X, Y, loss=Hamming(miss=5)), -Hamming(miss=5)(more, Y).mean())


def test_the_means_of_a_problem_are_decided_as_by_hand():
    """For every loss the risk of a decision is the least over all sets, by its definition."""
    X, Y = rows(1, 30)
    space = Hierarchy([("a", "b"), ("a", "c")]).fit(np.array([[1, 0, 1], [1, 1, 1]]))
    Y = np.column_stack([Y.max(axis=1), Y[:, 1], Y[:, 2]])
    problem = risk_problem(space, Hamming(miss=[1, 5, 0.5], alarm=[2, 1, 1]), Y)
    smoother = NadarayaWatson().fit(X, problem.targets())
    decoded = problem.decode(problem.smooth(smoother, X))
    every = space.enumerate()
    risks = smoother.weights(X) @ problem.loss.pairwise(every, Y).T
    assert_allclose(decoded.values, risks.min(axis=1), atol=1e-12)


def test_other_losses_stay_as_they_were():
    space = Hierarchy([("a", "b")]).fit([["a"], ["a", "b"]])
    for loss in (F1(), HierarchicalLoss()):
        assert loss.observe(space, space.enumerate()) is loss
    assert Levels.of(Hamming().observe(space, space.enumerate()).bind(space)).largest(space) == 2.0
