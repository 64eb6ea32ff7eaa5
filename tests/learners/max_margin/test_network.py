# SPDX-License-Identifier: BSD-3-Clause
"""Max-margin networks, against listed vertices and an independent solver."""

from itertools import combinations, product

import networkx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV

from margin_cases import ListedVertices
from skstruct import MaxMarginNetwork, StructuredSVM
from skstruct.kernels import RBF
from skstruct.losses import Hamming
from skstruct.spaces import LabelSets, PairwiseLabels

NAMES = ("air", "bay", "cat", "dog")


def data(seed, n=8, n_labels=3, p=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    Y = (X @ rng.normal(size=(p, n_labels)) + rng.normal(size=(n, n_labels)) > 0).astype(np.int8)
    return X, Y


def vertices(edges, n_labels, relaxed):
    """Points that hold all vertices of the local polytope, or all label sets."""
    points = []
    for y in product((0.0, 0.5, 1.0) if relaxed else (0.0, 1.0), repeat=n_labels):
        ends = [(min(y[i], y[j]), max(0.0, y[i] + y[j] - 1.0)) for i, j in edges]
        points += [(*y, *pairs) for pairs in set(product(*map(set, ends)))]
    return np.array(points)


def listed(X, Y, edges, relaxed, weights=None):
    """The same problem with all its vertices written down; a constant feature is added."""
    n, n_labels = Y.shape
    Y = Y.astype(float)
    truth = np.hstack([Y, *[(Y[:, i] * Y[:, j])[:, None] for i, j in edges]])
    points, c = vertices(edges, n_labels, relaxed), np.ones(n_labels)
    c = c if weights is None else np.asarray(weights)
    seeing = [(points[:, :n_labels] - y[:n_labels])[:, None, :] for y in truth]
    constants = [points[:, n_labels:] - y[n_labels:] for y in truth]
    losses = [points[:, :n_labels] @ (c * (1 - 2 * y)) + c @ y for y in Y]
    X = np.hstack([X, np.ones((n, 1))])
    return ListedVertices(X, np.arange(n + 1), seeing, constants, losses, np.full(n, 1 / n))


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    edges=st.sets(st.sampled_from(list(combinations(range(3), 2)))),
    inference=st.sampled_from(["relaxed", "exact"]),
    l1=st.sampled_from([0.0, 0.05]),
    lam=st.sampled_from([0.02, 0.3]),
)
def test_objective_is_that_of_an_independent_solver(seed, edges, inference, l1, lam):
    X, Y = data(seed)
    edges = sorted(edges)
    graph = [(NAMES[i], NAMES[j]) for i, j in edges]
    space = PairwiseLabels(graph, exact=inference == "exact")
    model = MaxMarginNetwork(space, alpha=lam, l1=l1, tol=1e-6, random_state=0)
    model.fit(X, pd.DataFrame(Y, columns=NAMES[:3]))
    problem = listed(X, Y, edges, inference == "relaxed")
    prices = np.full(len(edges), l1), np.zeros(len(edges))
    optimum = problem.optimum(lam, *prices)
    assert model.objective_ == pytest.approx(optimum, rel=1e-5, abs=1e-7)
    assert model.objective_ - optimum <= model.gap_ + 1e-7
    W = np.vstack([model.coef_.T, model.intercept_])
    assert problem.objective(W, model.edge_coef_, lam, *prices) == pytest.approx(
        model.objective_, abs=1e-7
    )


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), passes=st.integers(1, 3))
def test_gap_is_never_too_small(seed, passes):
    X, Y = data(seed, n_labels=3)
    model = MaxMarginNetwork(alpha=0.01, tol=1e-9, max_iter=passes, random_state=0).fit(X, Y)
    edges = list(combinations(range(3), 2))
    optimum = listed(X, Y, edges, True).optimum(0.01, np.zeros(3), np.zeros(3))
    assert model.dual_objective_ <= optimum + 1e-7
    assert model.gap_ >= model.objective_ - optimum - 1e-7


def test_edges_that_see_inputs():
    """w_ij'x is a network over psi whose every coordinate sees the inputs."""
    X, Y = data(3)
    model = StructuredSVM(PairwiseLabels("full"), alpha=0.1, tol=1e-6, random_state=0).fit(X, Y)
    edges = list(combinations(range(3), 2))
    problem = listed(X, Y, edges, True)
    seeing = [
        np.concatenate([s, c[:, None, :]], axis=2)
        for s, c in zip(problem.seeing, problem.constants)
    ]
    nothing = [c[:, :0] for c in problem.constants]
    wide = ListedVertices(problem.X, problem.starts, seeing, nothing, problem.losses, problem.share)
    assert model.objective_ == pytest.approx(wide.optimum(0.1, np.zeros(0), np.zeros(0)), rel=1e-5)
    assert model.coef_.shape == (6, 2)


def test_predictions_maximize_the_score():
    X, Y = data(5, n=30, n_labels=4)
    model = MaxMarginNetwork(alpha=0.01, random_state=0).fit(X, Y)
    X_new = np.random.default_rng(0).normal(size=(20, 2)) * 3
    points = np.array(list(product((0, 1), repeat=4)))
    i, j = model.space_.edges_.T
    scores = (X_new @ model.coef_.T + model.intercept_) @ points.T
    scores = scores + (points[:, i] * points[:, j]) @ model.edge_coef_
    decoded = model.decode(X_new)
    np.testing.assert_allclose(-decoded.values, scores.max(axis=1), atol=1e-9)
    best = model.kbest(X_new, k=3)
    np.testing.assert_allclose(-best.values, -np.sort(-scores, axis=1)[:, :3], atol=1e-9)
    sure = model.predict(X_new, restrict={"include": [2]})
    assert sure[:, 2].all()


def test_kernel_nystroem_and_sparse_inputs_agree():
    X, Y = data(7, n=12)
    fit = {"alpha": 0.05, "tol": 1e-5, "random_state": 0}
    plain = MaxMarginNetwork(**fit).fit(X, Y)
    for other in (
        MaxMarginNetwork(**fit).fit(sparse.csr_array(X), Y),
        MaxMarginNetwork(kernel="precomputed", **fit).fit(X @ X.T, Y),
        MaxMarginNetwork(kernel=lambda A, B: A @ B.T, **fit).fit(X, Y),
        MaxMarginNetwork(n_landmarks=12, **fit).fit(X, Y),
    ):
        assert other.objective_ == pytest.approx(plain.objective_, rel=1e-4)
    kernel = MaxMarginNetwork(kernel=RBF(0.5), **fit).fit(X, Y)
    nystroem = MaxMarginNetwork(kernel=RBF(0.5), n_landmarks=12, **fit).fit(X, Y)
    assert nystroem.objective_ == pytest.approx(kernel.objective_, rel=1e-4)
    np.testing.assert_array_equal(nystroem.predict(X), kernel.predict(X))


def test_weights_of_labels_and_of_rows_count():
    X, Y = data(9)
    weighted = MaxMarginNetwork("empty", alpha=0.01, loss=Hamming([1.0, 2.0, 0.5]), tol=1e-6).fit(
        X, Y
    )
    problem = listed(X, Y, [], False, [1.0, 2.0, 0.5])
    optimum = problem.optimum(0.01, np.zeros(0), np.zeros(0))
    assert weighted.objective_ == pytest.approx(optimum, rel=1e-4)
    doubled = MaxMarginNetwork(alpha=0.01, tol=1e-5).fit(
        np.vstack([X, X[:1]]), np.vstack([Y, Y[:1]])
    )
    counted = MaxMarginNetwork(alpha=0.01, tol=1e-5).fit(
        X, Y, sample_weight=[2, 1, 1, 1, 1, 1, 1, 1]
    )
    assert counted.objective_ == pytest.approx(doubled.objective_, rel=1e-4)


@pytest.mark.slow
def test_partial_fit_adds_rows():
    X, Y = data(13, n=30)
    model = MaxMarginNetwork(alpha=0.02, tol=1e-4, random_state=0)
    for rows in (slice(0, 10), slice(10, 25), slice(25, 30)):
        model.partial_fit(X[rows], Y[rows])
    whole = MaxMarginNetwork(alpha=0.02, tol=1e-4, random_state=0).fit(X, Y)
    assert model.objective_ == pytest.approx(whole.objective_, rel=2e-4)
    with pytest.raises(ValueError, match="precomputed"):
        MaxMarginNetwork(alpha=0.01, kernel="precomputed").partial_fit(X @ X.T, Y)


def test_the_users_own_words_come_back():
    X, Y = data(15, n=20)
    frame = pd.DataFrame(Y, columns=NAMES[:3], index=range(100, 120))
    rows = pd.DataFrame(X, index=range(100, 120), columns=["u", "v"])
    model = MaxMarginNetwork([("air", "cat")], alpha=0.01).fit(rows, frame)
    predicted = model.predict(rows.iloc[:4])
    assert list(predicted.columns) == list(NAMES[:3])
    assert list(predicted.index) == [100, 101, 102, 103]
    assert set(model.graph_.nodes) == set(NAMES[:3])
    assert "weight" in model.graph_["air"]["cat"]
    graph = networkx.Graph([("air", "bay")])
    assert set(MaxMarginNetwork(graph, alpha=0.01).fit(rows, frame).graph_.edges) == {
        ("air", "bay")
    }


def test_labels_that_never_change_and_rows_that_repeat():
    X, Y = data(17, n=10)
    Y[:, 0], Y[:, 1] = 0, 1
    X, Y = np.vstack([X, X]), np.vstack([Y, Y])
    model = MaxMarginNetwork(alpha=1e-3, random_state=0).fit(X, Y)
    predicted = model.predict(X)
    assert not predicted[:, 0].any()
    assert predicted[:, 1].all()
    single = MaxMarginNetwork(alpha=0.01).fit(X[:1], Y[:1])
    np.testing.assert_array_equal(single.predict(X[:1]), Y[:1])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"alpha": 0.0}, "alpha is a positive and finite number"),
        ({"alpha": np.nan}, "alpha is a positive and finite number"),
        ({"l1": -0.1}, "l1 is finite and at least zero"),
        ({"space": LabelSets()}, "space is a PairwiseLabels, or a graph.*got LabelSets"),
        ({"alpha": "best"}, "alpha is a positive number, several, or \"auto\"; got 'best'"),
        ({"alpha": []}, "alpha is a positive and finite number.*got"),
        ({"space": [("air", "zoo")]}, "zoo"),
        ({"space": [("air", "air")]}, "air"),
        ({"space": "ring"}, "ring"),
        ({"loss": "f1"}, "adds up over labels"),
        ({"loss": "zero_one"}, "add up over labels"),
        ({"space": zip("ab", "bc")}, "list"),
        ({"n_landmarks": 0}, "n_landmarks"),
        ({"max_iter": 0}, "max_iter"),
        ({"tol": 0}, "tol"),
    ],
)
def test_bad_parameters_are_named(settings, message):
    X, Y = data(19)
    frame = pd.DataFrame(Y, columns=NAMES[:3])
    with pytest.raises(ValueError, match=message):
        MaxMarginNetwork(**settings).fit(X, frame)


def test_bad_inputs_leave_a_fitted_model_as_it_was():
    X, Y = data(21)
    model = MaxMarginNetwork(alpha=0.1).fit(X, Y)
    before = model.predict(X)
    X_bad = X.copy()
    X_bad[2, 1] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        model.fit(X_bad, Y)
    with pytest.raises(ValueError, match="non-zero"):
        model.fit(X, Y, sample_weight=np.zeros(len(X)))
    np.testing.assert_array_equal(model.predict(X), before)


def test_a_wide_gap_is_said():
    X, Y = data(23, n=40)
    with pytest.warns(ConvergenceWarning, match="Raise max_iter"):
        MaxMarginNetwork(alpha=1e-6, tol=1e-8, max_iter=1).fit(X, Y)


def test_grids_and_clones():
    X, Y = data(25, n=30)
    search = GridSearchCV(
        MaxMarginNetwork(alpha=0.01, random_state=0), {"alpha": [0.01, 1.0]}, cv=3
    ).fit(X, Y)
    assert search.best_params_["alpha"] in (0.01, 1.0)
    assert clone(search.best_estimator_).get_params()["space"] is None


def test_scores_are_an_array_of_labels_and_edges():
    X, Y = data(0)
    model = MaxMarginNetwork(alpha=0.1, max_iter=20, random_state=0).fit(X, Y)
    scores, n_edges = model.decision_function(X), len(model.edge_coef_)
    np.testing.assert_allclose(scores[:, :3], X @ model.coef_.T + model.intercept_)
    np.testing.assert_array_equal(scores[:, 3:], np.tile(model.edge_coef_, (len(X), 1)))
    psi = model.space_.embed(model.space_.enumerate())
    best = (scores @ psi.T).max(axis=1)
    assert n_edges == 3
    np.testing.assert_allclose(-model.decode(X).values, best)
