# SPDX-License-Identifier: BSD-3-Clause
"""Generated hierarchies are what they say, and outputs are closed in them."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.linear_model import LogisticRegression

from skstruct.datasets import make_hierarchical
from skstruct.datasets.generated_labels import random_dag_arcs, random_forest_parents
from skstruct.spaces import Hierarchy
from skstruct.spaces.solvers.dags import Dag

seeds = st.integers(0, 1000)


@given(st.integers(1, 30), st.integers(0, 20), seeds)
def test_closed(n_labels, n_samples, seed):
    X, Y, edges = make_hierarchical(n_samples, 3, n_labels, random_state=seed)
    assert X.shape == (n_samples, 3)
    assert Y.shape == (n_samples, n_labels)
    assert Y.dtype == np.int8
    assert Hierarchy(edges, labels=range(n_labels)).contains(Y).all()


def test_outputs_depend_on_inputs():
    X, Y, _ = make_hierarchical(600, 5, 4, noise=0.1, random_state=0)
    model = LogisticRegression().fit(X[:300], Y[:300, 0])
    assert model.score(X[300:], Y[300:, 0]) > 0.9
    _, again, _ = make_hierarchical(600, 5, 4, noise=0.1, random_state=0)
    assert_array_equal(Y, again)


@given(st.integers(0, 50), seeds)
def test_forest(d, seed):
    parents = random_forest_parents(d, seed)
    assert parents.shape == (d,)
    assert (parents >= -1).all()
    assert (parents < np.arange(d)).all()


@given(st.integers(0, 50), seeds, st.floats(0, 3))
def test_dag(d, seed, extra):
    arcs = random_dag_arcs(d, np.random.default_rng(seed), extra)
    dag = Dag(d, arcs[:, 0], arcs[:, 1])
    assert len(dag.parents) == len(arcs)  # none twice
    assert (arcs[:, 0] < arcs[:, 1]).all()
