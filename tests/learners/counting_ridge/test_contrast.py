# SPDX-License-Identifier: BSD-3-Clause
"""What the truth is contrasted with: the outputs of the space, or those of a larger one."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics.pairwise import rbf_kernel

from skstruct import CountingRidge
from skstruct.datasets import make_hierarchical
from skstruct.kernels import RBF
from skstruct.spaces import (
    BinaryPolytope,
    Classes,
    Graphs,
    Hierarchy,
    LabelSets,
    Poset,
    Rankings,
    SpanningTrees,
)

DAG = [(0, 1), (0, 2), (1, 3), (2, 3)]


def minimum(K, psi, contrast, weight, lam):
    """Scores (n, d) and objective of the minimum, by least squares over all pairs, one by one.

    lam tr(A'KA) + sum_i w_i / 2|Z| sum_z (1 - <A'k_i, psi_i - z>)^2, less the value at A = 0.
    """
    n, d = psi.shape
    root = np.linalg.cholesky(K + 1e-12 * np.eye(n))
    rows = [np.sqrt(lam) * np.kron(root.T, np.eye(d))]
    right = [np.zeros(n * d)]
    for i in range(n):
        scale = np.sqrt(weight[i] / (2 * len(contrast)))
        rows.append(scale * np.kron(K[i], psi[i] - contrast))
        right.append(np.full(len(contrast), scale))
    M, b = np.vstack(rows), np.concatenate(right)
    a = np.linalg.lstsq(M, b, rcond=None)[0]
    value = ((M @ a - b) ** 2).sum() - (b**2).sum()
    return K @ a.reshape(n, d), value


@st.composite
def hierarchies(draw):
    """A forest or DAG of at most five labels, rows that are closed in it, weights."""
    d = draw(st.integers(2, 5))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    most = draw(st.sampled_from([1, 2]))
    edges = [
        (int(parent), child)
        for child in range(1, d)
        for parent in rng.choice(child, min(child, rng.integers(most + 1)), replace=False)
    ]
    space = Hierarchy(edges, labels=range(d))
    n = draw(st.integers(2, 5))
    listed = space.enumerate()
    Y = listed[rng.integers(len(listed), size=n)]
    return space, rng.standard_normal((n, 2)), Y, rng.choice([0.5, 1.0, 2.0], n)


@pytest.mark.slow
@settings(max_examples=50, deadline=None)
@given(hierarchies(), st.sampled_from([0.03, 1.0]), st.sampled_from(["auto", "space"]))
def test_the_fit_is_the_minimum_over_all_outputs_contrasted_with(case, lam, contrast):
    """Over a hierarchy these are all label sets, unless it is asked for the closed ones."""
    space, X, Y, weight = case
    d = Y.shape[1]
    every = np.array(list(product([0, 1], repeat=d)))
    contrasted = every if contrast == "auto" else space.enumerate()
    model = CountingRidge(space, alpha=lam, contrast=contrast, kernel=RBF(0.5)).fit(X, Y, weight)
    K = rbf_kernel(X, gamma=0.5) + 1.0
    scores, value = minimum(K, Y.astype(float), contrasted, weight, lam)
    assert_allclose(model.decision_function(X), scores, atol=1e-6)
    assert_allclose(model.objective_, value, atol=1e-6)
    assert space.contains(model.predict(X)).all()
    best = space.enumerate()[(scores @ space.enumerate().T).argmax(axis=1)]
    assert_allclose((model.predict(X) * scores).sum(axis=1), (best * scores).sum(axis=1), atol=1e-6)


def test_means_are_those_of_the_contrast():
    """The mean embedding, by which a loss decides, is that of the space contrasted with."""
    rng = np.random.default_rng(0)
    space = Hierarchy([(0, 1), (0, 2)])
    X, Y = rng.standard_normal((30, 2)), space.enumerate()[rng.integers(5, size=30)]
    model = CountingRidge(space, alpha=0.3).fit(X, Y)
    free = CountingRidge(LabelSets(range(3)), alpha=0.3).fit(X, Y)
    assert_allclose(model.mean_embedding(X), free.mean_embedding(X), rtol=1e-12)
    assert space.contains(model.predict(X, loss="hamming")).all()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_a_wide_hierarchy_is_learned(seed):
    """Nearly every closed set holds nearly all inner labels: the mean of these is no contrast."""
    X, Y, edges = make_hierarchical(800, n_labels=60, random_state=seed)
    space = Hierarchy(edges, labels=range(60))
    constant = np.abs(Y[400:] - (Y[:400].mean(axis=0) > 0.5)).sum(axis=1).mean()

    def hamming(**parameters):
        model = CountingRidge(space, "hamming", alpha=0.1, **parameters)
        return -model.fit(X[:400], Y[:400]).score(X[400:], Y[400:])

    assert hamming() < 0.8 * constant
    assert hamming() < 0.8 * hamming(contrast="space")


# ------------------------------------------------------------------ the parameter
def test_what_a_space_is_contrasted_with():
    X, rng = np.arange(6.0)[:, None], np.random.default_rng(0)
    forest = Hierarchy([(0, 1), (0, 2)])
    paths = forest.restrict(one_path=True)
    for space, sizes in (
        (forest, {"auto": 8, "space": 5, "relaxation": 8}),
        (paths, {"auto": 2, "space": 2, "relaxation": 8}),
        (Hierarchy(DAG), {"auto": 16, "space": 6, "relaxation": 16}),
        (LabelSets(range(3), max_size=1), {"auto": 4, "space": 4, "relaxation": 8}),
        (Graphs(3, property="acyclic"), {"auto": 8, "space": 7, "relaxation": 8}),
        (BinaryPolytope([[1, 1, 1]], [1]), {"auto": 4, "space": 4, "relaxation": 8}),
        (SpanningTrees(3), {"auto": 3, "space": 3, "relaxation": 8}),
        (Poset([(0, 1), (0, 2)]), {"auto": 3, "space": 3}),
    ):
        listed = space.enumerate()
        Y = space.restore(listed[rng.integers(len(listed), size=6)])
        for contrast, size in sizes.items():
            model = CountingRidge(space, alpha=1.0, contrast=contrast).fit(X, Y)
            assert model.contrast_.size() == model.size_ == size, (space, contrast)
            psi = [np.asarray(s.embed(listed)) for s in (model.contrast_, model.space_)]
            assert_array_equal(*psi)


def test_a_space_may_be_given():
    X, Y = np.arange(4.0)[:, None], [{"a"}, {"a", "b"}, {"a", "c"}, {"a", "b", "c"}]
    space = Hierarchy([("a", "b"), ("a", "c")])
    given = CountingRidge(space, alpha=1.0, contrast=LabelSets(["a", "b", "c"], min_size=1))
    given.fit(X, Y)
    assert given.contrast_.size() == 7
    assert not hasattr(given.contrast, "format_")  # a copy was fitted
    every = CountingRidge(space, alpha=1.0).fit(X, Y)
    assert not np.allclose(given.decision_function(X), every.decision_function(X))


@pytest.mark.parametrize(
    ("contrast", "message"),
    [
        ("labels", "contrast is 'auto', 'space', 'relaxation' or a space; got 'labels'"),
        (3, "contrast is 'auto', 'space', 'relaxation' or a space; got 3"),
        (LabelSets(["c", "b", "a"]), "embeds the outputs differently"),
        (LabelSets(["a", "b", "c", "d"]), "embeds the outputs differently"),
        (Rankings(["a", "b", "c"], "pairs"), "Hierarchy embeds its outputs by indicators, and"),
    ],
)
def test_wrong_contrasts(contrast, message):
    X, Y = np.arange(4.0)[:, None], [{"a"}, {"a", "b"}, {"a", "c"}, {"a", "b", "c"}]
    space = Hierarchy([("a", "b"), ("a", "c")])
    with pytest.raises(ValueError, match=message):
        CountingRidge(space, alpha=1.0, contrast=contrast).fit(X, Y)


def test_a_space_without_relaxation_says_so():
    with pytest.raises(ValueError, match="Classes knows no larger space"):
        CountingRidge(Classes(), contrast="relaxation").fit([[0.0], [1.0]], ["a", "b"])


def test_several_outputs_are_among_those_contrasted_with():
    """Outputs beyond constraints of the space are fine where the contrast holds them."""
    space = LabelSets(list("abc")).restrict(max_size=1)
    X, Y = [[0.0], [1.0]], [[{"a", "b"}], [{"a"}, {"a", "b"}]]
    with pytest.raises(ValueError, match="not all are within the constraints"):
        CountingRidge(space, alpha=0.1).fit(X, Y, several_outputs=True)
    CountingRidge(space, alpha=0.1, contrast="relaxation").fit(X, Y, several_outputs=True)


# ------------------------------------------------------------------ the warning
def test_a_model_that_learned_nothing_says_so():
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((60, 3)), rng.random((60, 5)) < 0.3  # nothing to learn
    with pytest.warns(UserWarning, match="nothing was learned from the inputs") as caught:
        model = CountingRidge(alpha=[1e-4, 1e-5]).fit(X, Y.astype(int))  # follows every row
    assert caught[0].filename == __file__
    constant = Y.mean(axis=0).clip(max=1 - Y.mean(axis=0)).sum()
    assert model.search_.constant == pytest.approx(constant)
    assert model.search_.best["risk"] >= constant
    assert str(caught[0].message).startswith(f"CountingRidge: {model.search_.no_better} Try")


@pytest.mark.slow
def test_a_model_that_learned_something_does_not(recwarn):
    X, Y, edges = make_hierarchical(150, n_labels=40, random_state=0)
    CountingRidge(Hierarchy(edges, labels=range(40)), "hamming").fit(X, Y)
    assert not [w for w in recwarn if "nothing was learned" in str(w.message)]
