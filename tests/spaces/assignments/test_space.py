# SPDX-License-Identifier: BSD-3-Clause
"""Assignments against the list of all of them, and against SciPy."""

from itertools import permutations
from math import perm

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import linear_sum_assignment

from skstruct import ConditionalRiskMinimizer, load_model, save_model
from skstruct.exceptions import InfeasibleError, UndecidableError
from skstruct.spaces import Assignments, Solving, Uniform
from skstruct.testing import check_distribution, check_space


def all_assignments(a, t):
    """Every 0/1 table in which the smaller side is assigned; (count, a * t)."""
    rows = []
    for chosen in permutations(range(max(a, t)), min(a, t)):
        table = np.zeros((min(a, t), max(a, t)), np.int8)
        table[np.arange(min(a, t)), chosen] = 1
        rows.append((table if a <= t else table.T).ravel())
    return np.array(rows)


@pytest.mark.parametrize("shape", [(1, 1), (1, 3), (3, 1), (3, 3), (2, 4), (4, 3)])
def test_spaces_against_all_assignments(shape):
    space, listed = Assignments(*shape), all_assignments(*shape)
    check_space(space, listed)
    check_distribution(space, np.random.default_rng(0).normal(size=(2, listed.shape[1])), n_draws=0)
    mean, second = Uniform.of(space).mean_embedding(), Uniform.of(space).second_moment()
    identity = np.eye(len(mean))
    found = Uniform.of(space).covariance()
    covariance = sum(v * p for v, p in zip(found.eigenvalues, found.parts(identity)))
    np.testing.assert_allclose(covariance, second - np.outer(mean, mean), atol=1e-12)
    points = np.array(np.meshgrid(*[[0, 1]] * min(len(mean), 9))).reshape(min(len(mean), 9), -1).T
    if len(mean) <= 9:
        inside = space.contains(points)
        assert inside.sum() == len(listed)
        assert ((Solving.of(space).program().violation(points) <= 1e-9) == inside).all()


@settings(max_examples=60)
@given(
    st.sampled_from([(2, 3), (3, 3), (3, 2)]),
    st.data(),
    st.booleans(),
    st.sampled_from([1.0, 1e-13, 1e9]),
)
def test_restricted_rows_against_all_assignments(shape, data, by_row, unit):
    d = shape[0] * shape[1]
    costs = data.draw(arrays(float, (2, d), elements=st.integers(-3, 3))) * unit
    n = 2 if by_row else 1
    low = data.draw(arrays(bool, (n, d), elements=st.integers(0, 9).map(lambda v: v == 0)))
    out = data.draw(arrays(bool, (n, d), elements=st.integers(0, 3).map(lambda v: v == 0)))
    space = Assignments(*shape).restrict(include=low, exclude=out.reshape(n, *shape))
    listed, expected = all_assignments(*shape), []
    for i in range(2):
        must, gone = low[min(i, n - 1)], out[min(i, n - 1)]
        part = listed[listed[:, must].all(axis=1) & ~listed[:, gone].any(axis=1)]
        expected.append(np.sort(part @ costs[i])[:3])
        alone = space.rows([i]) if by_row else space
        assert sorted(map(tuple, alone.enumerate())) == sorted(map(tuple, part))
        assert alone.size() == len(part)
        if len(part):
            np.testing.assert_allclose(Uniform.of(alone).mean_embedding(), part.mean(axis=0))
            inside = Solving.of(alone).program().violation(listed) <= 1e-9
            assert inside.tolist() == alone.contains(listed).tolist()
    if not all(map(len, expected)):
        with pytest.raises(InfeasibleError) as error:
            space.argmin(costs)
        assert error.value.row == next(i for i in range(2) if not len(expected[i]))
        return
    decoded, best = space.argmin(costs), space.kbest(costs, 3)
    assert space.contains(decoded.outputs).all()
    np.testing.assert_array_equal((decoded.outputs * costs).sum(axis=1), decoded.values)
    for i in range(2):
        np.testing.assert_allclose(decoded.values[i], expected[i][0], rtol=1e-12)
        found = best.values[i]
        np.testing.assert_allclose(found[np.isfinite(found)], expected[i], rtol=1e-12)


@pytest.mark.parametrize("shape", [(12, 12), (7, 20), (20, 7)])
def test_larger_ones_against_scipy(shape):
    costs = np.random.default_rng(0).normal(size=(10, shape[0] * shape[1]))
    values = Assignments(*shape).argmin(costs).values
    for cost, value in zip(costs.reshape(-1, *shape), values):
        np.testing.assert_allclose(value, cost[linear_sum_assignment(cost)].sum())


def test_counts():
    assert Assignments(30, 40).size() == perm(40, 30)
    assert Assignments(6).restrict(exclude=[(i, i) for i in range(6)]).size() == 265  # derangements
    with pytest.raises(UndecidableError, match="more than the limit"):
        Assignments(12).enumerate()
    with pytest.raises(UndecidableError, match="sets of partners"):
        Assignments(30).restrict(exclude=[(0, 0)]).size()


# ------------------------------------------------------------------- names and formats
NAMES = ["ann", "bob"], ["cook", "dig", "mend"]
ROWS = [["dig", "cook"], ["mend", "dig"]]
FLAT = np.array([[0, 1, 0, 1, 0, 0], [0, 0, 1, 0, 1, 0]])


@pytest.mark.parametrize(
    "Y",
    [
        ROWS,
        np.array(ROWS),
        FLAT,
        FLAT.reshape(2, 2, 3),
        [dict(zip(NAMES[0], row)) for row in ROWS],
        pd.DataFrame(ROWS, columns=NAMES[0])[["bob", "ann"]],
    ],
)
def test_formats(Y):
    space = Assignments(*NAMES).fit(Y)
    Z = space.validate(Y)
    assert Z.tolist() == FLAT.tolist()
    back = space.restore(Z)
    assert type(back) is type(Y)
    if isinstance(Y, pd.DataFrame):
        pd.testing.assert_frame_equal(back, Y, check_dtype=False)
    else:
        assert np.array_equal(back, Y)


def test_agents_without_a_task():
    space = Assignments(["ann", "bob", "cid"], ["dig", "cook"])
    rows = [["dig", None, "cook"]]
    Z = space.fit(rows).validate(rows)
    assert space.restore(Z) == rows
    assert space.fit([{"ann": "dig", "cid": "cook"}]).restore(Z) == [{"ann": "dig", "cid": "cook"}]
    frame = pd.DataFrame(rows, columns=space.agents_)
    assert space.fit(frame).validate(frame).tolist() == Z.tolist()


@pytest.mark.parametrize(
    ("Y", "message"),
    [
        ([["dig", "dig"]], r"Y\[0\] has 2 pairs of the task 'dig'; expected one at most"),
        ([["dig", None]], r"Y\[0\] has 0 pairs of the agent 'bob'; expected one"),
        ([["dig", "swim"]], "the task 'swim'"),
        ([["dig"]], "a task for each of 2 agents"),
        ([{"eve": "dig"}], "the agent 'eve'"),
        (np.full((1, 6), 2), "0 or 1 for each pair"),
        (np.zeros((1, 5)), "got shape"),
    ],
)
def test_bad_outputs(Y, message):
    with pytest.raises(ValueError, match=message):
        Assignments(*NAMES).validate(Y)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [((0,), "or how many"), (("ab",), "got 'ab'"), (([],), "no agents"), ((["a", "a"],), "twice")],
)
def test_bad_names(arguments, message):
    with pytest.raises(ValueError, match=message):
        Assignments(*arguments).size()


def test_pairs_are_named_in_several_ways():
    space = Assignments(*NAMES)
    costs = np.zeros((2, 6))
    pair = ["ann", "mend"]  # as JSON writes it
    for include in ([("ann", "mend")], {"ann": "mend"}, [{"ann": "mend"}, {"ann": "mend"}],
                    [pair], [[pair], [pair]]):  # fmt: skip
        outputs = space.restrict(include=include).argmin(costs).outputs
        assert outputs[:, 2].tolist() == [1, 1]
    with pytest.raises(ValueError, match=r"holds the label \('ann', 'nap'\), which is not one"):
        space.restrict(include=[["ann", "nap"]])


def test_models_are_saved(tmp_path):
    rng = np.random.default_rng(0)
    space = Assignments(*NAMES)
    X = rng.normal(size=(40, 6))
    Y = space.restore(space.argmin(X).outputs)
    model = ConditionalRiskMinimizer(space, alpha=0.1).fit(X, Y)
    save_model(model, tmp_path / "model.skstruct")
    loaded = load_model(tmp_path / "model.skstruct")
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    barred = {"exclude": [("ann", "dig")]}
    assert not (loaded.predict(X, restrict=barred)[:, 0] == "dig").any()


@pytest.mark.parametrize("shape", [(2, 3), (3, 2), (2, 2)])
def test_assignments_are_learned_from_costs(shape):
    """A table of costs holds no assignment, not even one of zeros."""
    rng = np.random.default_rng(0)
    X, costs = rng.normal(size=(12, 2)), rng.normal(size=(12, shape[0] * shape[1]))
    space = Assignments(*shape)
    model = ConditionalRiskMinimizer(space, "regret", kernel="rbf", alpha=0.1).fit(X, costs)
    expected = model.smoother_.weights(X) @ costs @ all_assignments(*shape).T
    found = space.validate(model.predict(X))
    own = (model.smoother_.weights(X) @ costs * found).sum(axis=1)
    np.testing.assert_allclose(own, expected.min(axis=1), atol=1e-9)
