# SPDX-License-Identifier: BSD-3-Clause
"""Generated label sets are the best ones of their tree, which is drawn fairly."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.linear_model import LogisticRegression

from skstruct.datasets import make_label_tree
from skstruct.datasets.generated_labels import random_tree_edges
from skstruct.spaces.solvers.pairwise.forests import is_forest
from strategies import subsets

seeds = st.integers(0, 1000)


def scores_of_all_sets(tree, X):
    """Score of every label set in every row, from the definition; shape (n, 2 ** n_labels)."""
    Z = subsets(len(tree.node_weights))
    both = Z[:, tree.edges[:, 0]] * Z[:, tree.edges[:, 1]]
    return X @ tree.node_weights.T @ Z.T + both @ tree.edge_weights


@given(st.integers(1, 6), st.integers(1, 3), st.integers(0, 20), seeds)
def test_outputs_have_the_largest_score(n_labels, n_features, n_samples, seed):
    data = make_label_tree(n_samples, n_labels, n_features, random_state=seed)
    assert data.X.shape == (n_samples, n_features)
    assert data.Y.dtype == np.int8
    expected = subsets(n_labels)[scores_of_all_sets(data.tree, data.X).argmax(axis=1)]
    assert_array_equal(data.Y, expected)


def test_one_seed_makes_one_set_of_data():
    first, again = (make_label_tree(50, noise=0.5, random_state=3) for _ in range(2))
    other = make_label_tree(50, noise=0.5, random_state=4)
    for name in ("X", "Y"):
        assert_array_equal(getattr(first, name), getattr(again, name))
    assert_array_equal(first.tree.edge_weights, again.tree.edge_weights)
    assert (first.X != other.X).all()


def test_a_tree_makes_more_data_of_its_own():
    train = make_label_tree(50, random_state=0)
    test = make_label_tree(80, tree=train.tree, random_state=1)
    assert test.tree is train.tree
    assert test.Y.shape == (80, 10)
    assert_array_equal(train.tree.best(test.X), test.Y)
    noisy = make_label_tree(80, tree=train.tree, noise=1.0, random_state=1)
    assert_array_equal(noisy.X, test.X)
    assert 0.02 < (noisy.Y != test.Y).mean() < 0.4


def test_given_edges_are_kept():
    data = make_label_tree(20, 4, tree=[(2, 1), (0, 3)], random_state=0)
    assert_array_equal(data.tree.edges, [[0, 3], [1, 2]])
    alone = make_label_tree(20, 4, tree=[], random_state=0)
    assert_array_equal(alone.Y, alone.X @ alone.tree.node_weights.T > 0)


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        ([(0, 1), (1, 2), (2, 0)], "circle"),
        ([(0, 7)], "numbered 0 to 4"),
        ([(0, 1, 2)], "pairs of label numbers"),
        (["ab"], "pairs of label numbers"),
    ],
)
def test_what_is_no_tree_is_an_error(tree, message):
    with pytest.raises(ValueError, match=message):
        make_label_tree(5, 5, tree=tree)


def test_labels_vary_and_do_not_follow_from_inputs_one_by_one():
    data = make_label_tree(1500, random_state=0)
    share = data.Y.mean(axis=0)
    assert ((share > 0.02) & (share < 0.98)).all()
    train, test = slice(0, 500), slice(500, None)
    right = [
        LogisticRegression().fit(data.X[train], y[train]).predict(data.X[test]) == y[test]
        for y in data.Y.T
    ]
    assert 0.4 < np.all(right, axis=0).mean() < 0.9  # all labels of a row


@given(st.integers(1, 40), seeds)
def test_trees_span_all_nodes(n, seed):
    edges = random_tree_edges(n, seed)
    assert edges.shape == (n - 1, 2)
    assert (edges[:, 0] < edges[:, 1]).all()
    assert is_forest(n, edges)


def test_all_sixteen_trees_of_four_nodes_are_equally_likely():
    rng, draws = np.random.default_rng(0), 8000
    counts = Counter(random_tree_edges(4, rng).tobytes() for _ in range(draws))
    assert len(counts) == 16
    share = 1 / 16
    error = np.abs(np.array(list(counts.values())) / draws - share)
    # Five standard errors: a fair walk fails with probability below 16 * 6e-7.
    assert (error <= 5 * np.sqrt(share * (1 - share) / draws)).all()
