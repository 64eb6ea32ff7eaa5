# SPDX-License-Identifier: BSD-3-Clause
"""Knapsacks against the list of all sets of items, and against HiGHS."""

from itertools import product
from math import comb

import numpy as np
import pandas as pd
import pytest
import scipy.optimize
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from skstruct import ConditionalRiskMinimizer, load_model, save_model
from skstruct.exceptions import InfeasibleError, UndecidableError
from skstruct.spaces import BinaryPolytope, Inference, Knapsacks, Solving
from skstruct.spaces.knapsacks import space as knapsacks
from skstruct.testing import check_distribution, check_space

D = 5
ALL = np.array(list(product((0, 1), repeat=D)))
numbers = st.integers(-3, 3)


@st.composite
def cases(draw):
    """A space of one to three constraints, and which of all sets it holds.

    Weights of 0, equal weights and capacities of 0 are common; units that are no binary fractions
    put sums on both sides of a capacity by rounding.
    """
    m = draw(st.sampled_from([1, 1, 2, 3]))
    unit = draw(st.sampled_from([1.0, 0.1, 1 / 3, 250.0]))
    weights = draw(arrays(int, (m, D), elements=st.integers(0, 4)))
    capacity = draw(arrays(int, m, elements=st.integers(0, 9)))
    crooked = draw(arrays(float, (m, D), elements=st.sampled_from([0.0, 0.0, 0.0, 0.1234567])))
    space = Knapsacks((weights + crooked) * unit, capacity * unit)
    return space, (capacity + 1e-7 >= ALL @ (weights + crooked).T).all(axis=1)


@settings(max_examples=30)
@given(cases(), st.sampled_from([0, 2**16]))
def test_spaces_against_all_sets(case, quick):
    space, inside = case
    before, knapsacks.QUICK_TABLE = knapsacks.QUICK_TABLE, quick  # by search, and by table
    try:
        check_space(space, ALL[inside], n_costs=6, n_draws=500)
        assert space.contains(ALL).tolist() == inside.tolist()
        program = Solving.of(space).program()
        assert ((program.violation(ALL) <= 1e-6) == inside).all()
    finally:
        knapsacks.QUICK_TABLE = before


def test_all_items_fit_in_spite_of_rounding():
    """Five times the same float, subtracted one by one from their sum, may fall below zero."""
    space = Knapsacks(np.full(5, 0.1234567), 3.0, labels="abcde").restrict(max_size=5, min_size=1)
    assert space.argmin(-np.ones((1, 5))).values.tolist() == [-5.0]


limits = st.fixed_dictionaries(
    {},
    optional={
        "include": st.lists(st.integers(0, D - 1), max_size=1),
        "exclude": arrays(bool, (3, D), elements=st.integers(0, 3).map(lambda v: v == 0)),
        "min_size": st.integers(0, 2),
        "max_size": st.integers(0, 4),
        "exclusive": st.just([[0, 1, 2]]) | st.just([[0, 1], [1, 3]]),
        "capacity": arrays(float, 3, elements=st.integers(-1, 9)),
    },
)


@given(
    arrays(int, D, elements=st.integers(0, 4)),
    st.integers(0, 12),
    limits,
    arrays(float, (3, D), elements=numbers),
)
def test_restricted_rows_against_all_sets(weights, capacity, given_limits, costs):
    space = Knapsacks(weights, capacity).restrict(**given_limits)
    expected, lists = np.full(3, np.inf), []
    for i in range(3):
        good = ALL @ weights <= min(capacity, given_limits.get("capacity", [np.inf] * 3)[i])
        good &= ALL[:, given_limits.get("include", [])].all(axis=1)
        if "exclude" in given_limits:
            good &= ~ALL[:, given_limits["exclude"][i]].any(axis=1)
        size = ALL.sum(axis=1)
        good &= (size >= given_limits.get("min_size", 0)) & (
            size <= given_limits.get("max_size", D)
        )
        for group in given_limits.get("exclusive", ()):
            good &= ALL[:, group].sum(axis=1) <= 1
        lists.append(ALL[good])
        expected[i] = np.min(ALL[good] @ costs[i], initial=np.inf)
    if np.isinf(expected).any():
        with pytest.raises(InfeasibleError) as error:
            space.argmin(costs)
        assert error.value.row == np.flatnonzero(np.isinf(expected))[0]
        return
    decoded = space.argmin(costs)
    np.testing.assert_array_equal(decoded.values, expected)
    np.testing.assert_array_equal(decoded.bounds, expected)
    np.testing.assert_array_equal((decoded.outputs * costs).sum(axis=1), expected)
    assert space.contains(decoded.outputs).all()
    best = space.kbest(costs, 3)
    for i, listed in enumerate(lists):
        totals = np.sort(listed @ costs[i])[:3]
        found = best.values[i]
        np.testing.assert_allclose(found[np.isfinite(found)], totals, atol=1e-12)
        assert sorted(map(tuple, space.rows([i]).enumerate())) == sorted(map(tuple, listed))
        assert space.rows([i]).size() == len(listed)


@pytest.mark.parametrize("limits", [{}, {"max_size": 2}, {"include": [1]}, {"capacity": 3}])
def test_distributions(limits):
    scores = np.random.default_rng(0).normal(size=(3, D)) * 2
    space = Knapsacks([2, 1, 0, 3, 1], 4).restrict(**limits)
    check_distribution(space, scores)
    by_row = space.restrict(capacity=[4, 2, 1], exclude=[[0], [1, 2], []] if not limits else None)
    found = Inference.of(by_row).distribution(scores)
    for i in range(3):
        alone = Inference.of(by_row.rows([i])).distribution(scores[i])
        np.testing.assert_allclose(found.log_partition[i], alone.log_partition[0])
        np.testing.assert_allclose(found.marginals()[i], alone.marginals()[0], atol=1e-12)


def test_distributions_of_large_scores_do_not_overflow():
    found = Inference.of(Knapsacks([1, 1, 1], 1)).distribution(
        np.array([[2000.0, 1000.0, -4000.0]])
    )
    np.testing.assert_allclose(found.log_partition, 2000.0)
    np.testing.assert_allclose(found.marginals(), [[1.0, 0.0, 0.0]], atol=1e-12)


def test_counts_are_whole_numbers_however_large():
    space = Knapsacks(np.ones(200, int), 100)
    assert space.size() == (2**200 + comb(200, 100)) // 2
    np.testing.assert_allclose(space.mean_embedding(), space.mean_embedding()[0])
    with pytest.raises(UndecidableError, match="more than the limit"):
        space.enumerate()
    with pytest.raises(UndecidableError, match="more than 100 sets"):
        Knapsacks(np.sqrt(np.arange(1, 30)), 50).enumerate(100)


@pytest.mark.parametrize("m", [1, 2, 3])
@pytest.mark.parametrize("whole", [True, False])
def test_larger_ones_against_highs(m, whole):
    rng = np.random.default_rng(m)
    d = 30 if m < 3 else 20
    weights = rng.integers(1, 100, (m, d)) if whole else rng.random((m, d))
    capacity = np.floor(weights.sum(axis=1) * 0.4) if whole else weights.sum(axis=1) * 0.4
    costs = np.vstack([rng.normal(size=(3, d)), -rng.random((1, d))])
    decoded = Knapsacks(weights, capacity).argmin(costs)
    np.testing.assert_array_equal(decoded.values, decoded.bounds)
    for cost, value in zip(costs, decoded.values):
        answer = scipy.optimize.milp(
            cost,
            integrality=np.ones(d),
            bounds=scipy.optimize.Bounds(0, 1),
            constraints=scipy.optimize.LinearConstraint(weights, -np.inf, capacity),
            options={"mip_rel_gap": 0.0},
        )
        np.testing.assert_allclose(value, answer.fun, atol=1e-6)


def test_long_searches_end_in_the_table(monkeypatch):
    """Value = weight + 10: every ratio is nearly the same, and the search is hopeless."""
    rng = np.random.default_rng(0)
    weights = rng.integers(10, 1000, 200)
    space, costs = Knapsacks(weights, 30_000), -(weights + 10.0)[None]
    by_search = space.argmin(costs)
    monkeypatch.setattr(knapsacks, "QUICK_TABLE", knapsacks.LARGEST_TABLE)
    np.testing.assert_array_equal(space.argmin(costs).values, by_search.values)


# ------------------------------------------------------------------- names and formats
FRAME = pd.DataFrame([[3, 1, 2], [1, 1, 1]], columns=["tent", "stove", "rope"], index=["kg", "l"])


@pytest.mark.parametrize(
    ("weights", "capacity"),
    [
        (FRAME, [4, 2]),
        (FRAME.loc["kg"], 4),
        (FRAME.to_dict("list"), [4, 2]),
        ({"tent": 3, "stove": 1, "rope": 2}, 4.0),
    ],
)
def test_items_have_names(weights, capacity):
    space = Knapsacks(weights, capacity)
    assert space.labels_ == ("tent", "stove", "rope")
    names = [{"tent", "stove"}, {"rope"}]
    Z = space.validate(names)
    assert Z.tolist() == [[1, 1, 0], [0, 0, 1]]
    assert space.fit(names).restore(Z).tolist() == names
    turned = Knapsacks(weights, capacity, labels=["rope", "stove", "tent"])
    assert turned.weights_.tolist() == space.weights_[:, ::-1].tolist()
    costs = np.array([[-3.0, -2.0, -2.5]])
    assert space.argmin(costs).outputs.tolist() == [[1, 1, 0]]
    assert turned.argmin(costs[:, ::-1]).outputs.tolist() == [[0, 1, 1]]
    assert space.restrict(exclude=["tent"]).argmin(costs).outputs.tolist() == [[0, 1, 1]]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1, -2], 3), r"constraint 0 has -2.0 for item 1"),
        (([1, np.nan], 3), "finite"),
        (([], 3), "got shape"),
        ((["a", "b"], 3), "weights are numbers"),
        (([1, 2], [3, 4]), "one number for each of 1 constraints"),
        (([1, 2], -1), "capacity is at least 0; got -1"),
        (([1, 2], np.nan), "capacity is a number"),
        (({"a": 1}, 1, ["b"]), "weights names 'a'; known are 'b'"),
        (([1, 2], 1, ["b"]), "1 labels for 2 weights"),
    ],
)
def test_bad_weights_and_capacities(arguments, message):
    weights, capacity, *labels = arguments
    with pytest.raises(ValueError, match=message):
        Knapsacks(weights, capacity, labels=labels[0] if labels else None).argmin(np.zeros((1, 2)))


def test_bad_restrictions_and_outputs():
    space = Knapsacks([[1, 2], [3, 4]], [2, 5])
    with pytest.raises(ValueError, match="a number for each of 2 constraints"):
        space.restrict(capacity=[1, 2, 3])
    with pytest.raises(ValueError, match=r"different numbers of rows: \[2, 3\]"):
        space.restrict(capacity=np.ones((2, 2)), exclude=[[0], [1], []])
    with pytest.raises(ValueError, match=r"Y\[1\] weighs 3, more than the capacity of"):
        space.validate(np.array([[1, 0], [1, 1]]))
    with pytest.raises(ValueError, match="weights cannot change after restrict"):
        space.restrict(max_size=1).set_params(weights=[1, 2])
    assert space.set_params(weights=[1, 2], capacity=3).size() == 4


def test_capacities_may_be_infinite():
    space = Knapsacks([3.0, 5.0], np.inf)
    assert space.size() == 4
    assert space.argmin(-np.ones((1, 2))).values.tolist() == [-2.0]
    assert space.restrict(capacity=[3, 8]).argmin(-np.ones((2, 2))).values.tolist() == [-1.0, -2.0]
    assert Solving.of(space).program().A_ub.shape == (0, 2)


def test_the_program_of_a_restricted_space():
    space = Knapsacks([1, 2, 3, 1, 1], 5).restrict(
        include=[1], exclude=[4], max_size=2, exclusive=[[0, 1]], capacity=4
    )
    inside = Solving.of(space).program().violation(ALL) <= 1e-9
    assert inside.tolist() == space.contains(ALL).tolist()
    polytope = BinaryPolytope([[1, 2, 3, 1, 1]], [4]).restrict(
        include=[1], exclude=[4], max_size=2, exclusive=[[0, 1]]
    )
    assert (Solving.of(polytope).program().violation(ALL) <= 1e-9).tolist() == inside.tolist()
    with pytest.raises(ValueError, match="differs from row to row"):
        Solving.of(space.restrict(capacity=[1, 2])).program()


@pytest.mark.parametrize("weights", [[1, 2, 2], {"a": 1.5, "b": 2.0, "c": 0.25}])
def test_models_are_saved(tmp_path, weights):
    rng = np.random.default_rng(0)
    space = Knapsacks(weights, 3)
    X = rng.normal(size=(30, 3))
    Y = space.argmin(X).outputs
    model = ConditionalRiskMinimizer(space, alpha=0.1).fit(X, Y)
    save_model(model, tmp_path / "model.skstruct")
    loaded = load_model(tmp_path / "model.skstruct")
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    limited = {"capacity": np.linspace(0, 3, 30)}
    np.testing.assert_array_equal(
        loaded.predict(X, restrict=limited), model.predict(X, restrict=limited)
    )
