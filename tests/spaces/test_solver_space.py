# SPDX-License-Identifier: BSD-3-Clause
"""Solvers of others: their decisions, what is checked of them, and models that learn with them."""

import pickle
from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import Bounds, LinearConstraint, milp
from sklearn.base import clone

from skstruct import ConditionalRiskMinimizer, load_model, save_model
from skstruct.exceptions import InfeasibleError, ModelFileError, UnverifiedAnswerError
from skstruct.losses import Cost, Regret
from skstruct.saving import savable
from skstruct.spaces import SolverSpace
from skstruct.testing import check_space

WEIGHTS = np.array([3.0, 1.0, 4.0, 2.0, 2.0])


def packings(capacity=6.0):
    """All sets of things that fit, by trying all."""
    listed = np.array(list(product((0.0, 1.0), repeat=len(WEIGHTS))))
    return listed[listed @ WEIGHTS <= capacity]


def knapsack(costs, capacity=6.0):
    """By a mixed-integer program."""
    fits = LinearConstraint(WEIGHTS[None], ub=capacity)
    return milp(costs, constraints=fits, bounds=Bounds(0, 1), integrality=np.ones(5)).x.round()


def listed(costs, capacity=6.0):
    """By trying all."""
    every = packings(capacity)
    return every[(every @ costs).argmin()]


def fits(z, capacity=6.0):
    return z @ WEIGHTS <= capacity


def bounded(costs):
    z = listed(costs)
    return z, z @ costs - 0.5


def batched(costs, capacity=6.0):
    every = packings(capacity)
    return every[(costs @ every.T).argmin(axis=1)]


@pytest.mark.parametrize(
    "space",
    [
        SolverSpace(knapsack, exact=True, feasible=fits),
        SolverSpace(knapsack, exact=True, binary=True, feasible=fits, n_jobs=2),
        SolverSpace(batched, exact=True, batched=True, feasible=fits),
        SolverSpace(listed, feasible=fits),
        SolverSpace(bounded, feasible=fits, labels=list("abcde")),
    ],
    ids=["milp", "binary", "batched", "no bound", "own bound"],
)
def test_solvers_against_the_list(space):
    check_space(space.fit(packings()), packings())


def test_bounds_are_those_that_are_claimed():
    costs = np.random.default_rng(0).normal(size=(20, 5))
    best = (costs @ packings().T).min(axis=1)
    assert np.isneginf(SolverSpace(listed).argmin(costs).bounds).all()
    assert_allclose(SolverSpace(bounded).argmin(costs).bounds, best - 0.5)
    assert_allclose(SolverSpace(listed, exact=True).argmin(costs).bounds, best)

    def relaxed(costs):
        return np.minimum(costs, 0).sum()

    found = SolverSpace(listed, bound=relaxed).argmin(costs)
    assert_allclose(found.bounds, np.minimum(costs, 0).sum(axis=1))
    assert (found.bounds <= best).all()
    assert SolverSpace(listed).guarantee.kind == "bound only"
    assert "claimed" in SolverSpace(listed, exact=True).guarantee.reference


@given(st.integers(0, 10**6))
@settings(max_examples=30, deadline=None)
def test_solvers_that_are_wrong_are_caught_by_other_rows(seed):
    """Whenever some row has found what costs less than a claim, and never otherwise."""
    rng = np.random.default_rng(seed)
    costs, every = rng.normal(size=(8, 5)), packings()
    worse = {int(i) for i in np.flatnonzero(rng.random(8) < 0.3)}
    ranks = iter(range(8))

    def faulty(c):
        order = np.argsort(every @ c)
        return every[order[2 if next(ranks) in worse else 0]]

    best = np.array([every[np.argsort(every @ c)[2 if i in worse else 0]]
                     for i, c in enumerate(costs)])  # fmt: skip
    values = (costs * best).sum(axis=1)
    refuted = ((costs @ best.T).min(axis=1) < values - 1e-6).any()
    space = SolverSpace(faulty, exact=True)
    if refuted:
        with pytest.raises(UnverifiedAnswerError, match="nothing was said to cost less than"):
            space.argmin(costs)
    else:
        assert_allclose(space.argmin(costs).values, values)


def test_errors_name_rows_and_values():
    answers = iter([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    space = SolverSpace(lambda c: next(answers), exact=True)
    assert space.argmin(np.array([[1.0, 2.0]])).values == 1
    with pytest.raises(
        UnverifiedAnswerError, match=r"row 0 .*less than 2, but that of row 1 costs 1"
    ):
        space.argmin(np.array([[2.0, 1.0], [3.0, 1.0]]))


def test_what_was_seen_before_counts_and_is_bounded():
    first, later = np.array([[1.0, 0.0]]), np.array([[0.0, 1.0]])
    for pool_size, caught in ((1000, True), (0, False)):
        answers = iter([[1.0, 0.0], [1.0, 0.0]])
        space = SolverSpace(lambda c, a=answers: next(a), exact=True, pool_size=pool_size)
        space.argmin(first + later)
        if caught:
            space._solutions().known = np.vstack([later, first])
            with pytest.raises(UnverifiedAnswerError, match="returned earlier costs 0"):
                space.argmin(first)
        else:
            assert space.argmin(first).values == 1
    space = SolverSpace(lambda c: c, pool_size=7, exact=True)
    with pytest.raises(UnverifiedAnswerError):  # least <c, c> is no solution of a linear program
        space.argmin(np.arange(1.0, 41.0).reshape(20, 2))


def test_options_have_pools_of_their_own():
    costs = -np.random.default_rng(0).random((30, 5))
    space = SolverSpace(listed, exact=True)
    wide = space.restrict(capacity=12.0).argmin(costs)
    assert_allclose(wide.values, costs.sum(axis=1))
    narrow = space.argmin(costs)  # better ones were seen, of another capacity
    assert_allclose(narrow.values, (costs @ packings().T).min(axis=1))
    capacities = [2.0, 6.0, 9.0] * 10
    each = space.restrict(per_row={"capacity": capacities})
    best = [(packings(k) @ c).min() for k, c in zip(capacities, costs)]
    assert_allclose(each.argmin(costs).values, best)
    assert_allclose(each.rows([2, 1]).argmin(costs[[2, 1]]).values, [best[2], best[1]])
    assert_allclose(each.rows(1).argmin(costs[1:2]).values, best[1])
    frame = space.restrict(per_row=pd.DataFrame({"capacity": capacities}))
    assert_allclose(frame.argmin(costs).values, best)
    together = SolverSpace(lambda c, capacity: np.array([listed(*p) for p in zip(c, capacity)]),
                           batched=True, exact=True)  # fmt: skip
    assert_allclose(together.restrict(per_row={"capacity": capacities}).argmin(costs).values, best)
    assert_allclose(SolverSpace(listed, options={"capacity": 2.0}).argmin(costs).values,
                    [(packings(2.0) @ c).min() for c in costs])  # fmt: skip
    with pytest.raises(ValueError, match="30 rows"):
        each.argmin(costs[:3])


def test_options_that_the_solver_does_not_take():
    space = SolverSpace(listed)
    with pytest.raises(ValueError, match="no argument 'volume'"):
        space.restrict(volume=3)
    with pytest.raises(ValueError, match="different numbers of rows"):
        SolverSpace(lambda c, a, b: c).restrict(per_row={"a": [1, 2], "b": [1]})
    assert SolverSpace(lambda c, **given: c * given["a"]).restrict(a=2).argmin(
        np.ones((1, 2))
    ).values == [4]


BAD = {
    "too short": (lambda c: c[:1], ValueError, r"each of 2 costs; got shape \(1,\) in row 0"),
    "NaN": (lambda c: c * np.nan, ValueError, "got nan at position 0 in row 0"),
    "words": (lambda c: "no", ValueError, "returns 2 numbers"),
    "nothing": (lambda c: None, InfeasibleError, "no solution in row 0"),
    "bound of NaN": (lambda c: (c, np.nan), ValueError, "bound that is NaN in row 0"),
    "bound above": (lambda c: (c, 9.0), UnverifiedAnswerError, "the solution itself costs 5"),
}


@pytest.mark.parametrize("name", BAD)
def test_answers_that_are_none(name):
    solve, error, message = BAD[name]
    with pytest.raises(error, match=message):
        SolverSpace(solve).argmin(np.array([[1.0, 2.0]]))


BAD_TOGETHER = {
    "shape": (lambda c: c[:1], r"shape \(2, 2\)"),
    "bounds": (lambda c: (c, [1.0]), r"bounds of shape \(2,\)"),
    "NaN": (lambda c: c / 0.0, "finite numbers; got inf at position 0 in row 0"),
    "words": (lambda c: "no", "returns numbers of shape"),
}


@pytest.mark.filterwarnings("ignore:divide by zero")
@pytest.mark.parametrize("name", BAD_TOGETHER)
def test_answers_of_batches_that_are_none(name):
    solve, message = BAD_TOGETHER[name]
    with pytest.raises(ValueError, match=message):
        SolverSpace(solve, batched=True).argmin(np.ones((2, 2)))


def test_membership_is_what_is_told():
    costs = np.ones((1, 5))
    with pytest.raises(UnverifiedAnswerError, match="not feasible in row 0"):
        SolverSpace(lambda c: c * 2, feasible=fits).argmin(costs)
    with pytest.raises(UnverifiedAnswerError, match="returned 2 at position 0 in row 0"):
        SolverSpace(lambda c: c * 2, binary=True).argmin(costs)
    nearly = SolverSpace(lambda c: c - 1e-8, binary=True).argmin(costs)
    assert_array_equal(nearly.outputs, costs)
    assert SolverSpace(listed).contains(costs * 7).all()
    assert not SolverSpace(listed, feasible=fits).contains(costs).any()
    wide = SolverSpace(listed, feasible=fits).restrict(capacity=12.0)
    assert wide.contains(costs).all()
    with pytest.raises(ValueError, match=r"Y\[0\] is no solution"):
        SolverSpace(listed, feasible=fits).fit(costs).validate(costs)


def test_errors_of_the_solver_say_in_which_row():
    def fails(costs):
        if costs[0] > 1:
            raise KeyError("licence")
        return costs

    with pytest.raises(KeyError) as caught:
        SolverSpace(fails).argmin(np.array([[1.0], [2.0]]))
    assert "row 1" in caught.value.__notes__[0]


def test_two_numbers_are_a_solution():
    assert SolverSpace(lambda c: (1.0, 0.0)).argmin(np.array([[2.0, 3.0]])).values == [2.0]


# ------------------------------------------------------------------- models
def problem(n=120):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(n, 3))
    return X, X @ rng.normal(size=(3, 5)) - 0.5 + rng.normal(0, 0.3, (n, 5))


def test_models_decide_by_the_costs_that_they_expect():
    """Regression of costs, then the solver: nothing else is learned."""
    X, C = problem()
    model = ConditionalRiskMinimizer(SolverSpace(listed, exact=True), Cost(), alpha=0.1)
    model.fit(X[:80], C[:80])
    decided, expected = model.predict(X[80:]), model.smoother_.predict(X[80:])[:, :5]
    assert_array_equal(decided, [listed(c) for c in expected])
    assert_allclose(model.decode(X[80:]).values, (decided * expected).sum(axis=1))
    regret = ConditionalRiskMinimizer(SolverSpace(listed, exact=True), "regret", alpha=0.1)
    regret.fit(X[:80], C[:80])
    assert_array_equal(regret.predict(X[80:]), decided)
    losses = Regret().bind(regret.space_)(decided, regret.observation_space_.validate(C[80:]))
    best = np.array([listed(c) @ c for c in C[80:]])
    assert (losses >= -1e-9).all()
    assert_allclose(losses, (decided * C[80:]).sum(axis=1) - best, atol=1e-9)
    assert_allclose(regret.score(X[80:], C[80:]), -losses.mean())


def test_frames_come_back_as_frames():
    X, C = problem(40)
    frame = pd.DataFrame(C, columns=list("abcde"), index=[f"row {i}" for i in range(40)])
    X = pd.DataFrame(X, index=frame.index)
    model = ConditionalRiskMinimizer(SolverSpace(listed, exact=True), alpha=1.0).fit(X, frame)
    found = model.predict(X)
    assert list(found.columns) == list("abcde")
    assert list(found.index) == list(frame.index)
    assert_array_equal(model.predict(X, restrict={"capacity": 0.0}), np.zeros((40, 5)))
    rows = {"per_row": {"capacity": [0.0] * 39 + [12.0]}}
    assert model.predict(X, restrict=rows).to_numpy()[:39].sum() == 0
    with pytest.raises(ValueError, match="no argument 'size'"):
        model.predict(X, restrict={"size": 3})


def test_solutions_of_zeros_and_ones_are_learned_from():
    X, C = problem()
    Z = np.array([listed(c) for c in C])
    space = SolverSpace(listed, exact=True, binary=True)
    model = ConditionalRiskMinimizer(space, "hamming", alpha=0.1).fit(X, Z)
    found = model.predict(X)
    assert all(fits(z) for z in found)
    assert (found != Z).mean() < (Z.mean(axis=0).round() != Z).mean()


def test_pickles_keep_functions_and_model_files_say_why_not(tmp_path):
    X, C = problem(30)
    model = ConditionalRiskMinimizer(SolverSpace(listed, exact=True), alpha=1.0).fit(X, C)
    again = pickle.loads(pickle.dumps(model))
    assert_array_equal(again.predict(X), model.predict(X))
    with pytest.raises(
        ModelFileError, match=r"space.solve is a function .*listed.*no code.*pickle"
    ):
        save_model(model, tmp_path / "model.skstruct")


@savable(name="tests.Knapsack")
class Knapsack:
    """A solver that model files can hold."""

    def __init__(self, capacity):
        self.capacity = capacity

    def __call__(self, costs):
        return listed(costs, self.capacity)


def test_solvers_that_are_savable_objects_are_saved(tmp_path):
    X, C = problem(30)
    space = SolverSpace(Knapsack(4.0), exact=True)
    model = ConditionalRiskMinimizer(space, alpha=1.0).fit(X, C)
    save_model(model, tmp_path / "model.skstruct")
    again = load_model(tmp_path / "model.skstruct")
    assert_array_equal(again.predict(X), model.predict(X))


def test_clones_and_parameters():
    space = SolverSpace(listed, exact=True, labels=list("abcde"))
    space.argmin(np.ones((1, 5)))
    assert "_pool" in vars(space)
    assert "_pool" not in vars(clone(space))
    assert "_pool" not in vars(space.set_params(solve=knapsack))
    with pytest.raises(ValueError, match=r"shape \(n_samples, 5\)"):
        space.argmin(np.ones((1, 4)))
