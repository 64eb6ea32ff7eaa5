# SPDX-License-Identifier: BSD-3-Clause

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from set_cases import EXTREME, check_distribution_or_empty, limited, rows_of, sibling_groups
from skstruct.exceptions import InfeasibleError
from skstruct.spaces import Embeddings, Hierarchy, Inference
from skstruct.spaces.indicator_sets.distribution import ForestDistribution
from skstruct.spaces.solvers.distributions import ListedDistribution
from skstruct.testing import check_distribution
from strategies import dags, forests
from work import n_calls


@given(forests(), st.data())
def test_forests_within_constraints(space, data):
    d = len(space.labels_)
    space = data.draw(limited(space, sibling_groups(space)))
    check_distribution_or_empty(space, data.draw(rows_of(2, d)), n_draws=500)


@given(forests(), st.data())
def test_extreme_scores(space, data):
    d = len(space.labels_)
    space = data.draw(limited(space, sibling_groups(space)))
    check_distribution_or_empty(space, data.draw(rows_of(3, d, EXTREME)), n_draws=50)


@given(dags(), st.data())
def test_other_graphs_are_listed(space, data):
    d = len(space.labels_)
    label = st.integers(0, d - 1)
    group = st.lists(label, min_size=min(2, d), max_size=3, unique=True)
    space = data.draw(limited(space, st.lists(group, max_size=1)))
    check_distribution_or_empty(space, data.draw(rows_of(2, d)), n_draws=200)


@given(st.one_of(forests(), dags()), st.data())
def test_paths(space, data):
    d = len(space.labels_)
    space = data.draw(limited(space.restrict(one_path=True)))
    check_distribution_or_empty(space, data.draw(rows_of(2, d)), n_draws=200)


@given(forests(max_nodes=5), st.data())
def test_constraints_of_each_row(space, data):
    d = len(space.labels_)
    mask = st.lists(st.lists(st.booleans(), min_size=d, max_size=d), min_size=2, max_size=2)
    exclusive = data.draw(sibling_groups(space))
    sizes = data.draw(st.sampled_from([{}, {"max_size": d - 1}, {"one_path": True}]))
    space = space.restrict(include=np.array(data.draw(mask)), exclusive=exclusive, **sizes)
    scores = data.draw(rows_of(2, d))
    if not all(len(space.rows([i]).enumerate()) for i in range(2)):
        with pytest.raises(InfeasibleError):
            Inference.of(space).distribution(scores)
        return
    distribution = Inference.of(space).distribution(scores)
    drawn = distribution.sample(20, np.random.default_rng(0))
    for i in range(2):
        check_distribution(space.rows([i]), scores[i], n_draws=0)
        alone = Inference.of(space.rows([i])).distribution(scores[i])
        assert_allclose(
            distribution.log_partition[i : i + 1], alone.log_partition, rtol=1e-12, atol=1e-12
        )
        assert_allclose(
            distribution.marginals()[i : i + 1], alone.marginals(), rtol=1e-9, atol=1e-12
        )
        assert space.rows([i]).contains(drawn[i]).all()


@given(forests(), st.data())
def test_parents_of_a_forest_need_no_products(space, data):
    """The embedding of the hierarchical loss is that of the labels where parents are single."""
    scores = data.draw(rows_of(2, len(space.labels_)))
    view = Embeddings.of(space).view("indicators and parents")
    assert_allclose(
        Inference.of(view).distribution(scores).log_partition,
        Inference.of(space).distribution(scores).log_partition,
        rtol=1e-13,
    )
    assert Inference.of(view).proposals() is not None


def wide_and_deep(d):
    return Hierarchy([(max(0, (j - 1) // 3) if j % 2 else j - 1, j) for j in range(1, d)],
                     labels=range(d))  # fmt: skip


def test_recursion_of_a_large_tree():
    """Against Z(v) = 1 + exp(u) prod Z(c) and the coins (Z - 1) / Z, in plain numbers."""
    space, rng = wide_and_deep(400), np.random.default_rng(0)
    scores = rng.normal(size=(3, 400)) - 1.0
    distribution = Inference.of(space).distribution(scores)
    assert isinstance(distribution, ForestDistribution)
    parent = space.dag_.parent_of
    for row in range(3):
        Z, q = np.ones(401, np.longdouble), np.ones(401)
        for v in space.dag_.order[::-1]:
            Z[v] = 1 + np.exp(np.longdouble(scores[row, v])) * Z[v]
            Z[parent[v]] *= Z[v]
        for v in space.dag_.order:
            q[v] = q[parent[v]] * float((Z[v] - 1) / Z[v])
        assert_allclose(distribution.log_partition[row], float(np.log(Z[-1])), rtol=1e-13)
        assert_allclose(distribution.marginals()[row], q[:-1], rtol=1e-11)


def test_draws_of_a_large_tree_have_its_marginals():
    """Means of 20,000 draws; five standard errors at each of 40 labels: fails by chance 3e-5."""
    space = wide_and_deep(40)
    distribution = Inference.of(space).distribution(np.random.default_rng(1).normal(size=(1, 40)))
    drawn, probability = (
        distribution.sample(20_000, np.random.default_rng(2))[0],
        distribution.marginals()[0],
    )
    assert space.contains(drawn).all()
    error = np.sqrt(probability * (1 - probability) / len(drawn)) + 1e-4
    assert (np.abs(drawn.mean(axis=0) - probability) < 5 * error).all()


def test_many_children_of_one_label():
    """The product of 5,000 factors of 2 is no number; its logarithm is."""
    star = Hierarchy([(0, j) for j in range(1, 5001)], labels=range(5001))
    distribution = Inference.of(star).distribution(np.zeros((1, 5001)))
    assert_allclose(distribution.log_partition, 5000 * np.log(2))
    assert_allclose(distribution.marginals()[0, [0, 1]], [1.0, 0.5])


def test_constraints_of_large_scores():
    """All in, all out, and the one best of an exclusive family, without overflow."""
    space = Hierarchy([(0, 1), (0, 2)], labels=range(3))
    for size in (800.0, 1e6, 1e200):
        scores = size * np.array([[1.0, 1.0, 1.0], [-1.0, -1.0, -1.0], [-1.0, 2.0, -1.0]])
        distribution = Inference.of(space).distribution(scores)
        assert_allclose(distribution.log_partition, [3 * size, 0.0, size])
        assert_allclose(distribution.marginals(), [[1, 1, 1], [0, 0, 0], [1, 1, 0]], atol=1e-300)
        distribution = Inference.of(space.restrict(exclusive="siblings")).distribution(scores)
        assert_allclose(distribution.log_partition, [2 * size + np.log(2), 0.0, size])
        assert_allclose(
            distribution.marginals(), [[1, 0.5, 0.5], [0, 0, 0], [1, 1, 0]], atol=1e-300
        )


def test_too_many_sets_of_another_graph_have_no_distribution():
    """And it is known at once, without counting them."""
    rng = np.random.default_rng(0)
    arcs = [(int(p), j) for j in range(1, 200) for p in rng.integers(0, j, size=2)]
    space = Hierarchy(arcs, labels=range(200))
    found = []
    assert (
        n_calls(lambda: found.append(Inference.of(space).distribution(np.zeros((1, 200))))) < 10_000
    )
    assert found == [None]
    assert isinstance(
        Inference.of(Hierarchy([(0, 2), (1, 2)])).distribution(np.zeros((1, 3))), ListedDistribution
    )


def test_no_loop_over_rows():
    """Marginals of 1,000 rows of a tree of 100 labels, against a loop over rows and labels."""
    space, d = wide_and_deep(100), 100
    scores = np.random.default_rng(0).normal(size=(1000, d))
    parent, order = space.dag_.parent_of, space.dag_.order

    def loop(row):
        below, share, q = np.zeros(d + 1), np.empty(d), np.ones(d + 1)
        for v in order[::-1]:
            inside = scores[row, v] + below[v]
            below[parent[v]] += np.logaddexp(0.0, inside)
            share[v] = 1.0 / (1.0 + np.exp(-inside))
        for v in order:
            q[v] = q[parent[v]] * share[v]
        return q[:-1]

    all_at_once = Inference.of(space).distribution(scores).marginals()
    assert_allclose(all_at_once[:10], [loop(row) for row in range(10)], rtol=1e-10)
    few, many = (
        n_calls(lambda n=n: Inference.of(space).distribution(scores[:n]).marginals())
        for n in (2, 1000)
    )
    assert few == many < 3 * d
