# SPDX-License-Identifier: BSD-3-Clause
"""Closed sets of least cost under products over parents, against all closed sets."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from skstruct.exceptions import InfeasibleError
from skstruct.spaces import Hierarchy, Solving
from skstruct.spaces.indicator_sets.closed_products import ProductDag
from skstruct.spaces.indicator_sets.parent_products import ParentProducts
from skstruct.spaces.solvers.binary_programs import BinaryProgram
from skstruct.spaces.solvers.dags import Dag


@st.composite
def graphs(draw, most=8):
    d = draw(st.integers(1, most))
    rarely = draw(st.integers(1, 4))
    arcs = [(k, j) for j in range(d) for k in range(j) if draw(st.integers(0, rarely)) == 0]
    return Hierarchy(arcs, labels=np.random.default_rng(draw(st.integers(0, 99))).permutation(d))


def draw_costs(rng, view, n=6):
    """Signed costs: real ones, whole ones that tie, and such as the hierarchical loss has."""
    d, m = len(view.labels_), len(view.shared_)
    kind = rng.integers(3)
    if kind == 0:
        return rng.normal(size=(n, d + m))
    if kind == 1:
        return rng.integers(-3, 4, size=(n, d + m)).astype(float)
    p = rng.random((n, d))
    return np.hstack([p - 2 * rng.random((n, d)), 2 * p[:, view.shared_]])


@pytest.fixture
def no_programs(monkeypatch):
    def solve(*_):
        raise AssertionError("an integer program was asked for")

    monkeypatch.setattr(BinaryProgram, "solve", solve)


@settings(max_examples=150)
@given(graphs(), st.integers(0, 2**31))
def test_all_closed_sets(space, seed):
    rng, view = np.random.default_rng(seed), ParentProducts(space)
    costs = draw_costs(rng, view)
    least = (costs @ view.embed(space.enumerate()).T).min(axis=1)
    best, quick = view.argmin(costs), Solving.of(view).quick().argmin(costs)
    assert_allclose(best.values, least, atol=1e-9)
    assert_allclose(best.bounds, best.values, atol=1e-7)
    for found in (best, quick):
        assert space.contains(found.outputs).all()
        assert_allclose((costs * view.embed(found.outputs)).sum(axis=1), found.values, atol=1e-9)
        assert (found.bounds <= least + 1e-9).all()
        assert (found.values >= least - 1e-9).all()
    closed = quick.values - quick.bounds <= 1e-9
    assert_allclose(quick.values[closed], least[closed], atol=1e-7)


@settings(max_examples=60)
@given(graphs(), st.integers(0, 2**31))
def test_labels_that_are_known(space, seed):
    """Rows with labels in and out, against the closed sets that have them so."""
    rng, names = np.random.default_rng(seed), list(space.labels_)
    view, outputs = ParentProducts(space), space.enumerate()
    costs = draw_costs(rng, view)
    include = [[names[j] for j in np.flatnonzero(rng.random(len(names)) < 0.2)] for _ in costs]
    exclude = [[names[j] for j in np.flatnonzero(rng.random(len(names)) < 0.2)] for _ in costs]
    allowed = np.ones((len(costs), len(outputs)), bool)
    for row, (ins, outs) in enumerate(zip(include, exclude)):
        for j, name in enumerate(names):
            allowed[row] &= (outputs[:, j] == 1) | (name not in ins)
            allowed[row] &= (outputs[:, j] == 0) | (name not in outs)
    narrowed = view.restrict(include=include, exclude=exclude)
    if not allowed.any(axis=1).all():
        with pytest.raises(InfeasibleError):
            narrowed.argmin(costs)
        return
    least = np.where(allowed, costs @ view.embed(outputs).T, np.inf).min(axis=1)
    for found in (narrowed.argmin(costs), Solving.of(narrowed).quick().argmin(costs)):
        assert narrowed.space.contains(found.outputs).all()
        assert (found.values >= least - 1e-9).all()
        assert (found.bounds <= least + 1e-9).all()
    assert_allclose(narrowed.argmin(costs).values, least, atol=1e-9)


@settings(max_examples=20)
@given(st.integers(0, 2**31))
def test_larger_graphs_against_integer_programs(seed):
    rng = np.random.default_rng(seed)
    arcs = [(int(k), j) for j in range(3, 25) for k in rng.choice(j, size=2, replace=False)]
    view = ParentProducts(Hierarchy(arcs, labels=range(25)))
    costs = draw_costs(rng, view, 4)
    best = view.argmin(costs)
    _, values, _ = view._by_program(costs, view.space.constraints_)
    assert_allclose(best.values, values, atol=1e-7)
    assert_allclose(best.bounds, best.values, atol=1e-7)
    quick = Solving.of(view).quick().argmin(costs)
    assert (quick.values >= best.values - 1e-9).all()
    assert (quick.bounds <= best.values + 1e-9).all()


def three_choices():
    """Nodes 0, 1, 2 gain, any two of them cost: no cut is exact, and one is best alone."""
    dag = Dag(6, [0, 1, 1, 2, 0, 2], [3, 3, 4, 4, 5, 5])
    return ProductDag(dag), np.array([[-1.0, -1.0, -1.0, 9, 9, 9, 2.0, 2.0, 2.0]])


def test_what_cuts_leave_open_is_branched():
    graph, costs = three_choices()
    free, any_ = np.zeros((1, 6), bool), np.ones((1, 6), bool)
    _, value, bound = graph.closed_sets(costs, free, any_, 0)
    assert bound[0] < -1.0 <= value[0]
    outputs, value, bound = graph.closed_sets(costs, free, any_, 10)
    assert value[0] == bound[0] == -1.0
    assert outputs.sum() == 1


@pytest.fixture
def no_branches(monkeypatch):
    for name in ("MOST_BRANCHES", "QUICK_BRANCHES"):
        monkeypatch.setattr(f"skstruct.spaces.indicator_sets.parent_products.{name}", 0)


def test_what_branches_leave_open_is_an_integer_program(no_branches):
    _, costs = three_choices()
    view = ParentProducts(Hierarchy([(0, 3), (1, 3), (1, 4), (2, 4), (0, 5), (2, 5)], range(6)))
    found = view.argmin(np.vstack([costs, -costs, costs]))
    assert_allclose(found.values[[0, 2]], -1.0)
    assert_allclose(found.bounds, found.values, atol=1e-6)
    quick = Solving.of(view).quick().argmin(costs)
    assert quick.bounds[0] < quick.values[0] - 0.1


def test_no_program_for_a_quick_answer(no_programs, no_branches):
    _, costs = three_choices()
    view = ParentProducts(Hierarchy([(0, 3), (1, 3), (1, 4), (2, 4), (0, 5), (2, 5)], range(6)))
    assert Solving.of(view).quick().restrict(include=[3]).argmin(costs).outputs[0, 3] == 1
    assert Solving.of(view).quick().rows([0]).exact is False
    assert view.exact


def test_nodes_without_rows_and_products():
    view = ParentProducts(Hierarchy([(0, 1), (0, 2)]))
    assert view.argmin(np.zeros((0, 3))).outputs.shape == (0, 3)
    assert_array_equal(view.argmin(np.array([[1.0, -2.0, 3.0]])).outputs, [[1, 1, 0]])
